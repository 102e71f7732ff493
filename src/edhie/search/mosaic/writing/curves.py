"""Curves of one variable with two constants inside: peaks, steps, shifted powers and the like.

Each family is a·g(x; p, q) + c. With p and q on a grid, a and c follow by linear least squares. The best of each family
are written, and a fit brings their constants to the optimum. A new family is one entry in `FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from edhie.errors import EdhieError
from edhie.evaluate.data import Data
from edhie.expr import Expr, SymbolLibrary, parse
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import OneVariable


@dataclass(frozen=True)
class Form:
    """A function of a variable or a piece, whose constants are looked for on a grid."""

    template: str
    """Its text: `{c}` is a constant, the first of them a factor; `{x}` is the variable or piece."""
    values: Callable[..., Numbers]
    """Its values, without the factor, by rows of the constants on the grid."""
    constants: Callable[..., tuple[float, ...]] = lambda *given: given
    """The constants of the template, from those of the grid."""
    grid: Callable[[float, float], tuple[Numbers, Numbers]] = lambda first, span: (np.ones(1), np.ones(1))
    """Values of the constants for a variable with this smallest value and range."""


def _places_and_widths(first: float, span: float) -> tuple[Numbers, Numbers]:
    return first + span * OneVariable.PLACES, span * OneVariable.WIDTHS


def _shifts_and(second: Numbers) -> Callable[[float, float], tuple[Numbers, Numbers]]:
    """Return a grid of shifts that make all values positive, with other constants that have no unit."""
    return lambda first, span: (span * (OneVariable.SHIFTS + 1e-3) - first, second)


FAMILIES = (
    Form("{c}*exp({c}*({x} - {c})^2)", lambda x, m, s: np.exp(-(((x - m) / s) ** 2)), lambda m, s: (-1 / s**2, m),
         _places_and_widths),
    Form("{c}/(({x} - {c})^2 + {c})", lambda x, m, s: 1 / ((x - m) ** 2 + s**2), lambda m, s: (m, s**2),
         _places_and_widths),
    Form("{c}/({c} + exp({c}*{x}))", lambda x, m, s: 1 / (np.exp(-m / s) + np.exp(-x / s)),
         lambda m, s: (np.exp(-m / s), -1 / s), _places_and_widths),
    Form("{c}*atan({c}*({x} - {c}))", lambda x, m, s: np.arctan((x - m) / s), lambda m, s: (1 / s, m),
         _places_and_widths),
    Form("{c}*({x} + {c})^{c}", lambda x, m, p: (x + m) ** p, grid=_shifts_and(OneVariable.POWERS)),
    Form("{c}*log({x} + {c})", lambda x, m, _: np.log(x + m), lambda m, _: (m,), _shifts_and(np.ones(1))),
    Form("{c}*exp({c}*{x})", lambda x, k, _: np.exp(k * x), lambda k, _: (k,),
         lambda _, span: (OneVariable.RATES / span, np.ones(1))),
    Form("{c}*exp({c}*{x})/({x} + {c})", lambda x, k, m: np.exp(k * x) / (x + m),
         grid=lambda first, span: (OneVariable.RATES / span, span * (OneVariable.SHIFTS + 1e-3) - first)),
    Form("{c}*exp({c}/({x} + {c}))", lambda x, m, b: np.exp(b * m / (x + m)), lambda m, b: (b * m, m),
         _shifts_and(np.array([-8, -2, 2, 8.0]))),
)  # fmt: skip
"""Curves a·g(x; p, q)."""


def curve_expressions(data: Data, library: SymbolLibrary) -> list[Expr]:
    """Return the best curve of each family, with and without a constant beside it, that explains much of the target."""
    roots = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)
    found: list[Expr] = []
    if library.constant is None:
        return found
    for name, x in list(zip(data.names, data.columns, strict=True))[: OneVariable.MOST_VARIABLES]:
        if len(np.unique(x)) < OneVariable.LEAST_VALUES:
            continue
        for family in FAMILIES:
            for beside in ("", " + {c}"):
                constants = best_of(family, x, data.y, roots, with_constant=bool(beside))
                if constants is not None:
                    found += from_template(family.template + beside, name, constants, library)
    return found


def from_template(template: str, x: str, constants: Sequence[float], library: SymbolLibrary) -> list[Expr]:
    """Return a template with `{c}` and `{x}` filled in; an empty list where the library lacks an operator."""
    try:
        return [parse(template.format(c=library.constant, x=x), library).with_constants(constants)]
    except EdhieError:
        return []


def best_of(family: Form, x: Numbers, y: Numbers, roots: Numbers, *, with_constant: bool) -> list[float] | None:
    """Return the constants of the best curve, in the order of the template; None where it explains little."""
    first, span = float(x.min()), float(np.ptp(x))
    with np.errstate(all="ignore"):
        p, q = (grid.ravel()[:, np.newaxis] for grid in np.meshgrid(*family.grid(first, span)))
        curves = family.values(x, p, q) * roots
        sizes = np.abs(curves).max(axis=1, initial=0.0)
    usable = np.isfinite(curves).all(axis=1) & (sizes > 0) & (sizes < OneVariable.LARGEST_CURVE)
    curves, p, q = curves[usable] / sizes[usable, np.newaxis], p[usable, 0], q[usable, 0]
    target, one = y * roots, roots / np.linalg.norm(roots)
    about = target - one * (target @ one)
    total = float(about @ about)
    if with_constant:
        curves, target = curves - np.outer(curves @ one, one), about
    squares = np.square(curves).sum(axis=1)
    with np.errstate(all="ignore"):
        explained = np.where(squares > 1e-9, np.square(curves @ target) / squares, 0.0)
    if len(explained) == 0:
        return None
    k = int(np.argmax(explained))
    if not float(target @ target) - explained[k] < (1 - OneVariable.EXPLAINED) * total:
        return None
    curve = np.asarray(family.values(x, p[k : k + 1, np.newaxis], q[k : k + 1, np.newaxis])[0], np.float64)
    columns = np.stack([curve, np.ones(len(x))]) if with_constant else curve[np.newaxis]
    coefficients = np.linalg.lstsq((columns * roots).T, y * roots, rcond=None)[0].tolist()
    with np.errstate(all="ignore"):
        found = [coefficients[0], *family.constants(p[k], q[k]), *coefficients[1:]]
    return [float(each) for each in found] if np.isfinite(found).all() else None
