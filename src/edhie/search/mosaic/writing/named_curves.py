"""Named curves: what people try first, each fitted with care, so that it is there to be compared.

The curves of one column are those of `selection/prior/curves.toml`. With several columns, the common ones, and powers
of sines of angles, are also tried times powers of the others; and in place of a column, the product of powers of all
columns, as in `c*(1 - exp(-t/(R*C)))`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError
from edhie.evaluate.constants.fitting import CAREFUL, FitConfig, fit_missing
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.logarithmic_fit import logarithmic_fit
from edhie.evaluate.data import Data, few_rows
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import NUMBER
from edhie.search.arrays import Numbers
from edhie.selection.prior.known_forms import by_frequency, curves, with_variable
from edhie.selection.units import is_angle

ROWS = 100  # on which curves are fitted
OF_ANGLES = ("power_of_sine", "power_of_cosine")
MOST_ALONE, MOST_TOGETHER = 10, 4  # columns of a table that have curves of their own, and together
STEP, CLOSE = 1e-5, 1e-4  # relative step of slopes; relative difference of values that count as the same
MOST = 120  # curves that are returned for each kind of noise
HALVES = 2  # exponents are also rounded to multiples of a half


def named_curves(data: Data, library: SymbolLibrary, bounds: FitConfig) -> list[Expr]:
    """Return the curves that the library can write, fitted to the target for constant and for proportional noise.

    They are fitted in units in which the columns are about 1, so that the same measurements in other units have the
    same curves.
    """
    if library.constant is None:
        return []
    few = few_rows(data, ROWS)
    scales = np.exp2(np.round(np.log2(np.maximum(np.abs(few.columns).mean(axis=1), np.finfo(np.float64).tiny))))
    scaled = replace(few, columns=few.columns / scales[:, np.newaxis])
    given = [each for text in curves_of(few.names, library.constant) if (each := _read(text, library)) is not None]
    if 1 < few.n_variables <= MOST_TOGETHER and (few.columns > 0).all():
        given += _of_products(scaled, library)
    forest = Forest.from_exprs(given, library)
    found = list(fit_missing(forest, scaled, config=CAREFUL).forest)
    if (few.y != 0).all():
        weights = np.square(few.y.mean() / few.y) * (1.0 if few.weights is None else few.weights)
        found += fit_missing(forest, replace(scaled, weights=weights), config=CAREFUL).forest
    known = given * (len(found) // max(len(given), 1))
    for expr in given:
        if set(expr.constants) == {None} and (each := logarithmic_fit(expr, scaled, CAREFUL)) is not None:
            known.append(expr)
            found.append(each)
    pairs = [pair for pair in zip(known, found, strict=True) if None not in pair[1].constants]
    held = [np.array([value is not None for value in expr.constants], np.bool_) for expr, _ in pairs]
    forest = Forest.from_exprs([each for _, each in pairs], library)
    best = _best(forest, scaled)
    others = in_other_units(forest.take(best), [held[k] for k in best], scaled, scales)
    return [each for each in others if each is not None and _is_within(each, bounds)]


def _best(forest: Forest, data: Data) -> list[int]:
    """Return the positions of the best expressions by the Bayesian information criterion, for both kinds of noise."""
    penalties = np.log(data.n_rows) * np.diff(forest.value_offsets)
    with np.errstate(all="ignore"):
        predicted = values(forest, data.columns)
        squares = np.square(predicted - data.y).mean(axis=1), np.square(np.log(predicted / data.y)).mean(axis=1)
        scores = [data.n_rows * np.log(np.where(np.isfinite(each), each, np.inf)) + penalties for each in squares]
    return sorted({int(k) for each in scores for k in np.argsort(each, kind="stable")[:MOST] if np.isfinite(each[k])})


def in_other_units(
    forest: Forest, held: Sequence[NDArray[np.bool_]], data: Data, factors: Numbers
) -> list[Expr | None]:
    """Return expressions for columns that are multiplied by factors; None where no constants give the same values.

    A change of units multiplies each constant, but those held, by a power of the factor. The powers follow from the
    slopes: x·∂f/∂x is a sum of p·c·∂f/∂c over the constants.

    >>> from edhie.expr import parse
    >>> x = np.linspace(1.0, 3.0, 9)
    >>> forest = Forest.from_exprs([parse("c*exp(c*x)", variables=["x"]).with_constants([2.0, -3.0])])
    >>> data = Data(x[np.newaxis], x, None, ("x",))
    >>> print(f"{in_other_units(forest, [np.zeros(2, np.bool_)], data, np.array([1000.0]))[0]:.6g}")
    2*exp(-0.003*x)
    """
    scaled = np.flatnonzero(factors != 1.0).tolist()
    if not scaled:
        return list(forest)
    with np.errstate(all="ignore"):
        predicted = values(forest, data.columns)
        slopes = [(_moved(forest, data, k, 1.0 + STEP) - _moved(forest, data, k, 1.0 - STEP)) for k in scaled]
        moved: list[Expr] = []
        for i, expr in enumerate(forest):
            response = Response(forest.take([i]), data.columns)
            relative = response.jacobian(response.constants)[1] * response.constants[:, np.newaxis]
            relative[held[i]] = 0.0
            right = np.array([slope[i] / (2.0 * STEP) for slope in slopes])
            known = np.isfinite(relative).all(axis=0) & np.isfinite(right).all(axis=0)  # x^c has no slope at 0
            powers = np.linalg.lstsq(relative[:, known].T, right[:, known].T, rcond=None)[0]
            new = response.constants * np.exp(-(powers @ np.log(factors[scaled])))
            moved.append(expr.with_constants(np.where(np.isfinite(new), new, 1.0).tolist()))
        again = values(Forest.from_exprs(moved, forest.library), data.columns * factors[:, np.newaxis])
        sizes = CLOSE * np.abs(predicted).max(axis=1)
        is_same = np.all(np.abs(again - predicted) <= sizes[:, np.newaxis], axis=1)
    return [expr if ok else None for expr, ok in zip(moved, is_same, strict=True)]


def _moved(forest: Forest, data: Data, column: int, factor: float) -> Numbers:
    """Return the values of expressions with one column multiplied by a factor."""
    columns = data.columns.copy()
    columns[column] *= factor
    return np.asarray(values(forest, columns), np.float64)


def _is_within(expr: Expr, bounds: FitConfig) -> bool:
    return all(bounds.lower <= (each or 0.0) <= bounds.upper for each in expr.constants)


def curves_of(names: Sequence[str], constant: str = "c") -> Iterator[str]:
    """Yield the texts of the curves of some columns; `constant` is the symbol of constants.

    >>> [text for text in curves_of(["T"]) if "exp" in text][0]
    'c*exp(c*T) + c'
    """
    if len(names) > 1:
        yield "*".join((constant, *(f"{name}^{constant}" for name in names)))
        yield " + ".join((constant, *(f"{constant}*{name}" for name in names)))
    if len(names) > MOST_ALONE:
        return
    for name in names:
        yield from (with_variable(text, name, constant) for text, *_ in curves().values())
        others = [other for other in names if other != name]
        if not 0 < len(others) < MOST_TOGETHER:
            continue
        known = by_frequency()["common"] | {each: curves()[each] for each in OF_ANGLES if is_angle(name)}
        for text, *_ in known.values():
            own = with_variable(text, name, constant)
            yield from (f"{other}*({own})" for other in others)
            if len(others) > 1:
                yield f"{'*'.join(f'{other}^{constant}' for other in others)}*({own})"


@cache
def _once() -> tuple[str, ...]:
    """Return the common and usual curves in which `x` stands once, with a factor: both are written as `Z`.

    >>> _once()[:2]
    ('c*exp(Z) + c', 'Z')
    """
    parts = by_frequency()
    found: dict[str, None] = {}
    for ways in (*parts["common"].values(), *parts["usual"].values()):
        written = [re.sub(r"c\*x\b(\^c)?", "Z", way) for way in ways if len(re.findall(r"\bx\b", way)) == 1]
        found |= dict.fromkeys([way for way in written if "Z" in way and "Z^" not in way][:1])
    return tuple(found)


def _of_products(data: Data, library: SymbolLibrary) -> list[Expr]:
    """Return curves of a product of powers of all columns, also with exponents that are multiples of a half."""
    constant = str(library.constant)
    product = "*".join((constant, *(f"{name}^{constant}" for name in data.names)))
    texts = (with_variable(text, "", constant).replace("Z", product) for text in _once())
    given = [each for text in texts if (each := _read(text, library)) is not None]
    fitted = fit_missing(Forest.from_exprs(given, library), data, config=CAREFUL).forest
    rounded = []
    for expr, other in zip(given, fitted, strict=True):
        exponents = {expr.child_positions(k)[1] for k, token in enumerate(expr.tokens) if token == "^"}
        places = [k for k, token in enumerate(expr.tokens) if token == constant]
        constants = [
            round(HALVES * (value or 0.0)) / HALVES if place in exponents else own
            for place, own, value in zip(places, expr.constants, other.constants, strict=True)
        ]
        rounded.append(expr.with_constants(constants))
    return [*given, *rounded]


def _read(text: str, library: SymbolLibrary) -> Expr | None:
    """Return a curve whose numbers are constants with these values; None if the library lacks an operator."""
    try:
        read = parse(text, library.extended(NUMBER))
    except EdhieError:
        return None
    kinds = [read.library[token].kind for token in read.tokens]
    constants = [None if kind == "constant" else float(token) for token, kind in zip(read.tokens, kinds, strict=True)
                 if kind in ("constant", "number")]  # fmt: skip
    tokens = [
        str(library.constant) if kind == "number" else token for token, kind in zip(read.tokens, kinds, strict=True)
    ]
    return Expr(library, tokens, constants)
