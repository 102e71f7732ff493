"""What holds of every printed equation, and the equations of real searches to test it on."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from edhie.bench.problem import load_problems
from edhie.evaluate import Data, read_data
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest, parse
from edhie.expr.standard_libraries import everything

FILE = Path(__file__).parent / "equations.json.gz"
ROWS = 100
LOSS_SHARE = 0.01
BELOW = 1e-14  # share of the largest value below which a term is rounding
INVERSES = {
    ("exp", "log"), ("log", "exp"), ("sqrt", "^2"), ("^2", "sqrt"), ("cbrt", "^3"), ("^3", "cbrt"), ("neg", "neg"),
    *((one, f"a{other}") for one in ("sin", "cos", "tan") for other in ("sin", "cos", "tan")),
}  # fmt: skip
SINGLE = re.compile(r"(?<![a-z0-9_])\((?:-?[\d.]+(?:e[+-]?\d+)?|pi)\)")


@cache
def saved() -> tuple[list[tuple[str, str, float]], list[tuple[int, str, tuple[float, ...]]]]:
    """Return the cases (benchmark, problem, noise), and the equations (case, prefix tokens, constants)."""
    found = json.loads(gzip.decompress(FILE.read_bytes()))
    return found["cases"], found["equations"]


@cache
def data_of(case: int) -> Data:
    """Return the rows of a case."""
    benchmark, problem, noise = saved()[0][case]
    found = next(each for each in load_problems(benchmark) if each.id == problem)
    X, y = found.data("train", 0, noise)  # noqa: N806
    return read_data(dict(zip(found.names, X[:ROWS].T, strict=True)), y[:ROWS])


def equations(every: int = 1) -> Iterator[tuple[Expr, Data]]:
    """Yield each equation, or every so many of them, with its data."""
    for case, tokens, constants in saved()[1][::every]:
        data = data_of(case)
        yield Expr(everything(data.names), tokens.split(), constants), data


def broken_laws(printed: Expr, text: str, loss: float, data: Data) -> list[str]:
    """Return the names of the laws that a printed equation breaks; `loss` is the one shown beside it."""
    broken = [name for name, law in FORMS.items() if not law(printed)]
    if SINGLE.search(text):
        broken.append("brackets round a number")
    read = parse(text, everything(data.names))
    found = rmse(read, data)
    if not (abs(found - loss) <= LOSS_SHARE * loss or found == loss):
        broken.append("loss of the printed")
    if has_negligible_term(printed, data):
        broken.append("term below rounding")
    return broken


def rmse(expr: Expr, data: Data) -> float:
    """Return the root mean squared error."""
    return math.sqrt(float(squared_errors(Forest.from_exprs([expr]), data)[0]) / data.n_rows)


def has_negligible_term(expr: Expr, data: Data) -> bool:
    """Return True if a term of a sum is below the rounding of that sum in every row."""
    for k, token in enumerate(expr.tokens):
        if token in ("+", "-"):
            parts = [_values(expr, each, data) for each in (k, *expr.child_positions(k))]
            with np.errstate(all="ignore"):
                whole, *sizes = (float(np.max(np.abs(each), initial=0.0)) for each in parts)
            if np.isfinite(whole) and min(sizes) < BELOW * whole:
                return True
    return False


def _values(expr: Expr, at: int, data: Data) -> np.ndarray:
    part = expr.subtree(at)
    return np.asarray(values(Forest.from_exprs([part]), data.columns)[0], np.float64)


def _number(expr: Expr, at: int) -> float | None:
    return expr.values[at]


def _has_no_neutral_number(expr: Expr) -> bool:
    for k, token in enumerate(expr.tokens):
        if token in ("*", "/", "^"):
            left, right = (_number(expr, each) for each in expr.child_positions(k))
            if right == 1.0 or (token == "*" and left == 1.0):
                return False
            if token == "*" and 0.0 in (left, right):
                return False
        if token in ("+", "-") and 0.0 in [_number(expr, each) for each in expr.child_positions(k)]:
            return False
    return True


def _is_power(expr: Expr, at: int) -> bool:
    token = expr.tokens[at]
    if token == "^":
        return _number(expr, expr.child_positions(at)[1]) is not None
    return token[:1] == "^"


def _has_no_power_of_power(expr: Expr) -> bool:
    return not any(_is_power(expr, k) and _is_power(expr, expr.child_positions(k)[0]) for k in range(expr.size))


def _has_no_negative_divisor(expr: Expr) -> bool:
    divisors = (expr.child_positions(k)[1] for k, token in enumerate(expr.tokens) if token == "/")
    return not any((_number(expr, each) or 0.0) < 0 or expr.tokens[each] == "neg" for each in divisors)


def _has_no_inverse(expr: Expr) -> bool:
    unary = (k for k, token in enumerate(expr.tokens) if expr.library[token].arity == 1)
    return not any((expr.tokens[k], expr.tokens[expr.child_positions(k)[0]]) in INVERSES for k in unary)


FORMS = {
    "1* or + 0": _has_no_neutral_number,
    "power of a power": _has_no_power_of_power,
    "division by a negative number": _has_no_negative_divisor,
    "function of its inverse": _has_no_inverse,
}
