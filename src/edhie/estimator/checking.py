"""Checks of the arrays and tables that a regressor is given, and of its predictions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import DataError, UnexplainedWarning
from edhie.evaluate import Data
from edhie.evaluate.data import what_never_varies, with_resolution
from edhie.evaluate.reading import weights_of
from edhie.fit import Discovery


def data_of(
    X: Numbers,  # noqa: N803
    y: Numbers,
    weights: Numbers | None,
    names: tuple[str, ...],
    sigma: Numbers | None = None,
) -> Data:
    """Return checked numbers as the search takes them."""
    weights = weights if sigma is None else weights_of(sigma)
    return with_resolution(Data(np.ascontiguousarray(X.T), np.ascontiguousarray(y), weights, names, sigma))


def check_variation(data: Data, target: str) -> None:
    """Raise an error if no column varies, and warn if the target does not."""
    alike = what_never_varies(data)
    if alike == "rows":
        raise DataError(f"all {data.n_rows} rows are the same; give measurements that differ from row to row")
    if alike == "columns":
        raise DataError(f"no column of X varies, so none can explain {target!r}; give at least one that does")
    if data.n_rows > 1 and data.squares_about_mean == 0:
        what = f"{target!r} is {data.y[0]:g} in every row, so there is nothing to explain"
        warnings.warn(f"{what}; the equation is this constant", UserWarning, stacklevel=3)


def check_columns(table: Any) -> None:
    """Raise an error if two columns of a table have the same name."""
    names = list(getattr(table, "columns", ()))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"X has {names.count(twice)} columns named {twice!r}; rename them or leave all but one out")


def names_of_targets(y: Any) -> list[str]:
    """Return the names that a table gives its targets; empty if it has none."""
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) and name else []


def check_found(discoveries: Sequence[Discovery]) -> None:
    """Raise an error if nothing was found, and warn where a constant is chosen although the target varies."""
    for each in discoveries:
        each.best  # noqa: B018 -- raises an error if nothing was found
        if each.explains_nothing and each.train.squares_about_mean > 0:
            warnings.warn(each.notes[0], UnexplainedWarning, stacklevel=3)


def warn_of_undefined(found: Numbers) -> None:
    """Warn if predictions are not finite in some row."""
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(bad):
        warnings.warn(
            f"the equation has no value in {len(bad)} of {len(found)} rows, the first of which is row {bad[0]}; "
            "choose another by its row in equations_: predict(X, index=...)",
            RuntimeWarning,
            stacklevel=3,
        )
