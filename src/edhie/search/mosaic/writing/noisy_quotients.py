"""Quotients of polynomials for noisy targets.

y·Q = P is linear in the coefficients of both, but noise in y is multiplied by Q and is in the columns as well. The
coefficients that are most likely minimise the squares of (y·Q - P)/Q, in standard deviations, over what noise alone
would leave: a generalised eigenvalue problem, with Q from the solution before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Expr
from edhie.search.mosaic.frames.free_columns import FreeColumns, polynomial_of_degree
from edhie.search.mosaic.frames.links import Link
from edhie.search.mosaic.writing.quotients import Term, quotient_words
from edhie.search.pieces.spelling import Speller, UnwritableError

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
LINKS = ("y", "y^2", "1/y^2", "exp(y)")
DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (0, 1), (0, 2))
MOST_COLUMNS = 45
MOST_MONOMIALS = 28  # of which sparse quotients are made, with two of them below
MOST_ABOVE, SPARSE = 4, 8  # of them above, and sparse quotients that are tried
DEPENDENT = 1e-9  # of the squares: what is left of a column that others explain
REWEIGHTED = 4
SMALLEST = 1e-3  # of the mean size of Q: rows where it is smaller count no more
PRICE = 1.5  # of a column, in logarithms of the number of rows
RIDGE = 1e-10


def noisy_quotients(data: Data, views: dict[Link, tuple[Numbers, Numbers]], speller: Speller) -> list[Expr]:
    """Return quotients of polynomials for a target through links; a view is its values and one over their noise."""
    found = []
    for link, (target, scale) in views.items():
        if link.name not in LINKS:
            continue
        is_negative = link.is_even and bool(np.median(data.y) < 0)
        for above, below in _quotients(data, target, scale):
            try:
                words = speller.headed(link.head, quotient_words(above, below, speller))
                found.append(speller.expr(speller.negative(words) if is_negative else words))
            except UnwritableError:
                continue
    return found


def _quotients(data: Data, target: Numbers, scale: Numbers) -> Iterator[tuple[list[Term], list[Term]]]:
    """The terms above and below of quotients: of polynomials by degree, and over two monomials."""
    for above, below in DEGREES:
        columns = comb(data.n_variables + above, above) + comb(data.n_variables + below, below)
        if columns <= min(MOST_COLUMNS, data.n_rows // 4):
            yield from _quotient(
                polynomial_of_degree(data.columns, above), polynomial_of_degree(data.columns, below), target, scale
            )
    block = polynomial_of_degree(data.columns, 2)
    if len(block.columns) <= min(MOST_MONOMIALS, data.n_rows // 4):
        for few in _sparse_quotients(block, target, scale):
            above_block, below_block = (
                replace(block, columns=block.columns[k], exponents=block.exponents[k]) for k in few
            )
            yield from _quotient(above_block, below_block, target, scale)


def _quotient(
    above: FreeColumns, below: FreeColumns, target: Numbers, scale: Numbers
) -> Iterator[tuple[list[Term], list[Term]]]:
    fitted = _fitted(above.columns, below.columns, target, scale)
    if fitted is not None:
        top, bottom = (
            [(float(c), e) for c, e in zip(coefficients, block.exponents, strict=True) if c]
            for coefficients, block in zip(fitted, (above, below), strict=True)
        )
        if any(exponents.any() for _, exponents in bottom):
            yield top, bottom


def _sparse_quotients(block: FreeColumns, target: Numbers, scale: Numbers) -> list[tuple[Indices, Indices]]:
    """Monomials above and pairs of them below that promise most, by adding monomials above one after the other."""
    units = np.sqrt(np.mean(np.square(block.columns), axis=1))
    if not (np.isfinite(units).all() and (units > 0).all()):
        return []
    scaled, n = block.columns / units[:, np.newaxis], len(block.columns)
    problem = _Problem(scaled, scaled, target, scale, scale > 0, np.ones(len(target)))
    n_rows = int((scale > 0).sum())
    tried: list[tuple[float, Indices, Indices]] = []
    for pair in combinations(range(n), 2):
        below = np.array(pair)
        whitening = _inverse_root(problem.noise[np.ix_(n + below, n + below)])
        if whitening is None:
            continue
        products, above = problem.products, np.empty(0, np.int64)
        for size in range(1, MOST_ABOVE + 1):
            ratios = _ratios(products, n + below, n, whitening)
            ratios[above] = np.inf
            k = int(np.argmin(ratios))
            if not 0 < ratios[k] < np.inf:
                break
            above = np.append(above, k)
            products = products - np.outer(products[:, k], products[:, k]) / products[k, k]
            tried.append((n_rows * float(np.log(ratios[k])) + PRICE * np.log(n_rows) * size, above, below))
    places = {tuple(each): k for k, each in enumerate(block.exponents.tolist())}
    found: dict[tuple[tuple[int, ...], ...], tuple[Indices, Indices]] = {}
    for _, above, below in sorted(tried, key=lambda each: each[0]):
        common = block.exponents[np.concatenate([above, below])].min(axis=0)
        reduced = [
            np.array([places[tuple(each)] for each in (block.exponents[its] - common).tolist()])
            for its in (above, below)
        ]
        found.setdefault(tuple(tuple(sorted(its.tolist())) for its in reduced), (reduced[0], reduced[1]))
    return list(found.values())[:SPARSE]


def _inverse_root(matrix: Numbers) -> Numbers | None:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T) if values[0] > RIDGE * values[-1] else None


def _ratios(products: Numbers, below: Indices, n_above: int, whitening: Numbers) -> Numbers:
    """By column above: the least ratio of squares to those of noise if it is added."""
    base = whitening @ products[np.ix_(below, below)] @ whitening
    squares = np.diag(products)[:n_above]
    with np.errstate(all="ignore"):
        own = whitening @ products[below, :n_above] / np.sqrt(squares)
        a, d, b = base[0, 0] - own[0] ** 2, base[1, 1] - own[1] ** 2, base[0, 1] - own[0] * own[1]
        found = 0.5 * (a + d - np.sqrt((a - d) ** 2 + 4 * b**2))
    return np.asarray(np.where(squares > DEPENDENT * squares.max(), found, np.inf))


def _fitted(above: Numbers, below: Numbers, target: Numbers, scale: Numbers) -> tuple[Numbers, Numbers] | None:
    """Coefficients of numerator and denominator, 0 for those that are not needed; None: it is no quotient."""
    units = [np.sqrt(np.mean(np.square(each), axis=1)) for each in (above, below)]
    if not all(np.isfinite(unit).all() and (unit > 0).all() for unit in units):
        return None
    top, bottom = above / units[0][:, np.newaxis], below / units[1][:, np.newaxis]
    kept = np.arange(len(top) + len(bottom))
    sizes = np.ones(len(target))
    for _ in range(REWEIGHTED):
        problem = _Problem(top, bottom, target, scale / sizes, scale > 0, sizes)
        solved = problem.solve(kept)
        if solved is None:
            return None
        denominators = np.abs(solved[1][kept >= len(top)] @ bottom[kept[kept >= len(top)] - len(top)])
        sizes = np.maximum(denominators / denominators.mean(), SMALLEST)
    problem = _Problem(top, bottom, target, scale / sizes, scale > 0, sizes)
    kept = _pruned(problem, kept, len(top), int((scale > 0).sum()))
    solved = problem.solve(kept)
    if solved is None:
        return None
    every = np.zeros(len(top) + len(bottom))
    every[kept] = solved[1]
    found = every[: len(top)] / units[0], every[len(top) :] / units[1]
    return found if found[0].any() and found[1].any() else None


class _Problem:
    """Sums of squares of columns and of the noise in them, from which any choice of columns is solved."""

    def __init__(
        self, top: Numbers, bottom: Numbers, target: Numbers, scale: Numbers, inside: NDArray[np.bool_], sizes: Numbers
    ) -> None:
        columns = np.concatenate([-top, target * bottom])[:, inside] * scale[inside]
        self.products = columns @ columns.T
        noise = bottom[:, inside] / sizes[inside]
        self.noise = np.zeros_like(self.products)
        self.noise[len(top) :, len(top) :] = noise @ noise.T
        self.n_top = len(top)

    def solve(self, kept: Indices) -> tuple[float, Numbers] | None:
        """The least ratio of squares to those of noise, and the coefficients that have it."""
        from scipy.linalg import eigh  # slow to import, and not needed for help

        above, below = kept < self.n_top, kept >= self.n_top
        if not above.any() or not below.any():
            return None
        a, b = kept[above], kept[below]
        outer = self.products[np.ix_(a, a)]
        outer = outer + RIDGE * np.trace(outer) / len(a) * np.eye(len(a))
        cross = self.products[np.ix_(a, b)]
        noise = self.noise[np.ix_(b, b)]
        noise = noise + RIDGE * np.trace(noise) / len(b) * np.eye(len(b))
        try:
            through = np.linalg.solve(outer, cross)
            values, vectors = eigh(self.products[np.ix_(b, b)] - cross.T @ through, noise, subset_by_index=[0, 0])
        except (np.linalg.LinAlgError, ValueError):
            return None
        found = np.empty(len(kept))
        found[below], found[above] = vectors[:, 0], -through @ vectors[:, 0]
        return float(values[0]), found


def _pruned(problem: _Problem, kept: Indices, n_top: int, n_rows: int) -> Indices:
    """Without the columns that the rest can do without, the least needed first."""
    solved = problem.solve(kept)
    if solved is None:
        return kept
    least = solved[0]
    price = PRICE * np.log(n_rows) / n_rows
    while len(kept) > 2:
        tried = [(problem.solve(np.delete(kept, k)), k) for k in range(len(kept))]
        usable = [(each[0], k) for each, k in tried if each is not None]
        if not usable:
            return kept
        ratio, k = min(usable)
        if ratio - least > price * max(least, 0.2):
            return kept
        kept, least = np.delete(kept, k), ratio
    return kept
