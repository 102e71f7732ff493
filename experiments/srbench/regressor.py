"""edhie in the form of an SRBench method: `est`, `model(est, X)` and `hyper_params`."""

from __future__ import annotations

from typing import Any

import sympy

from edhie import EDHiERegressor
from edhie.fit.problem import variable_names

est = EDHiERegressor(random_state=0)
"""The estimator that SRBench clones and fits, with default settings: 60 s on one core."""

hyper_params: list[dict[str, tuple[Any, ...]]] = [{"selection": ("mdl",)}]
"""The grid that SRBench tunes over: one point, since the default settings need no tuning."""

eval_kwargs: dict[str, Any] = {"test_params": {"max_time": 5}}
"""Settings for SRBench's own quick tests."""


def model(est: EDHiERegressor, X: Any = None) -> str:  # noqa: N803
    """Return the chosen equation as text that SymPy reads, with all digits, in the names of the columns of `X`.

    Where a name is not an identifier, as `wheel-base`, the nearest one stands for it. Without a table the equation is
    in the names that the estimator was fitted with, `x0`, `x1` and so on for an array.
    """
    found = est.sympy()
    own = est.discoveries_[0].train.names
    columns = [str(name) for name in getattr(X, "columns", own)]
    readable = [
        name if name.isidentifier() else near for name, near in zip(columns, variable_names(columns), strict=True)
    ]
    names = dict(zip(own, readable, strict=True))
    return str(found.xreplace({each: sympy.Symbol(names[each.name]) for each in found.free_symbols}))
