"""Constants fitted to the logarithm of the target: a start for products, powers and exponentials.

The logarithm of `a*exp(b/T)` is linear in log a and b, so linear least squares fit it where least squares of the target
itself end in a useless optimum. For noise proportional to the prediction, that fit is nearly the best.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from edhie.evaluate.constants.fitting import THOROUGH, FitConfig, fit_constants
from edhie.evaluate.data import Data
from edhie.evaluate.resolution import FULL_PRECISION
from edhie.expr import Expr, Forest
from edhie.expr.symbols import NUMBER, OPERATORS, Symbol

FACTORS = {"^2": "2", "^3": "3", "^4": "4", "^5": "5", "sqrt": "0.5"}
"""Factor of the argument's logarithm in the logarithm of a function."""


def logarithmic_fit(expr: Expr, data: Data, config: FitConfig = THOROUGH) -> Expr | None:
    """Return an expression with constants by least squares of the target's logarithm.

    None if the target is 0 in a row or changes its sign; if it is negative and no constant is a factor; if there are no
    constants; or if they would be outside the bounds of `config`.
    """
    sign = float(np.sign(data.y[0]))
    if sign == 0 or not (np.sign(data.y) == sign).all() or not expr.constants:
        return None
    taken, is_factor = logarithm(expr)
    if sign < 0 and True not in is_factor:
        return None
    target = replace(data, y=np.log(np.abs(data.y)), sigma=None, resolution=FULL_PRECISION)
    fitted = fit_constants(
        Forest.from_exprs([taken]), target, config=replace(config, lower=-np.inf, upper=np.inf)
    ).forest[0]
    constants: list[float] = []
    for value, is_logarithm in zip(fitted.constants, is_factor, strict=True):
        with np.errstate(over="ignore"):
            constants.append(float("nan") if value is None else float(np.exp(value)) if is_logarithm else value)
    if sign < 0:
        constants[is_factor.index(True)] *= -1.0
    is_within = all(np.isfinite(each) and config.lower <= each <= config.upper for each in constants)
    return expr.with_constants(constants) if is_within else None


def logarithm(expr: Expr) -> tuple[Expr, list[bool]]:
    """Return the logarithm of an expression's absolute value, with products as sums and powers as products.

    Its constants are in the same order; the second result is True for each that is replaced by its logarithm.

    >>> from edhie.expr import parse
    >>> taken, is_factor = logarithm(parse("c*exp(c/T)*T^c", variables=["T"]))
    >>> print(taken, is_factor)
    c + c/T + log(T)*c [True, False, False]
    """
    library = expr.library.extended(*(OPERATORS[name] for name in ("+", "-", "*", "log")), NUMBER)
    tokens, are_factors = zip(*expr.fold(_leaf, _operator).logarithm, strict=True)
    return Expr(library, tokens), [is_factor for is_factor in are_factors if is_factor is not None]


Tokens = list[tuple[str, bool | None]]
"""Tokens in prefix order, each with True for a constant that is replaced by its logarithm, False for another one."""


class _Part(NamedTuple):
    itself: Tokens
    logarithm: Tokens


def _leaf(symbol: Symbol, token: str, value: float | None) -> _Part:
    if symbol.kind == "constant":
        return _Part([(token, False)], [(token, True)])
    return _Part([(token, None)], [("log", None), (token, None)])


def _operator(symbol: Symbol, operands: list[_Part]) -> _Part:
    first, last, name = operands[0], operands[-1], symbol.name
    itself: Tokens = [(name, None), *(token for each in operands for token in each.itself)]
    if name in ("*", "/"):
        return _Part(itself, [("+" if name == "*" else "-", None), *first.logarithm, *last.logarithm])
    if name == "^":
        return _Part(itself, [("*", None), *first.logarithm, *last.itself])
    if name in FACTORS:
        return _Part(itself, [("*", None), (FACTORS[name], None), *first.logarithm])
    if name == "neg":
        return _Part(itself, first.logarithm)
    return _Part(itself, first.itself if name == "exp" else [("log", None), *itself])
