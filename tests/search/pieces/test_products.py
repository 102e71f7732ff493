"""Products and quotients of pieces: their values are those of the trees that they would be written as."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.search.mosaic.screening.frame_pool import FramePool
from edhie.search.mosaic.screening.pairs import best_with_products
from edhie.search.pieces import products
from edhie.search.pieces.products import Products
from mosaics import data_of, forest_of, frames_of, free, positive

LIBRARY = free()
X = positive(2, 60)
FEW = forest_of(LIBRARY, "x0", "x1^2", "x0*x1")
SHAPED = forest_of(LIBRARY, "sin(x0)", "exp(x1)", "x0 - x0", "log(x0)", "cos(x1)")
BOTH = Forest.concatenate([FEW, SHAPED])


@pytest.mark.parametrize("chunk", [3, 2048])
def test_values_are_those_of_the_trees(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "CHUNK", chunk)
    crossed = Products.between(FEW, SHAPED)
    assert len(crossed) == len(BOTH) + 2 * len(FEW) * len(SHAPED)
    seen = []
    for which, made in crossed.chunks(values(BOTH, X)):
        trees = crossed.trees(which)
        np.testing.assert_array_equal(trees.sizes, crossed.sizes[which])
        np.testing.assert_allclose(made, values(trees, X), rtol=1e-12)
        seen += which.tolist()
    by_zero = {k for k, tree in enumerate(crossed.trees(np.arange(len(crossed)))) if str(tree).endswith("/(x0 - x0)")}
    assert len(by_zero) == len(FEW)
    assert set(seen) == set(range(len(crossed))) - by_zero


def test_all_pairs_of_pieces_are_crossed() -> None:
    crossed = Products.among(FEW)
    texts = [str(tree) for tree in crossed.trees(np.arange(len(crossed)))]
    assert len(texts) == len(set(texts)) == 6 + 6
    assert len(Products.among(forest_of(LIBRARY))) == 0


def test_the_best_pair_beside_a_plain_piece_is_found_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    y = 3 * X[1] ** 2 - 2 * X[0] * np.sin(X[0]) + 1
    pool = FramePool(LIBRARY, X.shape[1], 10)
    for frame in frames_of(data_of(X, y), LIBRARY):
        pool.add(frame)
    lean = [each for each in pool.frames if each.is_lean and not each.frame.free.is_product]
    answers = []
    for chunk in (4, 2048):
        monkeypatch.setattr(products, "CHUNK", chunk)
        crossed = Products.between(FEW, SHAPED)
        groups = list(pool.by_columns(lean))
        found, n_screened = best_with_products(groups, FEW, values(FEW, X), crossed, values(BOTH, X), top=2)
        assert n_screened > 0
        mine = [each for each in found if each.pooled is lean[0]]
        assert len(mine) == 2
        assert {str(term.piece[0]) for term in mine[0].extra} == {"x1^2", "x0*sin(x0)"}
        assert mine[0].left < 1e-12
        answers.append([(each.left, [str(term.piece[0]) for term in each.extra]) for each in found])
    assert answers[0] == answers[1]


def test_chunks_without_finite_values_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all pieces vanish in one row, no quotient has finite values."""
    monkeypatch.setattr(products, "CHUNK", 2)
    zero = values(FEW, X).copy()
    zero[:, 0] = 0.0
    sizes = [len(which) for which, _ in Products.among(FEW).chunks(zero)]
    assert sum(sizes) == 6  # the products
    assert min(sizes) > 0
