"""Frames keep the best that was screened; singles, pairs and products that are found leave what they say."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.search.mosaic.config import Screening
from edhie.search.mosaic.frames.frame import Term, screen
from edhie.search.mosaic.screening.frame_pool import FramePool
from edhie.search.mosaic.screening.pairs import best_pairs
from edhie.search.pieces.piece_pool import PiecePool
from edhie.search.pieces.products import Products
from mosaics import Numbers, data_of, forest_of, frames_of, free, positive

LIBRARY = free()
X = positive(2, 100)
TEXTS = ("x0", "x1", "sin(x0)", "cos(x1)", "exp(x0)", "log(x1)", "sin(x1)", "x0^3")
FOREST = forest_of(LIBRARY, *TEXTS)
VALUES = values(FOREST, X)


def pool_of(y: Numbers, link: str = "y", *, is_product: bool = False) -> FramePool:
    pool = FramePool(LIBRARY, 100, 20)
    for frame in frames_of(data_of(X, y), LIBRARY, link, is_product=is_product):
        pool.add(frame)
    return pool


def test_screening_gives_every_place_its_best() -> None:
    pool = pool_of(3 * np.sin(X[0]) + np.log(X[1]))
    pool.screen(FOREST, VALUES)
    for pooled in pool.frames:
        shares = screen(VALUES, pooled.frame.free, [pooled.frame])[2][:, 0]
        assert pooled.elites.shares[0] == pytest.approx(shares.max())
        assert pooled.elites.forest[0] == FOREST[int(np.argmax(shares))]
    pool.screen(forest_of(LIBRARY), np.empty((0, 100)))


def test_singles_are_told_once() -> None:
    pool = pool_of(np.sin(X[0]) + 2)
    pool.screen(FOREST, VALUES)
    found = pool.singles(2)
    sure = [each for each in found if each.left <= Screening.SURE]
    assert sure
    assert all(str(each.extra[0].piece[0]) == "sin(x0)" for each in sure if len(each.pooled.frame.free.exponents) == 1)
    assert not pool.singles(2)
    assert not pool.singles(0)


def test_pairs_leave_what_both_leave_in_the_frame() -> None:
    pool = pool_of(np.sin(X[0]) - 2 * np.cos(X[1]) + 1)
    found, n_screened = best_pairs(pool, FOREST, VALUES, 3)
    assert n_screened > 0
    for each in found:
        frame = each.pooled.frame
        for term in each.extra:
            frame = frame.with_term(term)
        assert each.left == pytest.approx(frame.unexplained, rel=1e-5, abs=1e-10)
    best = min((each for each in found if len(each.pooled.frame.free.exponents) == 1), key=lambda each: each.left)
    assert {str(term.piece[0]) for term in best.extra} == {"sin(x0)", "cos(x1)"}


def test_products_and_quotients_are_offered() -> None:
    for y, text in ((np.sin(X[0]) * np.cos(X[1]), "sin(x0)*cos(x1)"), (np.exp(X[0]) / np.sin(X[1]), "exp(x0)/sin(x1)")):
        pool = pool_of(2 * y + 1)
        assert pool.screen_products(Products.among(FOREST), VALUES) > 60
        plain = pool.frames[0].elites
        assert str(plain.forest[0]) == text
        np.testing.assert_allclose(plain.values[0], y)
        assert plain.shares[0] == pytest.approx(1)
    assert pool.screen_products(Products.among(forest_of(LIBRARY)), np.empty((0, 100))) == 0


def test_frames_with_fixed_terms_grow_from_roots_and_are_few() -> None:
    pool = pool_of(np.sin(X[0]) + np.exp(X[0]) / X[1] + np.cos(X[1]) ** 2)
    roots = list(pool.frames)
    pieces = PiecePool(LIBRARY, X, 100, np.ones(len(LIBRARY)))
    pool.screen(*pieces.execute(FOREST))
    n_frames = len(roots) + 12
    for seed in range(6):
        for k, pooled in enumerate(pool.frames):
            pooled.bits = k + seed
        pool.fix_terms(pieces.forest, pieces.values, n_frames, np.random.default_rng(seed))
        assert pool.frames[: len(roots)] == roots
        grown = pool.frames[len(roots) :]
        assert grown
        assert len({pooled.frame.key for pooled in grown}) == len(grown) <= n_frames
        for pooled in grown:
            assert 1 <= len(pooled.frame.terms) <= Screening.DEEPEST
            root = roots[pooled.root].frame
            assert (pooled.frame.link, pooled.frame.free) == (root.link, root.free)
            assert pooled.frame.unexplained <= root.unexplained * (1 + 1e-9)
            assert len(pooled.elites)
    assert max(len(pooled.frame.terms) for pooled in pool.frames) > 1


def test_a_piece_that_is_fixed_explains_nothing_more() -> None:
    pool = pool_of(np.sin(X[0]) + np.exp(X[0]) / X[1])
    frame = pool.frames[0].frame.with_term(Term(FOREST.take([2]), VALUES[2], False))
    pooled = pool.add(frame, 0)
    pool.screen(FOREST, VALUES, [pooled])
    assert "sin(x0)" not in set(map(str, pooled.elites.forest))
    assert not len(pool.frames[0].elites)
