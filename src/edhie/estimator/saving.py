"""A fitted regressor as a folder: its settings as JSON, and a folder of each target's discovery; nothing is pickled."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import edhie
from edhie.errors import SearchError
from edhie.expr.symbols import Symbol
from edhie.fit import Discovery, run_folder

FORMAT = 1
DESCRIPTION = "estimator.json"


@dataclass(frozen=True)
class Kept:
    """The content of a saved regressor."""

    parameters: Mapping[str, Any]
    n_features: int
    feature_names: tuple[str, ...] | None
    is_flat: bool
    """Whether y had one dimension."""
    discoveries: tuple[Discovery, ...]


def write(kept: Kept, path: Path) -> None:
    """Write a regressor into a folder, which is made if need be; the description comes last."""
    plain = {name: value for name, value in kept.parameters.items() if _is_plain(value)}
    left_out = sorted(set(kept.parameters) - set(plain))
    if left_out:
        warnings.warn(
            f"{', '.join(left_out)} cannot be written as text, so a regressor that is loaded has the defaults there; "
            "its equations are the same",
            UserWarning,
            stacklevel=3,
        )
    description = {
        "format": FORMAT, "edhie": edhie.__version__, "parameters": plain, "n_features": kept.n_features,
        "feature_names": kept.feature_names, "is_flat": kept.is_flat, "targets": len(kept.discoveries),
    }  # fmt: skip
    for k, each in enumerate(kept.discoveries):
        run_folder.save(each, path / str(k))
    try:
        (path / DESCRIPTION).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise SearchError(f"cannot write to {path}: {error.strerror or error}") from error


def read(path: Path, operators: Iterable[Symbol] = ()) -> Kept:
    """Return the regressor in a folder."""
    if not (path / DESCRIPTION).is_file():
        raise SearchError(f"{path} holds no regressor: it has no {DESCRIPTION}")
    customs = list(operators)
    try:
        description = json.loads((path / DESCRIPTION).read_text(encoding="utf-8"))
        if description["format"] != FORMAT:
            raise SearchError(f"{path} has format {description['format']!r}; this edhie reads format {FORMAT}")
        names = description["feature_names"]
        return Kept(
            parameters=dict(description["parameters"]),
            n_features=int(description["n_features"]),
            feature_names=None if names is None else tuple(names),
            is_flat=bool(description["is_flat"]),
            discoveries=tuple(
                run_folder.load(path / str(k), operators=customs) for k in range(int(description["targets"]))
            ),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SearchError(f"the regressor in {path} is damaged or cannot be read: {error!r}") from error


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False
