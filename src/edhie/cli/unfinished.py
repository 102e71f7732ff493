"""What a stopped training leaves in its folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from edhie.errors import GeneratorError
from edhie.generators.checkpoint import STATE, clear_state, read_description
from edhie.generators.folder import CONFIG


def check_no_model(folder: Path) -> None:
    """Raise where a finished model would be overwritten."""
    if (folder / CONFIG).exists() and not (folder / STATE).exists():
        raise GeneratorError(f"{folder} holds a model already; choose another folder, or overwrite it with --force")


def epochs_kept(folder: Path) -> int:
    """How many epochs of a stopped training are kept."""
    history = (read_description(folder) or {}).get("history")
    return len(history) if isinstance(history, list) else 0


def unclaim(folder: Path) -> None:
    """Leave a folder as it was where no epoch was finished in it."""
    if folder.is_dir() and not (folder / STATE).exists():
        clear_state(folder)
        with suppress(OSError):  # something else is in it
            folder.rmdir()
