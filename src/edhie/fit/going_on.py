"""The generator of a search: one that goes on has the one that it began with, whatever was trained since."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from edhie.errors import EdhieError
from edhie.fit.settings import Settings
from edhie.fit.sources import chosen_generator
from edhie.generators.folder import folder_of
from edhie.generators.shipped import general_for
from edhie.search.checkpoint import DESCRIPTION


def with_generator(settings: Settings, n_variables: int, folder: str | Path | None) -> Settings:
    """The settings with their generator chosen; `folder` is that of a search that goes on, None for a new one."""
    if settings.generator is not None:
        return settings
    kept = None if folder is None else _generator_in(Path(folder))
    chosen = kept if kept is not None else chosen_generator(settings, n_variables)
    return replace(settings, generator=general_for(n_variables) if chosen is None else chosen)


def _generator_in(folder: Path) -> str | None:
    """What the search in a folder has for a generator; None where it does not say, or where that is gone."""
    try:
        asked = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["asked"]
        return str(asked["generator"]) if folder_of(asked["generator"]).is_dir() else None
    except (OSError, ValueError, KeyError, TypeError, EdhieError):  # others will tell of it
        return None
