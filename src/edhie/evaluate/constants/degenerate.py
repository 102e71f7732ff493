"""Constants that are one too many: merged where the formula shows it, fixed where the data show it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from edhie.evaluate.constants.config import CHEAP, THOROUGH
from edhie.evaluate.constants.fitting import fit_constants
from edhie.evaluate.constants.polish import polish_expr
from edhie.evaluate.constants.tolerance import error_limit
from edhie.evaluate.constants.uncertainty import uncertainty
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest
from edhie.expr.canonical import canonical_expr
from edhie.expr.numerals import numeral
from edhie.expr.symbols import variable

SLACK = 1e-9  # the share by which the error may rise
FIXED_AT = (0.0, 1.0, -1.0)


@dataclass(frozen=True)
class Merged:
    """An expression without the constants that it does not need."""

    expr: Expr
    groups: tuple[tuple[int, ...], ...]
    """Of the expression as it was given: the constants that the data cannot tell apart, or that do not matter."""
    left: tuple[tuple[int, ...], ...]
    """The same of `expr`: groups for which no number was found that leaves the error as it is."""
    remark: str
    """What was done, in words; empty where there was nothing to do."""


def merge_degenerate(expr: Expr, data: Data) -> Merged:
    """The expression with constants merged (c*c is c) or fixed at a number, where its error stays what it is.

    First by its form, all constants taken for unknown. Then by the slopes at the fit: of a group
    that can change while no value does, one constant is fixed at 0, 1 or -1 and the others
    follow. Both are kept only where the error rises by no more than a share of 1e-9.
    """
    error = float(squared_errors(Forest.from_exprs([expr]), data)[0])
    groups = uncertainty(expr, data).unidentified
    limit = error_limit(error, data, slack=SLACK)
    found = _merged_by_form(expr, data, limit) or expr
    while math.isfinite(error):
        fixed = _with_one_fixed(found, data, limit)
        if fixed is None:
            break
        found = fixed
    left = uncertainty(found, data).unidentified if math.isfinite(error) else groups
    return Merged(found, groups, left, _remark(expr, found, left))


def _merged_by_form(expr: Expr, data: Data, limit: float) -> Expr | None:
    """The canonical form with its constants refitted, where it has fewer and its error is within the limit."""
    form = canonical_expr(expr.free())
    if len(form.constants) >= len(expr.constants):
        return None
    for config in (replace(CHEAP, rows=None), THOROUGH):
        fitted = fit_constants(Forest.from_exprs([form]), data, config=config)
        if np.isfinite(fitted.squared_errors[0]):
            found, error = polish_expr(fitted.forest[0], data)
            if error <= limit:
                return found
    return None


def _with_one_fixed(expr: Expr, data: Data, limit: float) -> Expr | None:
    """The shortest expression that comes of fixing a constant of a group; None where none can be."""
    groups = uncertainty(expr, data).unidentified
    candidates = [_fixed(expr, k, number) for group in groups for k in group for number in FIXED_AT]
    if not candidates:
        return None
    forest = Forest.from_exprs(candidates, candidates[0].library)
    fitted = fit_constants(forest, data, config=replace(CHEAP, rows=None))
    found = []
    for k in np.flatnonzero(np.isfinite(fitted.squared_errors)).tolist():
        polished, error = polish_expr(fitted.forest[k], data)
        if error <= limit:
            found.append(_tidied(polished, data, limit))
    return min(found, key=_plainness, default=None)


def _plainness(expr: Expr) -> tuple[int, int]:
    """Fewer nodes are plainer, and then constants near to the root: c*exp(x) before exp(x + c)."""
    return expr.size, sum(depth for _, depth, symbol in expr.walk() if symbol.kind == "constant")


def _fixed(expr: Expr, k: int, number: float) -> Expr:
    """The expression with a number for its constant k."""
    place = [i for i, token in enumerate(expr.tokens) if token == expr.library.constant][k]
    wide = expr.cast(expr.library.with_numbers())
    return wide.replace(place, Expr(wide.library, [numeral(number)]))


def _tidied(expr: Expr, data: Data, limit: float) -> Expr:
    """The canonical form with every constant's value kept, where the error stays within the limit.

    Constants go through it as variables, each of its own name: values would be folded, and
    unknowns would lose theirs.
    """
    taken = set(expr.library.readable_names)
    names = [
        f"c_{i}" for i in itertools.islice((i for i in itertools.count() if f"c_{i}" not in taken), len(expr.constants))
    ]
    library = expr.library.extended(*(variable(name) for name in names))
    unused = iter(names)
    tokens = [next(unused) if token == expr.library.constant else token for token in expr.tokens]
    form = canonical_expr(Expr(library, tokens))
    value_of = dict(zip(names, expr.constants, strict=True))
    found = Expr(
        expr.library.extended(*(form.library[token] for token in form.tokens if token not in value_of)),
        [expr.library.constant or "" if token in value_of else token for token in form.tokens],
        [value_of[token] for token in form.tokens if token in value_of],
    )
    is_same = squared_errors(Forest.from_exprs([found]), data)[0] <= limit
    return found if is_same and len(found.constants) <= len(expr.constants) else expr


def _remark(before: Expr, after: Expr, left: tuple[tuple[int, ...], ...]) -> str:
    remarks = []
    fewer = len(before.constants) - len(after.constants)
    if fewer:
        counted = "1 constant was" if fewer == 1 else f"{fewer} constants were"
        remarks.append(f"{counted} not needed: {before.free()} became {after.free()}")
    for group in left:
        if len(group) == 1:
            remarks.append(f"constant {group[0]} (counted from 0) does not matter on these data")
        else:
            named = f"{', '.join(map(str, group[:-1]))} and {group[-1]}"
            remarks.append(f"the data cannot tell constants {named} (counted from 0) apart")
    return "; ".join(remarks)
