"""The learned space: the way from one formula to another, and the neighbours of one."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from edhie.errors import EdhieError
from edhie.expr import Expr
from edhie.expr.mathml import to_mathml
from edhie.generators import load
from edhie.generators.base import LatentGenerator, Renamed
from edhie.generators.walks import interpolate
from edhie.generators.walks import neighbours as neighbours_of
from edhie.studio.answers.formulas import read, refused, tree, used_variables
from edhie.studio.question import Refused

_model = lru_cache(3)(load)
NO_NUMBERS = "; this model has no constants, so formulas have no numbers"


def between(first: str, second: str, steps: int, model: str) -> dict[str, Any]:
    """Return the expressions on a straight line between the codes of two formulas."""
    exprs, space = _read({"first": first, "second": second}, model)
    found = interpolate(space, *exprs, steps=steps)
    return {
        "steps": [
            {"alpha": step.alpha, "text": None} if step.expr is None else {"alpha": step.alpha, **_shown(step.expr)}
            for step in found
        ]
    }


def neighbours(formula: str, count: int, radius: float, model: str) -> dict[str, Any]:
    """Return expressions around a formula, with their distance and how many points gave them."""
    (expr,), space = _read({"formula": formula}, model)
    found = neighbours_of(space, expr, count, np.random.default_rng(0), radius=radius)
    rows = zip(found.forest, found.distances.tolist(), found.counts.tolist(), strict=True)
    return {
        "centre": _shown(expr),
        "neighbours": [{**_shown(each), "distance": distance, "count": times} for each, distance, times in rows],
        "invalid": found.invalid,
    }


def _shown(expr: Expr) -> dict[str, Any]:
    return {"text": str(expr), "mathml": to_mathml(expr), "tree": tree(expr)}


def _read(texts: dict[str, str], model: str) -> tuple[list[Expr], LatentGenerator]:
    """Return formulas over a model whose variables have their names, and the model."""
    space: LatentGenerator = _model(model)
    read_as = {}
    for field, text in texts.items():
        try:
            read_as[field] = read(text, None)
        except EdhieError as error:
            raise refused(error, text, field) from error
    own = space.library.variables
    used = list(dict.fromkeys(name for expr in read_as.values() for name in used_variables(expr)))
    if len(used) > len(own):
        raise Refused(f"these formulas have {len(used)} variables, and {model} has {len(own)}; choose a larger model")
    if not set(used) <= set(own):
        used += [name for name in own if name not in used][: len(own) - len(used)]
        space = Renamed(space, used)
    exprs, has_constants = [], space.library.constant is not None
    for field, expr in read_as.items():
        try:
            with_constants = expr.numbers_to_constants().free() if has_constants else expr
            exprs.append(with_constants.cast(space.library))
        except EdhieError as error:
            more = "" if has_constants else NO_NUMBERS
            raise Refused(f"{model} cannot write this formula: {error}{more}", where={"field": field}) from error
    return exprs, space
