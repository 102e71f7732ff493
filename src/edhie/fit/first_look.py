"""A first look at data: the best of some simple forms, by least squares, without compiled code.

It is shown at once, while a search gets ready, as a baseline for its equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import EdhieError
from edhie.evaluate import Data
from edhie.evaluate.data import few_rows
from edhie.events import Glimpsed
from edhie.expr import Expr, SymbolLibrary, parse
from edhie.expr.interpret import interpret
from edhie.finish import normal_form

ROWS = 2000
DIGITS = 4  # of the constants that are shown
MOST_TOGETHER = 6  # columns in one form
SIMPLE = (  # text, in which `x` is a column and `c` a constant; f; whether y = a·f(x) + b, or log y
    ("{c}*{x} + {c}", lambda x: x, False),
    ("{c}*{x}^2 + {c}", np.square, False),
    ("{c}*log({x}) + {c}", np.log, False),
    ("{c}/{x} + {c}", np.reciprocal, False),
    ("{c}*exp({c}*{x})", lambda x: x, True),
    ("{c}*{x}^{c}", np.log, True),
)


class FirstTry(NamedTuple):
    """A simple form: its text, and the terms of a linear problem for its constants."""

    text: str
    terms: list[Numbers]
    is_log: bool
    """True if the logarithm of the target is a sum of the terms."""


def first_look(data: Data, library: SymbolLibrary) -> Glimpsed | None:
    """Return the simple form with the best balance of error and number of constants; None if none has values."""
    if library.constant is None:
        return None
    data = few_rows(data, ROWS)
    columns = dict(zip(data.names, data.columns, strict=True))
    best, least = None, np.inf
    for form in _forms(columns, library.constant):
        expr = _fitted(form, data, library)
        if expr is None:
            continue
        error = _error(expr, columns, data)
        with np.errstate(all="ignore"):
            bits = data.n_rows * np.log(error + np.finfo(float).tiny) + len(form.terms) * np.log(data.n_rows) / 2
        if np.isfinite(error) and bits < least:
            best, least = expr, bits
    if best is None:
        return None
    shown = normal_form(best.with_constants([float(f"{each:.{DIGITS}g}") for each in best.constants]))
    return Glimpsed(shown, _error(shown, columns, data))


def _error(expr: Expr, columns: dict[str, Numbers], data: Data) -> float:
    """Return the root mean square error of an expression."""
    with np.errstate(all="ignore"):
        squares = np.square(interpret(expr, columns) - data.y)
        return float(np.sqrt(np.average(squares, weights=data.weights)))


def _forms(columns: dict[str, Numbers], constant: str) -> Iterator[FirstTry]:
    """Yield forms of each column by itself, then of all of them together if they are few."""
    with np.errstate(all="ignore"):
        for name, column in columns.items():
            yield from (FirstTry(text.format(x=name, c=constant), [f(column)], is_log) for text, f, is_log in SIMPLE)
        if 1 < len(columns) <= MOST_TOGETHER:
            every = list(columns.values())
            line = " + ".join(f"{constant}*{name}" for name in columns)
            yield FirstTry(f"{line} + {constant}", every, False)
            powers = "*".join(f"{name}^{constant}" for name in columns)
            yield FirstTry(f"{constant}*{powers}", [np.log(each) for each in every], True)


def _fitted(form: FirstTry, data: Data, library: SymbolLibrary) -> Expr | None:
    """Return the form with its constants; None if the library cannot write it or the data have no logarithm."""
    try:
        expr = parse(form.text, library)
    except EdhieError:
        return None
    with np.errstate(all="ignore"):
        target = np.log(data.y) if form.is_log else data.y
        terms = np.stack([*form.terms, np.ones(data.n_rows)], axis=1)
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        # a small error of log y is the relative error of y: multiplied by y, it is that of y itself
        root = np.sqrt(weights) * (np.abs(data.y) if form.is_log else 1.0)
        system, right = terms * root[:, np.newaxis], target * root
        if not (np.isfinite(system).all() and np.isfinite(right).all()):
            return None
        *slopes, intercept = np.linalg.lstsq(system, right, rcond=None)[0].tolist()
        constants = [float(np.exp(intercept)), *slopes] if form.is_log else [*slopes, intercept]
    return expr.with_constants(constants) if np.isfinite(constants).all() else None
