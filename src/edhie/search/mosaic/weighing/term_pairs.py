"""Pairs of a plain piece and a less plain one: what a formula of two terms is most often made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.mosaic.frames.frame import Laid
from edhie.search.mosaic.frames.free_columns import FreeColumns
from edhie.search.mosaic.weighing.frame_pool import Finding, PooledFrame
from edhie.search.pieces.products import Products

Numbers = NDArray[np.float64]


class _Pair(NamedTuple):
    """A candidate beside a plain piece; the lower the cost, the better both describe the target."""

    cost: float
    share: float
    candidate: int
    plain: int
    values: Numbers  # of the candidate


def best_beside(
    groups: Sequence[tuple[FreeColumns, list[PooledFrame]]],
    plain: Forest,
    plain_values: Numbers,
    crossed: Products,
    values: Numbers,
    top: int,
) -> tuple[list[Finding], int]:
    """By place the pairs of a plain piece and a candidate that describe its target best; how many were weighed.

    Places come by block; `values` are those of the candidates' stock.
    """
    from edhie.search.mosaic.weighing.pair_kernels import best_with_one_of_few

    n_weighed = 0
    found: dict[int, tuple[PooledFrame, list[_Pair]]] = {
        id(place): (place, []) for _, group in groups for place in group
    }
    weights = _prices(crossed.sizes, plain, values)
    settings = [(block, group, *_units(block, plain, plain_values)) for block, group in groups]
    for which, made in crossed.chunks(values):
        for block, group, units, plain_weights in settings:
            rest, squares = block.residuals(made * block.row_scale)
            overlap = rest @ units.T
            n_weighed += len(group) * overlap.size
            for place in group:
                target = place.frame.residual / np.linalg.norm(place.frame.residual)
                best = best_with_one_of_few(
                    rest @ target, squares, weights[which], overlap, units @ target, plain_weights, top
                )
                pairs = found[id(place)][1]
                pairs += [_Pair(cost, share, int(which[i]), j, made[i].copy()) for cost, share, i, j in zip(
                    *(each.tolist() for each in best), strict=True) if i >= 0]  # fmt: skip
                pairs.sort(key=lambda pair: pair.cost)
                del pairs[top:]
    return [
        _finding(place, pair, plain, plain_values, crossed) for place, its in found.values() for pair in its
    ], n_weighed


def _prices(sizes: NDArray[np.int64], plain: Forest, values: Numbers) -> Numbers:
    """What nodes cost, as a factor of what is left: as many bits as that would have to save, n/2·log2(rest)."""
    found: Numbers = np.exp(2 * math.log(max(len(plain.library), 2)) / values.shape[1] * sizes)
    return found


def _units(block: FreeColumns, plain: Forest, plain_values: Numbers) -> tuple[Numbers, Numbers]:
    """What a block leaves of each plain piece, at length 1, and the prices; infinite where it leaves nothing."""
    rest, squares = block.residuals(plain_values * block.row_scale)
    is_new = squares > 0
    rest[is_new] /= np.sqrt(squares[is_new])[:, np.newaxis]
    return rest, np.where(is_new, _prices(plain.sizes, plain, plain_values), np.inf)


def _finding(place: PooledFrame, pair: _Pair, plain: Forest, plain_values: Numbers, crossed: Products) -> Finding:
    extra = (
        Laid(plain.take([pair.plain]), plain_values[pair.plain], is_log=False),
        Laid(crossed.trees(np.array([pair.candidate])), pair.values, is_log=False),
    )
    return Finding(place, extra, place.left_by(pair.share))
