"""Sums and differences of two pieces without coefficients, for libraries in which numbers cannot be written."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.constraints import Rules
from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.results.description import Criterion, description_bits
from edhie.search.mosaic.config import PlainSums
from edhie.search.mosaic.fitting.constraint_repairs import completed
from edhie.search.pieces.splicing import Stock


def plain_sums(
    pieces: Forest, data: Data, rules: Rules | None = None, criterion: Criterion | None = None
) -> tuple[Forest, int]:
    """Return the pieces, sums and differences with the shortest descriptions, and how many sums were weighed.

    The nearest to the target are described: by absolute and by relative errors. What `rules` forbid is left out.
    """
    found, n_weighed = _nearest_sums(pieces.take(np.arange(min(len(pieces), PlainSums.PIECES))), data)
    if rules is not None:
        found = found.take(rules.allowed(completed(found, rules)))
    bits = description_bits(found, data, criterion)
    best = np.argsort(bits, kind="stable")[: PlainSums.KEPT]
    return found.take(best[np.isfinite(bits[best])]), n_weighed


def _nearest_sums(forest: Forest, data: Data) -> tuple[Forest, int]:
    from edhie.search.mosaic.weighing.pair_kernels import best_sums

    library, top = forest.library, PlainSums.NEAREST
    if len(forest) == 0:
        return forest, 0
    rows_of = values(forest, data.columns)
    scales = [np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)]
    if (data.y != 0).all():
        scales.append(scales[0] / np.abs(data.y))
    stock, found, n_weighed = Stock(forest), [forest.take([])], 0
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
        _, first, second, signs = best_sums(gram, dots, float(target @ target), top)
        n_weighed += 3 * len(usable) * (len(usable) - 1) // 2
        kept = np.flatnonzero(first >= 0)
        operator = np.where(signs[kept] > 0, library.ids["+"], library.ids["-"])
        left, right = usable[first[kept]], usable[second[kept]]
        found.append(stock.join([stock.symbols(operator), stock.trees(left), stock.trees(right)]))
    return Forest.concatenate(found).unique(), n_weighed
