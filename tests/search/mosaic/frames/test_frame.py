"""What a piece is worth is what least squares say: the share of the residual that it explains beside all the rest."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.search.mosaic.frames.frame import IDENTITY, Frame, Term, screen
from edhie.search.mosaic.frames.free_columns import FreeColumns, logarithm_columns, polynomial_columns
from mosaics import Numbers, forest_of, free

RNG = np.random.default_rng(0)
N = 60
LIBRARY = free(2)
VARIABLES = RNG.uniform(0.5, 3, (2, N))
Y = np.sin(VARIABLES[0]) * VARIABLES[1] + 4 + 0.3 * RNG.normal(size=N)
PIECES = np.concatenate([RNG.normal(size=(6, N)), VARIABLES, [np.exp(VARIABLES[0]), np.full(N, 3.0)]])
PIECE = forest_of(LIBRARY, "x0")  # which one does not matter here


def frame_of(*, is_product: bool, is_scaled: bool, n_terms: int) -> Frame:
    scale = RNG.uniform(0.2, 3, N) if is_scaled else np.ones(N)
    block = (logarithm_columns if is_product else polynomial_columns)(VARIABLES, scale)
    terms = tuple(Term(PIECE, RNG.normal(size=N), is_product and k % 2 == 0) for k in range(n_terms))
    return Frame(IDENTITY, block, (0, 0), np.log(np.abs(Y)) if is_product else Y, 1.0, terms)


def left(columns: Numbers, target: Numbers) -> float:
    found = np.linalg.lstsq(columns.T, target, rcond=1e-12)[0]
    return float(np.square(target - found @ columns).sum())


def free_columns(frame: Frame) -> Numbers:
    block: FreeColumns = frame.free
    terms = [each.regressor(block) for each in frame.terms]
    return np.concatenate([block.columns * block.row_scale, np.array(terms).reshape(-1, N)])


@pytest.mark.parametrize("n_terms", [0, 1, 3])
@pytest.mark.parametrize("is_scaled", [False, True])
@pytest.mark.parametrize("is_product", [False, True])
def test_shares_are_those_of_least_squares(is_product: bool, is_scaled: bool, n_terms: int) -> None:
    frame = frame_of(is_product=is_product, is_scaled=is_scaled, n_terms=n_terms)
    columns, target = free_columns(frame), frame.target * frame.free.row_scale
    before = left(columns, target)
    ones = frame.free.row_scale[np.newaxis]
    assert frame.unexplained == pytest.approx(before / left(ones, target), rel=1e-8)
    every, logs, shares = screen(PIECES, frame.free, [frame])
    for k, (which, is_log) in enumerate(zip(every, logs, strict=True)):
        values = np.log(np.abs(PIECES[which])) if is_log else PIECES[which]
        gain = 1 - left(np.concatenate([columns, [values * frame.free.row_scale]]), target) / before
        assert shares[k, 0] == pytest.approx(gain, abs=1e-8)


def test_many_frames_are_screened_as_each_alone() -> None:
    block = polynomial_columns(VARIABLES, np.ones(N))
    targets = [Y, Y**2, np.cos(Y)]
    frames = [Frame(IDENTITY, block, (0, 0), target, 1.0) for target in targets]
    frames.append(frames[0].with_term(Term(PIECE, PIECES[0], False)))
    every = screen(PIECES, block, frames)[2]
    for k, frame in enumerate(frames):
        np.testing.assert_allclose(every[:, k], screen(PIECES, block, [frame])[2][:, 0], rtol=1e-9, atol=1e-15)
    assert every[0, -1] == 0  # it is fixed already


def test_the_right_piece_explains_all() -> None:
    block = polynomial_columns(VARIABLES, np.ones(N))
    piece = np.sin(7 * VARIABLES[0])
    frame = Frame(IDENTITY, block, (0, 0), 2 * VARIABLES[0] - 1 + 5 * piece, 1.0)
    assert screen(piece[np.newaxis], block, [frame])[2][0, 0] == pytest.approx(1, abs=1e-12)
    assert frame.with_term(Term(PIECE, piece, False)).unexplained < 1e-20


def test_a_piece_fixed_twice_is_one_direction() -> None:
    block = polynomial_columns(VARIABLES, np.ones(N))
    term = Term(PIECE, PIECES[0], False)
    once = Frame(IDENTITY, block, (0, 0), Y, 1.0, (term,))
    twice = once.with_term(Term(PIECE, VARIABLES[0], False))  # a column of the block
    np.testing.assert_allclose(twice.residual, once.residual, atol=1e-6)
    assert once.key != twice.key
    assert once.key == Frame(IDENTITY, block, (0, 0), Y, 1.0, (term,)).key


def test_a_target_without_anything_to_explain() -> None:
    block = polynomial_columns(VARIABLES, np.ones(N), most=1)
    frame = Frame(IDENTITY, block, (0, 0), np.full(N, 2.0), 1.0)
    assert frame.unexplained == 0.0
    assert np.isfinite(screen(PIECES, block, [frame])[2]).all()
