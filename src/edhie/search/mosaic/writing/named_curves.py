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

from edhie.errors import EdhieError
from edhie.evaluate.constants.fitting import FitConfig, fit_missing
from edhie.evaluate.constants.logarithmic_fit import logarithmic_fit
from edhie.evaluate.data import Data, few_rows
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import NUMBER
from edhie.selection.prior.known_forms import by_frequency, curves, with_variable
from edhie.selection.units import is_angle

ROWS = 100  # on which curves are fitted
OF_ANGLES = ("power_of_sine", "power_of_cosine")
MOST_ALONE, MOST_TOGETHER = 10, 4  # columns of a table that have curves of their own, and together
HALVES = 2  # exponents are also rounded to multiples of a half
CAREFUL = FitConfig(points=300, starts=8, iterations=60, tolerance=1e-12, rows=None)


def named_curves(data: Data, library: SymbolLibrary, bounds: FitConfig) -> list[Expr]:
    """Return the curves that the library can write, fitted to the target for constant and for proportional noise."""
    if library.constant is None:
        return []
    few = few_rows(data, ROWS)
    given = [each for text in curves_of(few.names) if (each := _read(text, library)) is not None]
    forest = Forest.from_exprs(given, library)
    config = replace(CAREFUL, lower=bounds.lower, upper=bounds.upper)
    found = list(fit_missing(forest, few, config=config).forest)
    if (few.y != 0).all():
        relative = replace(few, weights=np.square(few.y.mean() / few.y) * (1.0 if few.weights is None else few.weights))
        found += fit_missing(forest, relative, config=config).forest
    if 1 < few.n_variables <= MOST_TOGETHER and (few.columns > 0).all():
        found += _of_products(few, library, config)
    without_numbers = [expr for expr in given if set(expr.constants) == {None}]
    found += [each for expr in without_numbers if (each := logarithmic_fit(expr, few, config)) is not None]
    return [each for each in found if None not in each.constants]


def curves_of(names: Sequence[str]) -> Iterator[str]:
    """Yield the texts of the curves of some columns.

    >>> [text for text in curves_of(["T"]) if "exp" in text][0]
    'c*exp(c*T) + c'
    """
    if len(names) > 1:
        yield "c*" + "*".join(f"{name}^c" for name in names)
        yield " + ".join(("c", *(f"c*{name}" for name in names)))
    if len(names) > MOST_ALONE:
        return
    for name in names:
        yield from (with_variable(text, name) for text, *_ in curves().values())
        others = [other for other in names if other != name]
        if not 0 < len(others) < MOST_TOGETHER:
            continue
        known = by_frequency()["common"] | {each: curves()[each] for each in OF_ANGLES if is_angle(name)}
        for text, *_ in known.values():
            own = with_variable(text, name)
            yield from (f"{other}*({own})" for other in others)
            if len(others) > 1:
                yield f"{'*'.join(f'{other}^c' for other in others)}*({own})"


@cache
def _once() -> tuple[str, ...]:
    """Return the common and usual curves in which `x` stands once, with a factor: both are written as `Z`.

    >>> _once()[:2]
    ('c*exp(Z) + c', 'Z + c')
    """
    parts = by_frequency()
    found: dict[str, None] = {}
    for ways in (*parts["common"].values(), *parts["usual"].values()):
        written = [re.sub(r"c\*x\b(\^c)?", "Z", way) for way in ways if len(re.findall(r"\bx\b", way)) == 1]
        found |= dict.fromkeys([way for way in written if "Z" in way and "Z^" not in way][:1])
    return tuple(found)


def _of_products(data: Data, library: SymbolLibrary, config: FitConfig) -> list[Expr]:
    """Return curves of a product of powers of all columns, also with exponents that are multiples of a half.

    They are fitted in units in which the columns are about 1, since exponents and factors depend on each other.
    """
    scales = np.exp(np.log(data.columns).mean(axis=1))
    scaled = replace(data, columns=data.columns / scales[:, np.newaxis])
    found = []
    for text in _once():
        expr = _read(text.replace("Z", "*".join(("c", *(f"{name}^c" for name in data.names)))), library)
        if expr is None:
            continue
        place = len(re.findall(r"\b(?:c|\d+)\b", text[: text.index("Z")]))  # numbers are constants, too
        own = slice(place + 1, place + 1 + len(scales))
        (fitted,) = fit_missing(Forest.from_exprs([expr]), scaled, config=config).forest
        exponents = np.array(fitted.constants[own], np.float64)
        rounded: list[float | None] = list(expr.constants)
        rounded[own] = (np.round(HALVES * exponents) / HALVES).tolist()
        (plain,) = fit_missing(Forest.from_exprs([expr.with_constants(rounded)]), scaled, config=config).forest
        for each in (fitted, plain):
            constants = list(each.constants)
            with np.errstate(all="ignore"):
                factor = float(np.prod(scales ** -np.array(constants[own], np.float64)))
            constants[place] = (constants[place] or np.nan) * factor
            if np.isfinite(np.array(constants, np.float64)).all():
                found.append(expr.with_constants(constants))
    return found


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
