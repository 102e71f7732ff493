"""The population of whole expressions: those with the shortest descriptions, and those on the Pareto front."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations_with_replacement

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.form import Form
from edhie.results.candidates import front_of
from edhie.search.arrays import Indices, Kept, Numbers, one_of_each
from edhie.search.pieces.spelling import Speller, UnwritableError
from edhie.selection.description import Criterion, description_bits

SHARE = 0.15  # parameter of the geometric distribution by which ranks are chosen
DEGREES = (0, 1, 2, 3, 4)  # of polynomials in all parts
MOST_TERMS = 10  # of a polynomial
FROM_FRONT = 0.4  # share of choices from the Pareto front, at random


class Population(Kept):
    """Instances of a form, each structure once, the shortest description first."""

    KEPT = ("forest", "errors", "bits")

    def __init__(self, library: SymbolLibrary, data: Data, capacity: int, criterion: Criterion) -> None:
        self._data, self._criterion, self._capacity = data, criterion, capacity
        self.forest = Forest.from_exprs([], library)
        self.errors: Numbers = np.empty(0)
        self.bits: Numbers = np.empty(0)

    def __len__(self) -> int:
        return len(self.forest)

    @property
    def front(self) -> Indices:
        """The indices of the Pareto front of error and size."""
        return front_of(self.errors, self.forest.sizes.astype(np.float64))

    def add(self, forest: Forest, errors: Numbers) -> None:
        """Add scored expressions, and drop the worst beyond the capacity."""
        finite = np.flatnonzero(np.isfinite(errors))
        if len(finite) == 0:
            return
        new = forest.take(finite)
        joined = Forest.concatenate([self.forest, new])
        all_errors = np.concatenate([self.errors, errors[finite]])
        bits = np.concatenate([self.bits, description_bits(new, self._data, self._criterion)])
        order = np.lexsort((all_errors, bits))
        kept = one_of_each(joined, order)
        self.forest, self.errors, self.bits = joined.take(kept), all_errors[kept], bits[kept]
        front = self.front
        if len(front) > self._capacity:
            front = front[np.linspace(0, len(front) - 1, self._capacity).round().astype(np.int64)]
        stays = np.union1d(np.arange(min(len(self), self._capacity)), front)
        self.forest, self.errors, self.bits = self.forest.take(stays), self.errors[stays], self.bits[stays]

    def choose(self, n: int, rng: np.random.Generator) -> Indices:
        """Draw the indices of `n` parents."""
        by_bits = np.minimum(rng.geometric(SHARE, n) - 1, len(self) - 1)
        front = self.front
        return np.where(rng.random(n) < FROM_FRONT, front[rng.integers(0, len(front), n)], by_bits)


# -- the first expressions ----------------------------------------------------------------


def starts(form: Form, libraries: Mapping[int, SymbolLibrary]) -> Forest:
    """Return the first whole expressions, whose constants are to be fitted: with polynomials, or variables, as parts.

    `libraries` are those of the parts that have variables; the others are constants.
    """
    every = [libraries.get(part, form.library) for part in range(len(form.names))]
    if form.library.constant is None:
        parts = [Expr(own, (own.variables[0],)) for own in every]
        return form.filled([Forest.from_exprs([each.cast(form.library)], form.library) for each in parts])
    found = []
    for degree in DEGREES:
        written = [polynomial(own, degree if part in libraries else 0) for part, own in enumerate(every)]
        parts = [each.cast(form.library) for each in written if each is not None]
        if len(parts) == len(every):
            found.append(form.filled([Forest.from_exprs([part], form.library) for part in parts]))
    return Forest.concatenate(found).unique()


def polynomial(library: SymbolLibrary, degree: int) -> Expr | None:
    """Return a polynomial with unfitted constants; None if it cannot be written, or has too many terms."""
    speller = Speller(library)
    expr = constant = speller.leaf(str(library.constant), None)
    exponents = exponents_up_to(len(library.variables), degree)
    if library.constant is None or len(exponents) >= MOST_TERMS:
        return None
    with suppress(UnwritableError):
        for each in exponents:
            expr = speller.over("+", expr, speller.over("*", constant, speller.monomial(each)))
        return expr
    return None


def exponents_up_to(n: int, degree: int) -> list[tuple[int, ...]]:
    """Return the exponents of all monomials of `n` variables of degree 1 to `degree`, the lowest degree first."""
    found: list[tuple[int, ...]] = []
    for total in range(1, degree + 1):
        every = combinations_with_replacement(range(n), total)
        found += sorted(tuple(map(chosen.count, range(n))) for chosen in every)
    return found
