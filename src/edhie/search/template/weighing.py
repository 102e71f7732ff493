"""Sums of one, two and three pieces that fit a position best, by least squares, without executing anything."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Expr, Forest
from edhie.search.pieces.spelling import Words
from edhie.search.template.pool import Pool
from edhie.search.template.position import Position

Numbers = NDArray[np.float64]
WIDEST = 3  # pieces of a sum
BEAM = 12  # sums that are made wider
SAME = 1e-6  # of a piece's squares: less is left when it is a sum of others
ROUNDING = 1e-24  # of the target's squares


@dataclass(frozen=True, eq=False)
class _Sum:
    pieces: tuple[int, ...]
    basis: Numbers  # (directions, rows), orthonormal: what the sum spans, with the constant
    rest: Numbers  # (rows,): what it leaves of the target
    bits: float


@np.errstate(all="ignore")  # pieces that overflow are left out
def best_contents(pool: Pool, position: Position, top: int) -> tuple[list[Expr], int]:
    """Contents for a part that fit its position best, `top` of each width; how many were weighed."""
    forest = pool.forest
    rows = np.einsum("pcr,cr->pr", pool.values(), position.slopes)
    target, constant = position.target, position.slopes.sum(axis=0)
    sizes = forest.sizes.astype(np.float64)
    usable = np.flatnonzero(np.isfinite(rows).all(axis=1) & (np.abs(rows).max(axis=1, initial=0.0) < 1e100))
    if len(usable) == 0:
        return [], 0
    if not pool.is_free:
        left = np.square(target - rows[usable]).sum(axis=1)
        best = usable[np.argsort(_bits(left, sizes[usable], 0, position, pool), kind="stable")[: 3 * top]]
        return [forest[int(k)] for k in best], len(usable)
    sums, n_weighed = _best_sums(rows[usable], constant, target, sizes[usable], position, pool, top)
    written: dict[Expr, None] = {}
    for each in sums:
        chosen = usable[list(each.pieces)]
        for expr in _written(pool, forest.take(chosen), rows[chosen], position):
            written[expr] = None
    return list(written), n_weighed


def single_contents(pool: Pool, position: Position, forest: Forest) -> list[Expr]:
    """Pieces as contents, each with a coefficient and perhaps a constant."""
    rows = np.einsum("pcr,cr->pr", pool.values_of(forest), position.slopes)
    if not pool.is_free:
        return forest.to_exprs()
    usable = np.flatnonzero(np.isfinite(rows).all(axis=1))
    return [expr for k in usable.tolist() for expr in _written(pool, forest.take([k]), rows[[k]], position)]


def _bits(left: Numbers, sizes: Numbers, n_constants: int, position: Position, pool: Pool) -> Numbers:
    """About how many bits contents take, with what they leave unexplained."""
    n_rows = max(int(position.slopes.any(axis=0).sum()), 2)
    least = ROUNDING * float(position.target @ position.target) or 1e-300
    symbols = math.log2(len(pool.library)) * sizes
    bits: Numbers = 0.5 * n_rows * np.log2(np.maximum(left, least)) + symbols + n_constants * 0.5 * math.log2(n_rows)
    return bits


def _best_sums(
    rows: Numbers, constant: Numbers, target: Numbers, sizes: Numbers, position: Position, pool: Pool, top: int
) -> tuple[list[_Sum], int]:
    lengths = np.linalg.norm(rows, axis=1)
    units = rows / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis]
    first = constant / (np.linalg.norm(constant) or 1.0)
    beam = [_Sum((), first[np.newaxis], target - (first @ target) * first, math.inf)]
    best: list[_Sum] = []
    n_weighed = 0
    for _ in range(WIDEST):
        wider: dict[tuple[int, ...], _Sum] = {}
        n_weighed += len(beam) * len(units)
        for each, overlap in zip(beam, _overlaps(beam, units), strict=True):
            for made in _widened(each, overlap, units, sizes, position, pool, top):
                wider.setdefault(tuple(sorted(made.pieces)), made)
        ranked = sorted(wider.values(), key=lambda made: made.bits)
        best += ranked[:top]
        beam = ranked[:BEAM]
        if not beam:
            break
    return best, n_weighed


def _overlaps(beam: list[_Sum], units: Numbers) -> list[Numbers]:
    """By sum: (pieces, directions + 1), how much pieces have of each direction and of what is left; in one product."""
    every = units @ np.concatenate([np.vstack([each.basis, each.rest]) for each in beam]).T
    ends = np.cumsum([len(each.basis) + 1 for each in beam])
    return np.split(every, ends[:-1], axis=1)


def _widened(
    each: _Sum, overlaps: Numbers, units: Numbers, sizes: Numbers, position: Position, pool: Pool, top: int
) -> list[_Sum]:
    """A sum with the pieces that best go beside it, one at a time."""
    overlap, width = overlaps[:, :-1], len(each.pieces) + 1
    own = 1.0 - np.square(overlap).sum(axis=1)
    gains = np.where(own > SAME, np.square(overlaps[:, -1]) / np.maximum(own, SAME), 0.0)
    left = np.maximum(each.rest @ each.rest - gains, 0.0)
    total = sizes + sizes[list(each.pieces)].sum() + 3 * width  # with coefficients and signs
    bits = np.where(gains > 0, _bits(left, total, width + 1, position, pool), np.inf)
    made = []
    for k in np.argsort(bits, kind="stable")[: max(top, BEAM)].tolist():
        if np.isfinite(bits[k]) and k not in each.pieces:
            direction = units[k] - overlap[k] @ each.basis
            direction /= np.linalg.norm(direction)
            rest = each.rest - (direction @ each.rest) * direction
            made.append(_Sum((*each.pieces, k), np.vstack([each.basis, direction]), rest, float(bits[k])))
    return made


def _written(pool: Pool, pieces: Forest, rows: Numbers, position: Position) -> list[Expr]:
    """A sum of pieces with its coefficients, without its constant where that leaves a shorter description."""
    words, constant = [Words.of(piece) for piece in pieces], position.slopes.sum(axis=0)
    found: list[tuple[float, Expr]] = []
    for columns in (np.vstack([rows, constant]), rows):
        coefficients, *_ = np.linalg.lstsq(columns.T, position.target, rcond=1e-12)
        if not np.isfinite(coefficients).all() or not np.all(coefficients[: len(rows)]):
            continue
        left = np.array([np.square(position.target - coefficients @ columns).sum()])
        summand = float(coefficients[-1]) if len(columns) > len(rows) else 0.0
        pairs = list(zip(coefficients[: len(rows)].tolist(), words, strict=True))
        expr = pool.speller.expr(pool.speller.sum(pairs, summand))
        bits = _bits(left, np.array([float(expr.size)]), len(expr.constants), position, pool)
        found.append((float(bits[0]), expr))
    found.sort(key=lambda pair: pair[0])
    return [expr for _, expr in found[:1]]
