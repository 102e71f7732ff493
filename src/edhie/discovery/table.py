"""Equations as a table of pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from edhie.discovery.equation import Equation

if TYPE_CHECKING:
    import pandas

COLUMNS = (
    "complexity", "loss", "score", "r2", "r2_validation", "weight", "noise", "equation", "sympy", "latex", "constants",
    "standard_errors",
)  # fmt: skip


def equations_table(equations: Iterable[Equation]) -> pandas.DataFrame:
    """One row an equation, from the least complex on; constants and standard errors are tuples, in prefix order."""
    import pandas

    rows = [
        {
            "complexity": each.complexity,
            "loss": each.loss,
            "score": each.score,
            "r2": each.r2,
            "r2_validation": np.nan if each.r2_validation is None else each.r2_validation,
            "weight": np.nan if each.weight is None else each.weight,
            "noise": each.noise,
            "equation": each.right_side(),
            "sympy": each.sympy(),
            "latex": each.latex(),
            "constants": tuple(each.uncertainty.values.tolist()),
            "standard_errors": tuple(each.uncertainty.standard_errors.tolist()),
        }
        for each in equations
    ]
    return pandas.DataFrame(rows, columns=list(COLUMNS))
