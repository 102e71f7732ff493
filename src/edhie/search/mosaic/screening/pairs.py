"""Pairs of pieces: any two in a frame, a simple piece and a product, and sums of two without coefficients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from edhie.evaluate.constraints import Rules
from edhie.evaluate.data import Data
from edhie.evaluate.parallel import parallel_map
from edhie.evaluate.values import values as values_of
from edhie.expr import Forest
from edhie.expr.splicing import Stock
from edhie.search.arrays import Indices, Numbers, root_weights
from edhie.search.mosaic.config import PlainSums, Screening
from edhie.search.mosaic.frames.frame import Term, shares_of
from edhie.search.mosaic.frames.free_columns import FreeColumns
from edhie.search.mosaic.screening.frame_pool import Finding, FramePool, PooledFrame
from edhie.search.pieces.products import Products
from edhie.search.pieces.rewriting import completed
from edhie.selection.description import Criterion, description_bits


def best_pairs(pool: FramePool, forest: Forest, values: Numbers, top: int) -> tuple[list[Finding], int]:
    """Return the `top` best pairs of pieces in every frame without fixed terms, and how many were screened.

    Pairs are formed of the first pieces of `forest`, the pieces that explain most by themselves, and the elites.
    """
    groups = pool.by_columns([each for each in pool.frames if not each.frame.terms])
    found = parallel_map(lambda each: _best_pairs_in(*each, forest, values, top), groups)
    return [finding for findings, _ in found for finding in findings], sum(n for _, n in found)


def _best_pairs_in(
    free: FreeColumns, group: list[PooledFrame], forest: Forest, values: Numbers, top: int
) -> tuple[list[Finding], int]:
    from edhie.search.mosaic.screening.pair_kernels import best_pairs_of

    pieces, piece_values = _with_elites(forest, values, group)
    regressors, which, is_log = free.regressors(piece_values)
    rest, squares = free.residuals(regressors)
    usable = _paired(rest, squares, which, len(forest), group)
    unit = rest[usable] / np.sqrt(squares[usable])[:, np.newaxis]
    gram = unit @ unit.T
    found: list[Finding] = []
    for pooled in group:
        if pooled.frame.unexplained <= 0:
            continue
        residual = pooled.frame.residual
        dots = unit @ (residual / np.linalg.norm(residual))
        inside = np.flatnonzero(pooled.allowed(pieces, which[usable], is_log[usable]))
        own = gram if len(inside) == len(gram) else np.ascontiguousarray(gram[np.ix_(inside, inside)])
        for cost, *both in best_pairs_of(own, dots[inside], top).tolist():
            if both[0] < 0:
                break
            pair = usable[inside[np.array(both, np.int64)]]
            extra = tuple(Term(pieces.take([which[m]]), piece_values[which[m]], bool(is_log[m])) for m in pair)
            found.append(Finding(pooled, extra, pooled.left_by(min(-cost, 1.0))))
    return found, len(group) * len(usable) * (len(usable) - 1) // 2


def _paired(rest: Numbers, squares: Numbers, which: Indices, n_pieces: int, group: Sequence[PooledFrame]) -> Indices:
    """Return the indices of the regressors that are paired."""
    chosen = (which < Screening.PAIRED_FIRST) | (which >= n_pieces)
    shares = shares_of(rest, squares, [each.frame for each in group])
    most = Screening.PAIRED_BEST // len(group)
    for k in range(len(group)):
        chosen[np.argsort(-shares[:, k], kind="stable")[:most]] = True
    return np.flatnonzero(chosen & (squares > 0))


def _with_elites(forest: Forest, values: Numbers, group: Sequence[PooledFrame]) -> tuple[Forest, Numbers]:
    few, most = [each.elites for each in group], Screening.PAIRED_ELITES
    both = Forest.concatenate([forest, *(each.forest[:most] for each in few)])
    all_values = np.concatenate([values, *(each.values[:most] for each in few)])
    first, _ = both.grouped()
    return both.take(first), all_values[first]


# -- a simple piece and a product -------------------------------------------------------


def best_with_products(
    groups: Sequence[tuple[FreeColumns, list[PooledFrame]]],
    plain: Forest,
    plain_values: Numbers,
    products: Products,
    values: Numbers,
    top: int,
) -> tuple[list[Finding], int]:
    """Return the `top` best pairs of a simple piece and a product in each frame, and how many were screened.

    Pairs are ranked by residual with a penalty on size. `groups` are frames by their free columns, `plain` the simple
    pieces, and `values` those of the pieces that are multiplied.
    """
    from edhie.search.mosaic.screening.pair_kernels import best_with_one_of_few

    n_screened = 0
    found: dict[PooledFrame, list[tuple[float, float, int, int, Numbers]]]  # cost, share, candidate, piece, values
    found = {pooled: [] for _, group in groups for pooled in group}
    # the penalty of a node, log(symbols), in units of n/2·log(residual): a factor of the residual
    price = 2 * math.log(max(len(plain.library), 2)) / values.shape[1]
    weights, plain_weights = np.exp(price * products.sizes), np.exp(price * plain.sizes)
    units = [_units(free, plain_values) for free, _ in groups]

    def screen_in(which: Indices, made: Numbers, place: int) -> int:
        (free, group), unit = groups[place], units[place]
        rest, squares = free.residuals(made * free.row_scale)
        overlap = rest @ unit.T
        own_weights = np.where(unit.any(axis=1), plain_weights, np.inf)
        for pooled in group:
            target = pooled.frame.residual / np.linalg.norm(pooled.frame.residual)
            best = best_with_one_of_few(
                rest @ target, squares, weights[which], overlap, unit @ target, own_weights, top
            )
            pairs = found[pooled]
            for cost, share, i, j in best.tolist():
                if i >= 0:
                    pairs.append((cost, share, int(which[int(i)]), int(j), made[int(i)].copy()))
            pairs.sort(key=lambda pair: pair[0])
            del pairs[top:]
        return len(group) * overlap.size

    for which, made in products.chunks(values):
        n_screened += sum(parallel_map(partial(screen_in, which, made), range(len(groups))))
    findings = []
    for pooled, pairs in found.items():
        for _, share, candidate, k, candidate_values in pairs:
            one = Term(plain.take([k]), plain_values[k], is_log=False)
            other = Term(products.trees(np.array([candidate])), candidate_values, is_log=False)
            findings.append(Finding(pooled, (one, other), pooled.left_by(share)))
    return findings, n_screened


def _units(free: FreeColumns, plain_values: Numbers) -> Numbers:
    """Return the residuals of simple pieces after the free columns, normalised; zeros if the columns explain all."""
    rest, squares = free.residuals(plain_values * free.row_scale)
    with np.errstate(all="ignore"):
        return np.where((squares > 0)[:, np.newaxis], rest / np.sqrt(squares)[:, np.newaxis], 0.0)


# -- sums and differences without coefficients, for libraries in which numbers cannot be written ----


def plain_sums(
    pieces: Forest, data: Data, rules: Rules | None = None, criterion: Criterion | None = None
) -> tuple[Forest, int]:
    """Return the pieces, sums and differences with the shortest descriptions, and how many sums were screened.

    Description lengths are computed for those nearest to the target, by absolute and by relative errors. Expressions
    that `rules` forbid are left out.
    """
    found, n_screened = _nearest_sums(pieces[: PlainSums.PIECES], data)
    if rules is not None:
        found = found.take(rules.allowed(completed(found, rules)))
    bits = description_bits(found, data, criterion, below=-np.inf)
    best = np.argsort(bits, kind="stable")[: PlainSums.KEPT]
    return found.take(best[np.isfinite(bits[best])]), n_screened


def _nearest_sums(forest: Forest, data: Data) -> tuple[Forest, int]:
    from edhie.search.mosaic.screening.pair_kernels import best_sums

    library, top = forest.library, PlainSums.NEAREST
    if len(forest) == 0:
        return forest, 0
    rows_of = values_of(forest, data.columns)
    scales = [root_weights(data)]
    if (data.y != 0).all():
        scales.append(scales[0] / np.abs(data.y))
    stock, found, n_screened = Stock(forest), [forest.take([])], 0
    for scale in scales:
        with np.errstate(all="ignore"):
            rows, target = rows_of * scale, data.y * scale
            rows = np.where(np.abs(rows) < PlainSums.LARGEST, rows, np.nan)
            gram, dots = rows @ rows.T, rows @ target
        usable = np.flatnonzero(np.isfinite(np.diag(gram)) & np.isfinite(dots))
        gram, dots = np.ascontiguousarray(gram[np.ix_(usable, usable)]), dots[usable]
        alone = np.argsort(np.diag(gram) - 2 * dots, kind="stable")[:top]
        found.append(forest.take(usable[alone]))
        if "+" not in library or "-" not in library:
            continue
        best = best_sums(gram, dots, float(target @ target), top)
        n_screened += 3 * len(usable) * (len(usable) - 1) // 2
        first, second, signs = best[best[:, 1] >= 0, 1:].astype(np.int64).T
        operator = np.where(signs > 0, library.ids["+"], library.ids["-"])
        left, right = usable[first], usable[second]
        found.append(stock.join([stock.symbols(operator), stock.trees(left), stock.trees(right)]))
    return Forest.concatenate(found).unique(), n_screened
