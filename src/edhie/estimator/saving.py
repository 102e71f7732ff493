"""A fitted regressor as a folder: its settings as JSON, and a folder of each target's discovery."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import edhie
from edhie.errors import SearchError
from edhie.expr.symbols import Symbol
from edhie.fit import run_folder
from edhie.storage import FolderFormat

if TYPE_CHECKING:
    from edhie.estimator.regressor import EDHiERegressor

    Regressor = TypeVar("Regressor", bound=EDHiERegressor)

DESCRIPTION = "estimator.json"
FORMAT = FolderFormat("regressor", 1, DESCRIPTION, SearchError, "delete it and fit again")


def write(regressor: EDHiERegressor, path: Path) -> Path:
    """Write a regressor into a folder, which is made if need be; the description comes last."""
    parameters, names = regressor.get_params(), getattr(regressor, "feature_names_in_", None)
    plain = {name: value for name, value in parameters.items() if _is_plain(value)}
    left_out = sorted(set(parameters) - set(plain))
    if left_out:
        warnings.warn(
            f"{', '.join(left_out)} cannot be written as text, so a regressor that is loaded has the defaults there; "
            "its equations are the same",
            UserWarning,
            stacklevel=3,
        )
    description = {
        "edhie": edhie.__version__, "parameters": plain, "n_features": regressor.n_features_in_,
        "feature_names": None if names is None else tuple(names), "is_flat": regressor._is_flat,
        "targets": len(regressor.discoveries_),
    }  # fmt: skip
    for k, each in enumerate(regressor.discoveries_):
        run_folder.save(each, path / str(k))
    return FORMAT.write(path, description, {})


def read(kind: type[Regressor], path: Path, operators: Iterable[Symbol]) -> Regressor:
    """Return the regressor in a folder."""
    description, customs = FORMAT.read(path), list(operators)
    with FORMAT.reading(path / DESCRIPTION):
        found = kind(**description["parameters"])
        found.n_features_in_ = int(description["n_features"])
        if description["feature_names"] is not None:
            found.feature_names_in_ = np.array(description["feature_names"], dtype=object)
        found._is_flat = bool(description["is_flat"])
        count = int(description["targets"])
        found.discoveries_ = [run_folder.load(path / str(k), operators=customs) for k in range(count)]
    return found


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False
