"""Constants fitted to the logarithm of the target: a start for products, powers and exponentials.

The logarithm of `a*exp(b/T)` is linear in log a and b, so linear least squares fit it where least squares of the target
itself end in a useless optimum. For noise proportional to the prediction, that fit is nearly the best.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edhie.evaluate.constants.fitting import THOROUGH, FitConfig, fit_constants
from edhie.evaluate.data import Data
from edhie.evaluate.resolution import FULL_PRECISION
from edhie.expr import Expr, Forest
from edhie.expr.symbols import NUMBER, OPERATORS

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
    given = expr.library
    library = given.extended(*(OPERATORS[name] for name in ("+", "-", "*", "log")), NUMBER)
    tokens: list[str] = []
    is_factor: list[bool] = []

    def copied(at: int) -> int:
        """Write a subtree unchanged; return where it ends."""
        token = expr.tokens[at]
        tokens.append(token)
        if token == given.constant:
            is_factor.append(False)
        end = at + 1
        for _ in range(given[token].arity):
            end = copied(end)
        return end

    def taken(at: int) -> int:
        """Write the logarithm of a subtree; return where the subtree ends."""
        token = expr.tokens[at]
        if token == given.constant:
            tokens.append(token)
            is_factor.append(True)
            return at + 1
        name = token if given[token].kind == "operator" else ""
        if name in ("*", "/"):
            tokens.append("+" if name == "*" else "-")
            return taken(taken(at + 1))
        if name == "^":
            tokens.append("*")
            return copied(taken(at + 1))
        if name in FACTORS:
            tokens.extend(["*", FACTORS[name]])
            return taken(at + 1)
        if name == "neg":
            return taken(at + 1)
        if name == "exp":
            return copied(at + 1)
        tokens.append("log")
        return copied(at)

    taken(0)
    return Expr(library, tokens), is_factor
