"""Symmetries of the target: transformations of the variables under which it is invariant, or scales by a power.

A law that holds in any system of units is such a case: by Buckingham's theorem it can be written in fewer variables,
products of powers of the given ones. Here the units are not known, and symmetries are detected in the data. A smooth
function f is fitted to the rows (`gaussian_process.py`), with partial derivatives f_i. If

    f_i ± f_j = 0,                       f depends on x_i ∓ x_j alone;
    a_1 x_1 f_1 + … + a_n x_n f_n = p f,   f is x_i^(p/a_i) times a function of the x_j x_i^(-a_j/a_i), for any i;
    g(x_i) f_i = p g'(x_i) f,              f is g(x_i)^p times a function of the others.

Each such symmetry removes one variable. It is accepted if a smooth function of the reduced variables predicts held-out
rows about as well; the next symmetry is then read off that function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, product
from math import gcd

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import SymbolLibrary
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import Symmetry
from edhie.search.mosaic.symmetry.gaussian_process import GaussianProcess

Tokens = tuple[str, ...]
FUNCTIONS: dict[str, tuple[Callable[[Numbers], Numbers], Callable[[Numbers], Numbers]]] = {
    "cos": (np.cos, lambda x: -np.sin(x)),
    "sin": (np.sin, np.cos),
    "exp": (np.exp, np.exp),
}
"""Functions of one variable that may be factors of the target, and their derivatives."""


@dataclass(frozen=True, eq=False)
class Derived:
    """A variable computed from others: its expression in prefix order, and its values."""

    tokens: Tokens
    values: Numbers

    @cached_property
    def is_scale(self) -> bool:
        """True if other variables can be divided by it: no value is close to 0."""
        sizes = np.abs(self.values)
        return bool(sizes.min() > Symmetry.AWAY_FROM_ZERO * sizes.max())

    @cached_property
    def is_skewed(self) -> bool:
        """True if its logarithms are less skewed than its values, as is common for quotients."""
        return self.is_scale and _skewness(np.log(np.abs(self.values))) < _skewness(self.values)

    @property
    def coordinate(self) -> Numbers:
        """Its values, or their logarithms if it `is_skewed`."""
        return np.log(np.abs(self.values)) if self.is_skewed else self.values

    def combined(self, operator: str, other: Derived) -> Derived:
        """Return this variable and another one, combined by an operator."""
        function = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[operator]
        return Derived((operator, *self.tokens, *other.tokens), function(self.values, other.values))

    def times_power(self, other: Derived, power: int) -> Derived:
        """Return this variable times a power of another one."""
        result = self
        for _ in range(abs(power)):
            result = result.combined("*" if power > 0 else "/", other)
        return result


@dataclass(frozen=True)
class Reduction:
    """Reduced variables, of which the target divided by its scale is a function."""

    variables: tuple[Tokens, ...]
    """Their expressions, in prefix order."""
    scale: tuple[tuple[Tokens, int], ...]
    """Factors of the target's scale, each with its power."""


@dataclass(frozen=True, eq=False)
class _Reduced:
    """A reduction with the values of its variables."""

    variables: tuple[Derived, ...]
    scale: tuple[tuple[Derived, int], ...] = ()

    def plain(self) -> Reduction:
        """Return the reduction without values."""
        return Reduction(tuple(v.tokens for v in self.variables), tuple((f.tokens, p) for f, p in self.scale))

    def scale_values(self, n_rows: int) -> Numbers:
        """Return the scale of the target in each row."""
        values = np.ones(n_rows)
        for factor, power in self.scale:
            values = values * factor.values**power
        return values


@dataclass(frozen=True, eq=False)
class _Smooth:
    """A Gaussian process in a reduction's variables."""

    reduction: _Reduced
    error: float
    """The root mean squared error on held-out rows, over the standard deviation of the target."""
    values: Numbers
    slopes: Numbers
    """x_i·f_i, the partial derivatives times their variables, of shape (variables, rows)."""

    @classmethod
    def of(cls, reduction: _Reduced, y: Numbers) -> _Smooth | None:
        """Fit to the first rows, and test on the others; None if values are not finite, or the fit fails."""
        columns = np.stack([each.coordinate for each in reduction.variables])
        scale = reduction.scale_values(len(y))
        target = y / scale
        if not (np.isfinite(columns).all() and np.isfinite(target).all()):
            return None
        seen = slice(round(len(y) * Symmetry.ROWS / (Symmetry.ROWS + Symmetry.TESTED)))
        process = GaussianProcess.fitted(columns[:, seen], target[seen])
        if process is None:
            return None
        values, slopes = process.at(columns)
        for each, slope in zip(reduction.variables, slopes, strict=True):
            slope *= 1.0 if each.is_skewed else each.values
        unseen = slice(seen.stop, None)
        missed = scale[unseen] * (values[unseen] - target[unseen])
        return cls(reduction, float(np.sqrt(np.mean(np.square(missed))) / y.std()), values, slopes)


def may_be_reduced(data: Data, library: SymbolLibrary) -> bool:
    """Return whether there are enough variables, rows and operators to detect symmetries."""
    return data.n_variables > 1 and data.n_rows >= Symmetry.LEAST_ROWS and {"*", "/"} <= library.built_in


def find_reduction(data: Data, library: SymbolLibrary, rng: np.random.Generator) -> Reduction | None:
    """Return the reduction by all symmetries found; None if there is none, or `may_be_reduced` is false."""
    if not may_be_reduced(data, library):
        return None
    rows = rng.permutation(data.n_rows)[: Symmetry.ROWS + Symmetry.TESTED]
    names = library.variables
    start = _Reduced(tuple(Derived((name,), data.columns[k][rows]) for k, name in enumerate(names)))
    with np.errstate(all="ignore"):
        best = first = _Smooth.of(start, data.y[rows])
        while best is not None and best.error < Symmetry.MOST_ERROR and len(best.reduction.variables) > 1:
            found = _with_one_symmetry(best, data.y[rows], library)
            if found is None:
                break
            best = found
    return best.reduction.plain() if best is not None and best is not first else None


Possible = tuple[float, int, Callable[[], _Reduced]]
"""A possible symmetry: its residual, its length, and what returns the reduction by it."""


def _with_one_symmetry(smooth: _Smooth, y: Numbers, library: SymbolLibrary) -> _Smooth | None:
    """Return a smooth function with one more symmetry that predicts about as well; None if there is none."""
    tolerance = min(Symmetry.TOLERANCE + Symmetry.TOLERANCE_A_MISS * smooth.error, Symmetry.MOST_TOLERANCE)
    every = [*_translations(smooth, library), *_scalings(smooth, tolerance), *_factors(smooth, library)]
    near = [each for each in every if each[0] < tolerance]
    worse = Symmetry.WORSE if smooth.error < Symmetry.ROUGH else 1.0
    limit = max(worse * smooth.error, Symmetry.GOOD)
    for _ in range(Symmetry.ATTEMPTS):
        least = Symmetry.NEAREST * min((residual for residual, _, _ in near), default=0.0)
        simplest = sorted((each for each in near if each[0] <= least), key=lambda each: each[1])[: Symmetry.TRIED]
        found = [each for each in (_Smooth.of(reduced(), y) for _, _, reduced in simplest) if each is not None]
        best = min(found, key=lambda each: each.error, default=None)
        if best is not None and best.error < limit:
            return best
        near = [each for each in near if each not in simplest]
    return None


def _translations(smooth: _Smooth, library: SymbolLibrary) -> Iterator[Possible]:
    """Yield sums and differences of two variables."""
    reduction, n = smooth.reduction, len(smooth.slopes)
    variables = reduction.variables
    slopes = [slope / each.values for slope, each in zip(smooth.slopes, variables, strict=True)]
    for i, j in combinations(range(n), 2):
        size = np.hypot(np.linalg.norm(slopes[i]), np.linalg.norm(slopes[j]))
        for operator, missed in (("-", slopes[i] + slopes[j]), ("+", slopes[i] - slopes[j])):
            if operator in library.built_in and size > 0:
                yield float(np.linalg.norm(missed) / size), 2, partial(_joined, reduction, i, j, operator)


def _joined(reduction: _Reduced, i: int, j: int, operator: str) -> _Reduced:
    variables = reduction.variables
    rest = [each for k, each in enumerate(variables) if k not in (i, j)]
    return _Reduced((*rest, variables[i].combined(operator, variables[j])), reduction.scale)


def _scalings(smooth: _Smooth, tolerance: float) -> Iterator[Possible]:
    """Yield scalings with small integer powers and residuals below `tolerance`, if a variable can be divided out.

    Multiples of a scaling, and scalings of one variable that leave the target as it is, are left out.
    """
    variables, n = smooth.reduction.variables, len(smooth.slopes)
    weighted = np.stack([*smooth.slopes, -smooth.values])
    gram = weighted @ weighted.T
    units = [k for k in range(n) if variables[k].is_scale]
    for count in range(1, min(n, Symmetry.MOST_SCALED) + 1):
        for chosen in combinations(range(n), count):
            powers = np.array(list(product(*[Symmetry.POWERS] * count, Symmetry.TARGET_POWERS)), np.int64)
            places = [*chosen, n]
            part = gram[np.ix_(places, places)]
            squares = np.einsum("ki,ij,kj->k", powers, part, powers)
            sizes = np.square(powers) @ np.diag(part)
            residuals = np.sqrt(np.maximum(squares, 0) / np.maximum(sizes, np.finfo(float).tiny))
            for k in np.flatnonzero(residuals < tolerance):
                *own, of_target = powers[k].tolist()
                unit = next(
                    (at for at, power in zip(chosen, own, strict=True) if abs(power) == 1 and at in units), None
                )
                if unit is None or own[0] < 0 or gcd(*own, of_target) > 1 or (count == 1 and of_target == 0):
                    continue
                power_of = dict(zip(chosen, own, strict=True))
                reduced = partial(_divided, smooth.reduction, unit, power_of, of_target)
                yield float(residuals[k]), sum(map(abs, own)) + abs(of_target), reduced


def _factors(smooth: _Smooth, library: SymbolLibrary) -> Iterator[Possible]:
    """Yield powers of a function of one variable as factors."""
    if smooth.error > Symmetry.MOST_FACTOR_ERROR:  # the function may be close to 0, and dividing by it amplifies errors
        return
    variables, scale = smooth.reduction.variables, smooth.reduction.scale
    for k, (variable, slope) in enumerate(zip(variables, smooth.slopes, strict=True)):
        for name, (function, derivative) in FUNCTIONS.items():
            factor = Derived((name, *variable.tokens), function(variable.values))
            if name not in library.built_in or not np.isfinite(factor.values).all() or not factor.values.all():
                continue
            left = slope / variable.values * factor.values
            right = derivative(variable.values) * smooth.values
            for power in Symmetry.POWERS:
                size = np.hypot(np.linalg.norm(left), np.linalg.norm(power * right))
                residual = float(np.linalg.norm(left - power * right) / size) if size > 0 else np.inf
                rest = variables[:k] + variables[k + 1 :]
                yield residual, 1 + abs(power), partial(_Reduced, rest, (*scale, (factor, power)))


def _divided(reduction: _Reduced, unit: int, power_of: dict[int, int], of_target: int) -> _Reduced:
    """Return the reduction by a scaling, given by the powers of the variables; the one at `unit` is divided out."""
    divisor, sign = reduction.variables[unit], power_of[unit]
    rest = tuple(
        each.times_power(divisor, -power_of.get(k, 0) * sign) for k, each in enumerate(reduction.variables) if k != unit
    )
    factor = ((divisor, of_target * sign),) if of_target else ()
    return _Reduced(rest, (*reduction.scale, *factor))


def _skewness(values: Numbers) -> float:
    deviations = values - values.mean()
    return float(np.abs(np.mean(deviations**3)) / np.mean(deviations**2) ** 1.5)
