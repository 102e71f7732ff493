"""Sums of pieces, and products of two, that fit a position best: by least squares, without executing them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edhie.expr import Expr, Forest
from edhie.search.arrays import Indices, Numbers
from edhie.search.pieces.splicing import Stock
from edhie.search.template.pool import Pool
from edhie.search.template.position import Position

WIDEST = 3  # most pieces of a sum
BEAM = 12  # width of the beam search over sums
SAME = 1e-6  # a piece with a smaller share of its squares orthogonal to others is a linear combination of them
ROUNDING = 1e-24  # residuals below this share of the target's sum of squares are rounding
LARGEST = 1e100  # absolute value of a piece
PLAIN, OTHERS = 16, 250  # pieces that are multiplied: the simplest, with a random choice of all
PRODUCTS = 0.7  # share of rounds in which products are screened; in the others quotients


@dataclass(frozen=True, eq=False)
class _Sum:
    pieces: tuple[int, ...]
    basis: Numbers  # (directions, rows): an orthonormal basis of its pieces and the constant
    rest: Numbers  # (rows,): the residuals of the target
    bits: float


class _Contents:
    """Sums of pieces in one position, and their description lengths."""

    def __init__(self, pool: Pool, position: Position) -> None:
        self.pool, self.position = pool, position
        self._n_rows = max(int(position.slopes.any(axis=0).sum()), 2)
        self._least = ROUNDING * float(position.target @ position.target) or 1e-300

    def bits(self, left: Numbers, sizes: Numbers, n_constants: int) -> Numbers:
        """Return approximate description lengths, given residual sums of squares, sizes and numbers of constants."""
        symbols = math.log2(len(self.pool.library)) * sizes
        constants = n_constants * 0.5 * math.log2(self._n_rows)
        return np.asarray(0.5 * self._n_rows * np.log2(np.maximum(left, self._least)) + symbols + constants)

    def best_sums(self, rows: Numbers, sizes: Numbers, top: int) -> tuple[list[_Sum], int]:
        """Return the best sums of one, two and three pieces, `top` of each, and how many were screened."""
        target, constant = self.position.target, self.position.constant
        lengths = np.linalg.norm(rows, axis=1)
        units = rows / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis]
        first = constant / (np.linalg.norm(constant) or 1.0)
        beam = [_Sum((), first[np.newaxis], target - (first @ target) * first, math.inf)]
        best: list[_Sum] = []
        n_screened = 0
        for _ in range(WIDEST):
            wider: dict[tuple[int, ...], _Sum] = {}
            n_screened += len(beam) * len(units)
            # inner products of pieces with each basis and residual, for all sums in one matrix product
            every = units @ np.concatenate([np.vstack([each.basis, each.rest]) for each in beam]).T
            ends = np.cumsum([len(each.basis) + 1 for each in beam])
            for each, overlaps in zip(beam, np.split(every, ends[:-1], axis=1), strict=True):
                for made in self._widened(each, overlaps, units, sizes, top):
                    wider.setdefault(tuple(sorted(made.pieces)), made)
            ranked = sorted(wider.values(), key=lambda made: made.bits)
            best += ranked[:top]
            beam = ranked[:BEAM]
            if not beam:
                break
        return best, n_screened

    def _widened(self, each: _Sum, overlaps: Numbers, units: Numbers, sizes: Numbers, top: int) -> list[_Sum]:
        """Return a sum extended by each of the pieces that are best to add."""
        overlap, width = overlaps[:, :-1], len(each.pieces) + 1
        own = 1.0 - np.square(overlap).sum(axis=1)
        gains = np.where(own > SAME, np.square(overlaps[:, -1]) / np.maximum(own, SAME), 0.0)
        left = np.maximum(each.rest @ each.rest - gains, 0.0)
        total = sizes + sizes[list(each.pieces)].sum() + 3 * width  # with coefficients and signs
        bits = np.where(gains > 0, self.bits(left, total, width + 1), np.inf)
        made = []
        for k in np.argsort(bits, kind="stable")[: max(top, BEAM)].tolist():
            if np.isfinite(bits[k]) and k not in each.pieces:
                direction = units[k] - overlap[k] @ each.basis
                direction /= np.linalg.norm(direction)
                rest = each.rest - (direction @ each.rest) * direction
                made.append(_Sum((*each.pieces, k), np.vstack([each.basis, direction]), rest, float(bits[k])))
        return made

    def written(self, pieces: Forest, rows: Numbers) -> list[Expr]:
        """Return a sum of pieces with fitted coefficients, and with a constant if that shortens the description."""
        target, speller = self.position.target, self.pool.speller
        found: list[tuple[float, Expr]] = []
        for columns in (np.vstack([rows, self.position.constant]), rows):
            coefficients, *_ = np.linalg.lstsq(columns.T, target, rcond=1e-12)
            if not np.isfinite(coefficients).all() or not np.all(coefficients[: len(rows)]):
                continue
            left = np.array([np.square(target - coefficients @ columns).sum()])
            summand = float(coefficients[-1]) if len(columns) > len(rows) else 0.0
            expr = speller.sum(list(zip(coefficients[: len(rows)].tolist(), pieces, strict=True)), summand)
            found.append((float(self.bits(left, np.array([float(expr.size)]), len(expr.constants))[0]), expr))
        return [min(found, key=lambda pair: pair[0])[1]] if found else []


@np.errstate(all="ignore")  # pieces that overflow are left out
def best_contents(pool: Pool, position: Position, top: int) -> tuple[list[Expr], int]:
    """Return the contents of a part that fit its position best, `top` of each width, and how many were screened."""
    forest, contents = pool.forest, _Contents(pool, position)
    rows = position.along(pool.values)
    sizes = forest.sizes.astype(np.float64)
    usable = np.flatnonzero(np.abs(rows).max(axis=1, initial=0.0) < LARGEST)  # NaN is not less
    if len(usable) == 0:
        return [], 0
    if not pool.is_free:
        left = np.square(position.target - rows[usable]).sum(axis=1)
        best = usable[np.argsort(contents.bits(left, sizes[usable], 0), kind="stable")[: 3 * top]]
        return [forest[int(k)] for k in best], len(usable)
    sums, n_screened = contents.best_sums(rows[usable], sizes[usable], top)
    places = [usable[list(each.pieces)] for each in sums]
    written = [expr for its in places for expr in contents.written(forest.take(its), rows[its])]
    return list(dict.fromkeys(written)), n_screened


def single_contents(pool: Pool, position: Position, forest: Forest) -> list[Expr]:
    """Return pieces as contents, each with a coefficient, and a constant if that shortens the description."""
    if not pool.is_free:
        return forest.to_exprs()
    rows, contents = position.along(pool.pieces.values_of(forest)), _Contents(pool, position)
    usable = np.flatnonzero(np.isfinite(rows).all(axis=1))
    return [expr for k in usable.tolist() for expr in contents.written(forest.take([k]), rows[[k]])]


@np.errstate(all="ignore")  # products that overflow are left out
def best_products(pool: Pool, position: Position, top: int, rng: np.random.Generator) -> tuple[Forest, int]:
    """Return the best products, or quotients, of other pieces and functions by simple ones, and how many were screened.

    They are ranked by the residual beside a constant, and beside the best single piece.
    """
    known, target = pool.forest, position.target
    operators = [name for name in ("*", "/") if name in pool.library]
    if len(known) == 0 or not operators:
        return known, 0
    name = operators[0 if rng.random() < PRODUCTS else -1]
    plain = np.arange(min(PLAIN, len(known)))
    drawn = np.sort(rng.choice(len(known), min(OTHERS, len(known)), replace=False))
    stock, calls = Stock(Forest.concatenate([known, pool.functions])), (-1, *position.slopes.shape)
    values, function_values = pool.values.reshape(calls), pool.function_values.reshape(calls)
    alone, rows = _orthonormal(position.constant[np.newaxis]), position.along(pool.values)
    beside = rows[_best(rows, alone, target, 1)]  # the best piece
    bases = [alone, _orthonormal(np.vstack([position.constant, beside]))]
    factors = values[plain] if name == "*" else 1 / values[plain]
    found, n_screened = [known.take([])], 0
    others = [(drawn, values[drawn]), (len(known) + np.arange(len(pool.functions)), function_values)]
    for places, other_values in others:
        rows = np.zeros((len(plain), len(places), position.slopes.shape[1]))
        for call, slope in enumerate(position.slopes):
            rows += (factors[:, call] * slope)[:, np.newaxis] * other_values[:, call]
        rows = rows.reshape(len(plain) * len(places), -1)  # the others run fastest
        n_screened += len(rows) * len(bases)
        chosen = np.unique(np.concatenate([_best(rows, basis, target, top) for basis in bases]))
        operator = stock.symbols(np.full(len(chosen), pool.library.ids[name]))
        left, right = (stock.trees(each) for each in (places[chosen % len(places)], plain[chosen // len(places)]))
        found.append(stock.join([operator, left, right]))
    return Forest.concatenate(found).unique(), n_screened


def _orthonormal(rows: Numbers) -> Numbers:
    return np.asarray(np.linalg.qr(rows.T)[0].T)


def _best(rows: Numbers, basis: Numbers, target: Numbers, top: int) -> Indices:
    """Return the indices of the rows that explain most of the residual of the target on a basis."""
    rest = target - (basis @ target) @ basis
    overlaps = rows @ np.vstack([basis, rest]).T
    squares = np.einsum("pr,pr->p", rows, rows)
    own = squares - np.square(overlaps[:, :-1]).sum(axis=1)
    gains = np.where(own > SAME * squares, np.square(overlaps[:, -1]) / own, 0.0)
    gains = np.where(np.isfinite(gains), gains, 0.0)
    best = np.argsort(-gains, kind="stable")[:top]
    return best[gains[best] > 0]
