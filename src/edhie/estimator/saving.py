"""A fitted regressor as a folder: its settings as JSON, and a folder of each target's discovery."""

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
from edhie.storage import FolderFormat

DESCRIPTION = "estimator.json"
FORMAT = FolderFormat("regressor", 1, DESCRIPTION, SearchError, "delete it and fit again")


@dataclass(frozen=True)
class Kept:
    """The parts of a fitted regressor."""

    parameters: Mapping[str, Any]
    n_features: int
    feature_names: tuple[str, ...] | None
    is_flat: bool
    """True if y had one dimension."""
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
        "edhie": edhie.__version__, "parameters": plain, "n_features": kept.n_features,
        "feature_names": kept.feature_names, "is_flat": kept.is_flat, "targets": len(kept.discoveries),
    }  # fmt: skip
    for k, each in enumerate(kept.discoveries):
        run_folder.save(each, path / str(k))
    FORMAT.write(path, description, {})


def read(path: Path, operators: Iterable[Symbol] = ()) -> Kept:
    """Return the regressor in a folder."""
    description, customs = FORMAT.read(path), list(operators)
    with FORMAT.reading(path / DESCRIPTION):
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


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False
