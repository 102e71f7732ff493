"""Products and quotients of two pieces, weighed for a position in closed form; the best become pieces themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.pieces.splicing import Stock
from edhie.search.template.pool import Pool
from edhie.search.template.position import Position

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
PLAIN, OTHERS = 16, 250  # pieces that are multiplied with each other: the plainest, with some of all
SHARE = 0.7  # of products; the others are quotients
SAME = 1e-6  # of a piece's squares: less is left when it is a sum of others


@np.errstate(all="ignore")  # products that overflow are left out
def best_products(pool: Pool, position: Position, top: int, rng: np.random.Generator) -> tuple[Forest, int]:
    """Products or quotients, with shapes and with any pieces, that do best; how many were weighed."""
    known, n_weighed = pool.forest, 0
    operators = [name for name in ("*", "/") if name in pool.library]
    found = [known.take([])]
    if len(known) == 0 or not operators:
        return known, 0
    name = operators[0 if rng.random() < SHARE else -1]
    values = pool.values()
    plain = np.arange(min(PLAIN, len(known)))
    drawn = np.sort(rng.choice(len(known), min(OTHERS, len(known)), replace=False))
    bases = _bases(values, position)
    stock = Stock(Forest.concatenate([known, pool.shapes]))
    others = [(drawn, values[drawn]), (len(known) + np.arange(len(pool.shapes)), pool.shape_values())]
    factors = values[plain] if name == "*" else 1 / values[plain]
    for places, other_values in others:
        rows = _crossed(factors, other_values, position.slopes)
        n_weighed += len(rows) * len(bases)
        chosen = np.unique(np.concatenate([_best(rows, basis, position.target, top) for basis in bases]))
        operator = stock.symbols(np.full(len(chosen), pool.library.ids[name]))
        left, right = (stock.trees(each) for each in (places[chosen % len(places)], plain[chosen // len(places)]))
        found.append(stock.join([operator, left, right]))
    return Forest.concatenate(found).unique(), n_weighed


def _crossed(factors: Numbers, others: Numbers, slopes: Numbers) -> Numbers:
    """(factors × others, rows): what each product comes to in the position, the others running fastest."""
    rows = np.zeros((len(factors), len(others), slopes.shape[1]))
    for call, slope in enumerate(slopes):
        rows += (factors[:, call] * slope)[:, np.newaxis] * others[:, call]
    return rows.reshape(len(factors) * len(others), -1)


def _bases(values: Numbers, position: Position) -> list[Numbers]:
    """The constant alone, and with the piece that does best beside it: orthonormal rows."""
    constant = position.slopes.sum(axis=0)
    alone = _orthonormal(constant[np.newaxis])
    rows = np.einsum("pcr,cr->pr", values, position.slopes)
    best = _best(rows, alone, position.target, 1)
    return [alone, _orthonormal(np.vstack([constant, rows[best]]))]


def _orthonormal(rows: Numbers) -> Numbers:
    found: Numbers = np.linalg.qr(rows.T)[0].T
    return found


def _best(rows: Numbers, basis: Numbers, target: Numbers, top: int) -> Indices:
    """The rows that explain most of what a basis leaves of the target."""
    rest = target - (basis @ target) @ basis
    overlaps = rows @ np.vstack([basis, rest]).T
    squares = np.einsum("pr,pr->p", rows, rows)
    own = squares - np.square(overlaps[:, :-1]).sum(axis=1)
    gains = np.where(own > SAME * squares, np.square(overlaps[:, -1]) / own, 0.0)
    gains = np.where(np.isfinite(gains), gains, 0.0)
    best = np.argsort(-gains, kind="stable")[:top]
    return best[gains[best] > 0]
