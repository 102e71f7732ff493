"""Places remember what was weighed; singles, pairs and products that are found leave what they say."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.search.mosaic.frames.frame import Laid, weigh
from edhie.search.mosaic.weighing.frame_pool import SURE, FramePool
from edhie.search.mosaic.weighing.layers import DEEPEST, lay
from edhie.search.pieces.piece_pool import PiecePool
from edhie.search.pieces.products import Products
from mosaics import Numbers, data_of, forest_of, frames_of, free, positive

LIBRARY = free()
X = positive(2, 100)
TEXTS = ("x0", "x1", "sin(x0)", "cos(x1)", "exp(x0)", "log(x1)", "sin(x1)", "x0^3")
FOREST = forest_of(LIBRARY, *TEXTS)
VALUES = values(FOREST, X)


def board_of(y: Numbers, link: str = "y", *, is_product: bool = False) -> FramePool:
    board = FramePool(LIBRARY, 100, 20)
    for frame in frames_of(data_of(X, y), LIBRARY, link, is_product=is_product):
        board.put(frame)
    return board


def test_weighing_gives_every_place_its_best() -> None:
    board = board_of(3 * np.sin(X[0]) + np.log(X[1]))
    board.weigh(FOREST, VALUES)
    for place in board.places:
        shares = weigh(VALUES, place.frame.block, [place.frame]).shares[:, 0]
        assert place.elites.shares[0] == pytest.approx(shares.max())
        assert place.elites.forest[0] == FOREST[int(np.argmax(shares))]
    board.weigh(forest_of(LIBRARY), np.empty((0, 100)))


def test_singles_are_told_once() -> None:
    board = board_of(np.sin(X[0]) + 2)
    board.weigh(FOREST, VALUES)
    found = board.singles(2)
    sure = [each for each in found if each.left <= SURE]
    assert sure
    assert all(str(each.extra[0].piece[0]) == "sin(x0)" for each in sure if len(each.place.frame.block.exponents) == 1)
    assert not board.singles(2)
    assert not board.singles(0)


def test_pairs_leave_what_both_leave_in_the_frame() -> None:
    board = board_of(np.sin(X[0]) - 2 * np.cos(X[1]) + 1)
    found, n_weighed = board.pairs(FOREST, VALUES, 3)
    assert n_weighed > 0
    for each in found:
        frame = each.place.frame
        for laid in each.extra:
            frame = frame.with_laid(laid)
        assert each.left == pytest.approx(frame.unexplained, rel=1e-5, abs=1e-10)
    best = min((each for each in found if len(each.place.frame.block.exponents) == 1), key=lambda each: each.left)
    assert {str(laid.piece[0]) for laid in best.extra} == {"sin(x0)", "cos(x1)"}


def test_products_and_quotients_are_offered() -> None:
    for y, text in ((np.sin(X[0]) * np.cos(X[1]), "sin(x0)*cos(x1)"), (np.exp(X[0]) / np.sin(X[1]), "exp(x0)/sin(x1)")):
        board = board_of(2 * y + 1)
        assert board.products(Products.among(FOREST), VALUES) > 60
        plain = board.places[0].elites
        assert str(plain.forest[0]) == text
        np.testing.assert_allclose(plain.values[0], y)
        assert plain.shares[0] == pytest.approx(1)
    assert board.products(Products.among(forest_of(LIBRARY)), np.empty((0, 100))) == 0


def test_layers_grow_from_roots_and_are_few() -> None:
    board = board_of(np.sin(X[0]) + np.exp(X[0]) / X[1] + np.cos(X[1]) ** 2)
    roots = list(board.places)
    pieces = PiecePool(LIBRARY, X, 100, np.ones(len(LIBRARY)))
    board.weigh(*pieces.execute(FOREST))
    n_frames = len(roots) + 12
    for seed in range(6):
        for k, place in enumerate(board.places):
            place.error = k + seed
        lay(board, pieces, n_frames, np.random.default_rng(seed))
        assert board.places[: len(roots)] == roots
        grown = board.places[len(roots) :]
        assert grown
        assert len({place.frame.key for place in grown}) == len(grown) <= n_frames
        for place in grown:
            assert 1 <= len(place.frame.laid) <= DEEPEST
            root = roots[place.root].frame
            assert (place.frame.link, place.frame.block) == (root.link, root.block)
            assert place.frame.unexplained <= root.unexplained * (1 + 1e-9)
            assert len(place.elites)
    assert max(len(place.frame.laid) for place in board.places) > 1


def test_a_piece_that_is_laid_explains_nothing_more() -> None:
    board = board_of(np.sin(X[0]) + np.exp(X[0]) / X[1])
    frame = board.places[0].frame.with_laid(Laid(FOREST.take([2]), VALUES[2], False))
    place = board.put(frame, 0)
    board.weigh(FOREST, VALUES, [place])
    assert "sin(x0)" not in set(map(str, place.elites.forest))
    assert not len(board.places[0].elites)
