"""Quotients of polynomials for noisy targets.

y·Q = P is linear in the coefficients of both, but noise in y is multiplied by Q and is in the columns as well. The
coefficients that are most likely minimise the squares of (y·Q - P)/Q, in standard deviations, over what noise alone
would leave: a generalised eigenvalue problem, with Q from the solution before.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Expr
from edhie.search.mosaic.blocks import polynomial_of_degree
from edhie.search.mosaic.links import Link
from edhie.search.mosaic.rational import quotient_words
from edhie.search.mosaic.words import Speller, UnwritableError

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
LINKS = ("y", "y^2", "1/y^2", "exp(y)")
DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (0, 1), (0, 2))
MOST_COLUMNS = 45
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
        for above, below in DEGREES:
            columns = comb(data.n_variables + above, above) + comb(data.n_variables + below, below)
            if columns > min(MOST_COLUMNS, data.n_rows // 4):
                continue
            numerator, denominator = (polynomial_of_degree(data.columns, degree) for degree in (above, below))
            fitted = _fitted(numerator.columns, denominator.columns, target, scale)
            if fitted is None:
                continue
            top, bottom = fitted
            try:
                words = quotient_words(
                    [(c, numerator.exponents[k]) for k, c in enumerate(top) if c],
                    [(c, denominator.exponents[k]) for k, c in enumerate(bottom) if c],
                    speller,
                )
                headed = speller.headed(link.head, words)
                is_negative = link.is_even and np.median(data.y) < 0
                found.append(speller.expr(speller.negative(headed) if is_negative else headed))
            except UnwritableError:
                continue
    return found


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
    is_quotient = found[0].any() and np.count_nonzero(found[1]) > 0 and found[1][1:].any()
    return found if is_quotient else None


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
