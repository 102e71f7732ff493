"""Quotients of polynomials: y·Q = P is linear in the coefficients of both, so they are found in closed form.

With noise in y, the columns y·Q contain noise as well (errors in variables). The coefficients then minimise the ratio
of the squares of (y·Q - P)/Q to those of the noise in them: a generalised eigenvalue problem, iterated with the
denominator Q of the previous solution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import comb

import numpy as np

from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.search.arrays import Indices, Mask, Numbers
from edhie.search.mosaic.config import Quotients
from edhie.search.mosaic.frames.frame import Link
from edhie.search.mosaic.frames.free_columns import FreeColumns, polynomial_of_degree
from edhie.search.mosaic.frames.noise_frames import View
from edhie.search.pieces.spelling import Speller, UnwritableError

Monomials = list[tuple[float, Indices]]
"""Coefficients and exponents of monomials."""
Columns = tuple[Numbers, Indices]
"""Values and exponents of monomials."""


def quotients(data: Data, speller: Speller, links: Sequence[Link]) -> list[Expr]:
    """Return exact quotients of polynomials of the lowest degree, for each link of the target that has one.

    If there are none, each variable in turn is replaced by a function of it, such as the cosine of an angle. `data` may
    be a sample of the rows.
    """
    found = _quotients(data, speller, links)
    for variable, function in product(range(data.n_variables), Quotients.FUNCTIONS):
        if found:
            break
        if function in speller.library.built_in:
            found = _quotients_through(function, variable, data, speller, links)
    return found


def _quotients(data: Data, speller: Speller, links: Sequence[Link], angle: int | None = None) -> list[Expr]:
    """Return exact quotients; those with high powers of the variable `angle`, a function, are left out.

    Such powers are better written as functions of multiples, as sin(3·x).
    """
    found = []
    for link in links:
        if link.name not in Quotients.LINKS:
            continue
        with np.errstate(all="ignore"):
            target = link.apply(data.y)
        parts = _exact_quotient(target, data) if np.isfinite(target).all() else None
        if parts is None or (angle is not None and _highest(parts, angle) > Quotients.HIGHEST_POWER):
            continue
        found += written_quotient(link, *parts, speller, is_negative=link.is_even and bool(data.y[0] < 0))
    return found


def _highest(parts: tuple[Monomials, Monomials], variable: int) -> int:
    """Return the highest power of a variable in a quotient."""
    return max(int(exponents[variable]) for terms in parts for _, exponents in terms)


def _quotients_through(function: str, variable: int, data: Data, speller: Speller, links: Sequence[Link]) -> list[Expr]:
    """Return exact quotients in which a variable is replaced by a function of it."""
    name, columns = speller.library.variables[variable], data.columns.copy()
    argument = Forest.from_exprs([Expr(speller.library, [function, name])])
    with np.errstate(all="ignore"):
        columns[variable] = values(argument, data.columns)[0]
    if not np.isfinite(columns).all():
        return []
    found = _quotients(replace(data, columns=columns), speller, links, angle=variable)
    return [
        Expr(each.library, [t for token in each.tokens for t in ((function, name) if token == name else (token,))],
             each.constants)
        for each in found
    ]  # fmt: skip


def written_quotient(
    link: Link, above: Monomials, below: Monomials, speller: Speller, *, is_negative: bool
) -> list[Expr]:
    """Return a quotient with the link inverted, its denominator's first coefficient 1; empty if it is unwritable."""
    unit = below[0][0]
    try:
        top, bottom = (polynomial([(c / unit, e) for c, e in terms], speller) for terms in (above, below))
        expr = speller.headed(link.head, speller.over("/", top, bottom))
        return [speller.negative(expr) if is_negative else expr]
    except UnwritableError:
        return []


def polynomial(terms: Monomials, speller: Speller) -> Expr:
    """Return a polynomial as an expression."""
    constant = sum(float(c) for c, exponents in terms if not exponents.any())
    return speller.sum([(float(c), speller.monomial(e.tolist())) for c, e in terms if e.any()], constant)


def _exact_quotient(target: Numbers, data: Data) -> tuple[Monomials, Monomials] | None:
    n_variables, most = data.n_variables, min(Quotients.MOST_COLUMNS, data.n_rows // Quotients.ROWS_A_COLUMN)
    degrees = [each for each in Quotients.DEGREES if sum(comb(n_variables + d, n_variables) for d in each) <= most]
    for above, below in degrees:
        numerator, denominator = (polynomial_of_degree(data.columns, degree) for degree in (above, below))
        with np.errstate(all="ignore"):
            columns = np.concatenate([numerator.columns, target * denominator.columns])
            norms = np.linalg.norm(columns, axis=1)
        if not np.isfinite(norms).all() or (norms == 0).any():
            return None
        columns /= norms[:, np.newaxis]
        if vanishing(columns)[0] > Quotients.VANISHING:
            continue
        kept = few_columns(columns)
        coefficients = vanishing(columns[kept])[1] / norms[kept]
        n_above = len(numerator.columns)
        top = [(c, numerator.exponents[k]) for k, c in zip(kept, coefficients, strict=True) if k < n_above]
        bottom = [
            (-c, denominator.exponents[k - n_above]) for k, c in zip(kept, coefficients, strict=True) if k >= n_above
        ]
        return (top, bottom) if top and bottom else None  # otherwise the monomials themselves are dependent
    return None


def vanishing(columns: Numbers) -> tuple[float, Numbers]:
    """Return the ratio of the smallest to the largest singular value of columns, and the null vector it belongs to.

    The vector has the coefficients of the linear combination nearest to zero, with norm 1.
    """
    _, s, vt = np.linalg.svd(columns.T, full_matrices=False)
    return float(s[-1] / s[0]), vt[-1]


def few_columns(columns: Numbers) -> Indices:
    """Return a minimal set of linearly dependent columns: each is dropped if the others stay so, the last first."""
    kept = np.arange(len(columns))
    for column in range(len(columns) - 1, -1, -1):
        fewer = kept[kept != column]
        if len(fewer) > 1 and vanishing(columns[fewer])[0] <= Quotients.VANISHING:
            kept = fewer
    return kept


# -- with noise ---------------------------------------------------------------------------


def noisy_quotients(data: Data, views: dict[Link, View], speller: Speller) -> list[Expr]:
    """Return quotients of polynomials for a noisy target, through each link of `views`."""
    found = []
    for link, (target, scale) in views.items():
        if link.name in Quotients.NOISY_LINKS:
            is_negative = link.is_even and bool(np.median(data.y) < 0)
            for above, below in _candidates(data, target, scale):
                parts = _noisy_quotient(above, below, target, scale)
                if parts is not None:
                    found += written_quotient(link, *parts, speller, is_negative=is_negative)
    return found


def _candidates(data: Data, target: Numbers, scale: Numbers) -> Iterator[tuple[Columns, Columns]]:
    """Yield columns of numerator and denominator: full polynomials by degree, and sparse ones over two monomials."""
    for degrees in Quotients.NOISY_DEGREES:
        n_columns = sum(comb(data.n_variables + degree, degree) for degree in degrees)
        if n_columns <= min(Quotients.NOISY_COLUMNS, data.n_rows // 4):
            above, below = (polynomial_of_degree(data.columns, degree) for degree in degrees)
            yield (above.columns, above.exponents), (below.columns, below.exponents)
    free = polynomial_of_degree(data.columns, 2)
    if len(free.columns) <= min(Quotients.MOST_MONOMIALS, data.n_rows // 4):
        for its, others in _sparse(free, target, scale):
            yield (free.columns[its], free.exponents[its]), (free.columns[others], free.exponents[others])


def _sparse(free: FreeColumns, target: Numbers, scale: Numbers) -> list[tuple[Indices, Indices]]:
    """Return the most promising sparse quotients, as indices of monomials in numerator and denominator.

    The denominator has two monomials; those of the numerator are added one by one, by forward selection.
    """
    units = np.sqrt(np.mean(np.square(free.columns), axis=1))
    if not (np.isfinite(units).all() and (units > 0).all()):
        return []
    scaled, n = free.columns / units[:, np.newaxis], len(free.columns)
    problem = _Problem(scaled, scaled, target, scale, scale > 0, np.ones(len(target)))
    n_rows = int((scale > 0).sum())
    pairs = np.array(list(combinations(range(n), 2)), np.int64).reshape(-1, 2)
    values, vectors = np.linalg.eigh(problem.noise[n + pairs[:, :, np.newaxis], n + pairs[:, np.newaxis]])
    is_sound = values[:, 0] > Quotients.RIDGE * values[:, 1]
    pairs, values, vectors = pairs[is_sound], values[is_sound], vectors[is_sound]
    whitening = (vectors / np.sqrt(values)[:, np.newaxis]) @ vectors.transpose(0, 2, 1)  # the inverse root
    products = np.repeat(problem.products[np.newaxis], len(pairs), axis=0)
    above, going = np.empty((len(pairs), 0), np.int64), np.arange(len(pairs))
    tried: list[tuple[float, int, int, Indices]] = []  # score, pair, size of the numerator, its columns
    for size in range(1, Quotients.MOST_ABOVE + 1):
        ratios = _ratios(products[going], n + pairs[going], n, whitening[going])
        np.put_along_axis(ratios, above[going], np.inf, axis=1)
        best, least = ratios.argmin(axis=1), ratios.min(axis=1)
        is_going = (least > 0) & (least < np.inf)
        going, best, least = going[is_going], best[is_going], least[is_going]
        above = np.append(above, np.zeros((len(pairs), 1), np.int64), axis=1)
        above[going, -1] = best
        column = products[going, :, best]
        products[going] -= (
            column[:, :, np.newaxis] * column[:, np.newaxis] / column[np.arange(len(best)), best, None, None]
        )
        scores = n_rows * np.log(least) + Quotients.PRICE * np.log(n_rows) * size
        tried += [(score, k, size, above[k]) for score, k in zip(scores.tolist(), going.tolist(), strict=True)]
    places = {tuple(each): k for k, each in enumerate(free.exponents.tolist())}
    found: dict[tuple[tuple[int, ...], ...], tuple[Indices, Indices]] = {}
    for _, k, _, its_above in sorted(tried, key=lambda each: each[:3]):
        common = free.exponents[np.concatenate([its_above, pairs[k]])].min(axis=0)  # a factor that cancels
        one, other = (
            np.array([places[tuple(each)] for each in (free.exponents[its] - common).tolist()])
            for its in (its_above, pairs[k])
        )
        found.setdefault(tuple(tuple(sorted(its.tolist())) for its in (one, other)), (one, other))
        if len(found) == Quotients.SPARSE:
            break
    return list(found.values())


def _ratios(products: Numbers, below: Indices, n_above: int, whitening: Numbers) -> Numbers:
    """Return (pairs, columns): the least ratio of squares to noise if a column is added to the numerator of a pair."""
    every = np.arange(len(below))[:, np.newaxis, np.newaxis]
    base = whitening @ products[every, below[:, :, np.newaxis], below[:, np.newaxis]] @ whitening
    squares = np.diagonal(products, axis1=1, axis2=2)[:, :n_above]
    with np.errstate(all="ignore"):
        own = whitening @ products[every[:, 0], below, :n_above] / np.sqrt(squares)[:, np.newaxis]
        a, d = base[:, 0, :1] - own[:, 0] ** 2, base[:, 1, 1:] - own[:, 1] ** 2
        b = base[:, 0, 1:] - own[:, 0] * own[:, 1]
        found = 0.5 * (a + d - np.sqrt((a - d) ** 2 + 4 * b**2))
    return np.where(squares > Quotients.DEPENDENT * squares.max(axis=1, keepdims=True), found, np.inf)


def _noisy_quotient(
    above: Columns, below: Columns, target: Numbers, scale: Numbers
) -> tuple[Monomials, Monomials] | None:
    """Return the terms of numerator and denominator that are needed; None if no quotient is left."""
    units = np.concatenate([np.sqrt(np.mean(np.square(columns), axis=1)) for columns, _ in (above, below)])
    if not (np.isfinite(units).all() and (units > 0).all()):
        return None
    n_above, sizes, kept = len(above[0]), np.ones(len(target)), np.arange(len(units))
    top, bottom = above[0] / units[:n_above, np.newaxis], below[0] / units[n_above:, np.newaxis]
    for _ in range(Quotients.REWEIGHTED):
        solved = _Problem(top, bottom, target, scale / sizes, scale > 0, sizes).solve(kept)
        if solved is None:
            return None
        denominators = np.abs(solved[1][n_above:] @ bottom)
        sizes = np.maximum(denominators / denominators.mean(), Quotients.SMALLEST)
    problem = _Problem(top, bottom, target, scale / sizes, scale > 0, sizes)
    kept = _pruned(problem, kept, int((scale > 0).sum()))
    solved = problem.solve(kept)
    if solved is None:
        return None
    coefficients = np.zeros(len(units))
    coefficients[kept] = solved[1]
    terms = list(zip((coefficients / units).tolist(), [*above[1], *below[1]], strict=True))
    numerator, denominator = ([each for each in part if each[0]] for part in (terms[:n_above], terms[n_above:]))
    return (numerator, denominator) if numerator and any(exponents.any() for _, exponents in denominator) else None


class _Problem:
    """The errors-in-variables problem: Gram matrices of the columns and of their noise.

    Columns of the numerator (`top`) come first, then those of the denominator times the target. `scale` is the inverse
    standard deviation of the noise by row, `inside` a mask of rows, and `sizes` the denominator by row so far.
    """

    def __init__(
        self, top: Numbers, bottom: Numbers, target: Numbers, scale: Numbers, inside: Mask, sizes: Numbers
    ) -> None:
        columns = np.concatenate([-top, target * bottom])[:, inside] * scale[inside]
        self.products = columns @ columns.T
        noise = bottom[:, inside] / sizes[inside]
        self.noise = np.zeros_like(self.products)
        self.noise[len(top) :, len(top) :] = noise @ noise.T
        self.n_top = len(top)

    def solve(self, kept: Indices) -> tuple[float, Numbers] | None:
        """Return the least ratio of squares to noise with the columns at `kept`, and its coefficients, or None."""
        from scipy.linalg import eigh  # slow to import

        above, below = kept < self.n_top, kept >= self.n_top
        if not above.any() or not below.any():
            return None
        a, b = kept[above], kept[below]
        outer, noise = _ridged(self.products[np.ix_(a, a)]), _ridged(self.noise[np.ix_(b, b)])
        cross = self.products[np.ix_(a, b)]
        try:
            through = np.linalg.solve(outer, cross)
            values, vectors = eigh(self.products[np.ix_(b, b)] - cross.T @ through, noise, subset_by_index=[0, 0])
        except (np.linalg.LinAlgError, ValueError):
            return None
        found = np.empty(len(kept))
        found[below], found[above] = vectors[:, 0], -through @ vectors[:, 0]
        return float(values[0]), found

    def ratios_without(self, kept: Indices) -> Numbers:
        """Return the least ratio without each column in turn; infinity if it has no solution."""
        above, below = kept[kept < self.n_top], kept[kept >= self.n_top]
        found = np.full(len(kept), np.inf)
        if len(above) > 1:
            found[kept < self.n_top] = self._least_ratios(_without_each(above), below[np.newaxis])
        if len(below) > 1:
            found[kept >= self.n_top] = self._least_ratios(above[np.newaxis], _without_each(below))
        return np.where(np.isnan(found), np.inf, found)

    def _least_ratios(self, above: Indices, below: Indices) -> Numbers:
        """Return the least ratio of each choice of columns, given as rows; a single row is combined with all others."""
        outer, inner = _ridged(_blocks(self.products, above, above)), _blocks(self.products, below, below)
        cross, noise = _blocks(self.products, above, below), _ridged(_blocks(self.noise, below, below))
        try:
            inner = inner - cross.transpose(0, 2, 1) @ np.linalg.solve(outer, cross)
            root = np.linalg.inv(np.linalg.cholesky(noise))
            return np.asarray(np.linalg.eigvalsh(root @ inner @ root.transpose(0, 2, 1))[:, 0], np.float64)
        except np.linalg.LinAlgError:
            choices = (np.broadcast_to(each, (len(cross), each.shape[1])) for each in (above, below))
            solved = [self.solve(np.concatenate(each)) for each in zip(*choices, strict=True)]
            return np.array([np.inf if each is None else each[0] for each in solved])


def _without_each(places: Indices) -> Indices:
    """Return rows of the indices without the first, without the second, and so on."""
    n = len(places)
    return np.broadcast_to(places, (n, n))[~np.eye(n, dtype=np.bool_)].reshape(n, n - 1)


def _blocks(matrix: Numbers, rows: Indices, columns: Indices) -> Numbers:
    """Return the blocks of a matrix for each choice of rows and columns."""
    return np.asarray(matrix[rows[:, :, np.newaxis], columns[:, np.newaxis]])


def _ridged(matrices: Numbers) -> Numbers:
    """Return a matrix, or several, with a small ridge added to the diagonal, relative to its mean."""
    n = matrices.shape[-1]
    means = np.trace(matrices, axis1=-2, axis2=-1) / n
    return np.asarray(matrices + Quotients.RIDGE * means[..., np.newaxis, np.newaxis] * np.eye(n))


def _pruned(problem: _Problem, kept: Indices, n_rows: int) -> Indices:
    """Return the columns that are needed, by backward elimination."""
    solved = problem.solve(kept)
    if solved is None:
        return kept
    least = solved[0]
    price = Quotients.PRICE * np.log(n_rows) / n_rows
    while len(kept) > 2:
        ratios = problem.ratios_without(kept)
        k = int(np.argmin(ratios))
        if not ratios[k] - least <= price * max(least, 0.2):
            return kept
        kept, least = np.delete(kept, k), float(ratios[k])
    return kept
