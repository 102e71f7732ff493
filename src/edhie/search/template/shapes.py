"""What parts are most often made of, with constants on a grid: powers, 1/(x + c), exp(c·x), sin(c·x) and the like."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.search.pieces.function_grid import SCALES, shapes
from edhie.search.pieces.spelling import Speller, UnwritableError, Words

Numbers = NDArray[np.float64]
HIGHEST = 4  # power of a variable
MOST_TERMS = 10  # of a polynomial


def opening_pieces(library: SymbolLibrary, columns: Numbers) -> Forest:
    """Monomials, and functions of one variable with one constant."""
    speller = Speller(library)
    written = [*_monomials(speller), *_shifted(speller, columns)]
    plain = Forest.from_exprs([speller.expr(words) for words in written], library)
    return Forest.concatenate([plain, shapes(library, columns, np.ones(len(columns)))])


def polynomial(library: SymbolLibrary, degree: int) -> Expr | None:
    """All terms up to a degree, each with a constant; None where it cannot be written, or has too many terms."""
    speller, constant = Speller(library), library.constant
    if constant is None:
        return None
    words = Words((constant,), (None,))
    exponents = [each for each in _exponents(len(library.variables), degree) if any(each)]
    if len(exponents) >= MOST_TERMS:
        return None
    try:
        for each in exponents:
            term = speller.over("*", Words((constant,), (None,)), _monomial(speller, each))
            words = speller.over("+", words, term)
    except UnwritableError:
        return None
    return speller.expr(words)


def _exponents(n: int, degree: int) -> Iterator[tuple[int, ...]]:
    """All exponents of `n` variables that add up to at most `degree`, the lowest degree first."""
    for total in range(degree + 1):
        for bars in combinations(range(total + n - 1), n - 1):
            edges = (-1, *bars, total + n - 1)
            yield tuple(edges[k + 1] - edges[k] - 1 for k in range(n))


def _monomial(speller: Speller, exponents: tuple[int, ...]) -> Words:
    powers = [(float(e), Words((name,))) for e, name in zip(exponents, speller.library.variables, strict=True) if e]
    return speller.product(powers)


def _monomials(speller: Speller) -> Iterator[Words]:
    n = len(speller.library.variables)
    for exponents in _exponents(n, HIGHEST if n <= 3 else 2):
        if any(exponents):
            try:
                yield _monomial(speller, exponents)
            except UnwritableError:
                continue


def _shifted(speller: Speller, columns: Numbers) -> Iterator[Words]:
    """1/(x + c), x/(x + c), exp(-c·x²) and sqrt(x + c)."""
    if speller.library.constant is None:
        return
    for name, column in zip(speller.library.variables, columns, strict=True):
        x = Words((name,))
        typical = float(np.median(np.abs(column))) or 1.0
        least = float(column.min())
        for scale in SCALES:
            shift = speller.number(scale * typical - min(least, 0.0))
            try:
                shifted = speller.over("+", x, shift)
                yield speller.over("/", speller.number(1.0), shifted)
                yield speller.over("/", x, shifted)
                yield speller.over("sqrt", shifted)
            except UnwritableError:
                continue
        for scale in SCALES:
            try:
                yield speller.over("exp", speller.over("*", speller.number(-scale / typical**2), speller.power(x, 2)))
            except UnwritableError:
                continue
