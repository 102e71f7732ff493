"""Where a frame's target is an exact combination, what is written for it has no error but rounding."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.data import Data
from edhie.expr import SymbolLibrary
from edhie.search.mosaic.frames.frame import IDENTITY, LINKS, Frame, Link, Term
from edhie.search.mosaic.frames.free_columns import polynomial_columns, polynomial_of_degree
from edhie.search.mosaic.writing.frame_writer import FrameWriter
from mosaics import Numbers, data_of, frames_of, free, misses, positive, strict, term_of

X = positive(2, 120)
A, B = X
ROUNDING = 1e-7
both = pytest.mark.parametrize("library", [free(), strict()], ids=["free", "strict"])


def least_miss(
    data: Data,
    library: SymbolLibrary,
    link: str = "y",
    *extra: Term,
    is_product: bool = False,
    scale: tuple[int, ...] = (0, 0),
) -> float:
    """The least error of what the frames of a link write."""
    frames = [frame for frame in frames_of(data, library, link, is_product=is_product) if frame.scale == scale]
    assert frames
    written = [expr for frame in frames for expr in FrameWriter(library).write(frame, extra)]
    assert all(set(expr.tokens) <= set(library.names) for expr in written)
    return float(misses(written, data, library).min()) if written else np.inf


def target_through(link: Link, inner: Numbers) -> Numbers:
    y = link.undo(inner)
    assert link.holds(y)
    return y


@both
@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_polynomials_through_every_link(link: Link, library: SymbolLibrary) -> None:
    inner = (A + B) / 6 if link.head in (("asin",), ("acos",), ("atan",)) else 3 * A * B - A + 2 * B**2 + 1
    assert least_miss(data_of(X, target_through(link, inner)), library, link.name) < ROUNDING


@both
@pytest.mark.parametrize("name", ["y^2", "1/y^2", "1/y", "y"])
def test_a_negative_target(name: str, library: SymbolLibrary) -> None:
    link = next(link for link in LINKS if link.name == name)
    assert least_miss(data_of(X, -target_through(link, 2 * A + B**2)), library, name) < ROUNDING


@both
@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_a_piece_beside_columns(link: Link, library: SymbolLibrary) -> None:
    piece = term_of(library, "sin(x0*x1)", X)
    y = target_through(link, (piece.values + A + 1.5) / 6)
    assert least_miss(data_of(X, y), library, link.name, piece) < ROUNDING


@both
@pytest.mark.parametrize(("powers", "factor"), [
    ((1, 1), 1.0), ((3, -1), 2.0), ((-2, 0.5), 3.0), ((0.5, 0.5), 1.0), ((-1.5, 2), 0.5), ((0, -3), 1.0),
    ((2.5, 0), -2.0),
])  # fmt: skip
@pytest.mark.parametrize("signs", [(1, 1), (-1, 1), (-1, -1)])
def test_products_of_powers(
    powers: tuple[float, float], factor: float, signs: tuple[int, int], library: SymbolLibrary
) -> None:
    columns = X * np.array(signs)[:, np.newaxis]
    y = factor * np.prod(
        [column**e if e == round(e) else np.abs(column) ** e for column, e in zip(columns, powers, strict=True)], axis=0
    )
    assert least_miss(data_of(columns, y), library, is_product=True) < ROUNDING


@both
def test_products_of_variables_that_change_their_sign(library: SymbolLibrary) -> None:
    columns = np.random.default_rng(0).normal(size=(2, 120))
    for y in (columns[0] * columns[1] ** 2, -(columns[0] ** 3) / columns[1], columns[0] ** 2 * columns[1] ** -2):
        assert least_miss(data_of(columns, y), library, is_product=True) < ROUNDING


@both
def test_factors_and_exponents_that_are_pieces(library: SymbolLibrary) -> None:
    factor = term_of(library, "sin(x0) + x1", X, is_log=True)
    for e in (1, -1, 2, 0.5, -3):
        y = 2 * factor.values**e * A**2
        assert least_miss(data_of(X, y), library, "y", factor, is_product=True) < ROUNDING
    below = term_of(library, "x0 - x0 - exp(x1)", X, is_log=True)
    for e in (1, 3, 0.5, -1.5):
        y = -3 * np.abs(below.values) ** e * B
        assert least_miss(data_of(X, y), library, "y", below, is_product=True) < ROUNDING
    exponent = term_of(library, "sin(x0)", X)
    assert least_miss(data_of(X, A * np.exp(-exponent.values)), library, "y", exponent, is_product=True) < ROUNDING


@pytest.mark.parametrize("name", ["sin(y)", "cos(y)", "tan(y)"])
@both
def test_products_through_links(name: str, library: SymbolLibrary) -> None:
    link = next(link for link in LINKS if link.name == name)
    y = target_through(link, np.sqrt(A * B) / 4)
    assert least_miss(data_of(X, y), library, name, is_product=True) < ROUNDING


@both
@pytest.mark.parametrize(("name", "sign"), [("y", 1), ("1/y", 1), ("y^2", 1), ("y^2", -1), ("1/y^2", -1)])
def test_scales_are_taken_off(name: str, sign: int, library: SymbolLibrary) -> None:
    link = next(link for link in LINKS if link.name == name)
    y = sign * link.undo((A**2 + 3 * B + 1) * A / B**2)
    data = data_of(X, y)
    target = link.apply(y) * B**2 / A
    block = polynomial_columns(X, np.ones(120))
    frame = Frame(link, block, (-1, 2), target, -1.0 if link.is_even and sign < 0 else 1.0)
    assert misses(FrameWriter(library).write(frame), data, library).min() < ROUNDING
    tried = [frame for frame in frames_of(data, library, name) if any(frame.scale)]
    written = [expr for frame in tried for expr in FrameWriter(library).write(frame)]
    assert misses(written, data, library).min() < ROUNDING


@both
def test_fixed_terms_are_written_too(library: SymbolLibrary) -> None:
    pieces = [term_of(library, text, X) for text in ("sin(x0)", "cos(x1)", "exp(x0)")]
    data = data_of(X, pieces[0].values - 2 * pieces[1].values + pieces[2].values + A)
    frame = frames_of(data, library)[0].with_term(pieces[0]).with_term(pieces[1])
    found = misses(FrameWriter(library).write(frame, [pieces[2], term_of(library, "x0", X)]), data, library)
    assert found.min() < ROUNDING


@both
def test_weights_do_not_change_what_is_exact(library: SymbolLibrary) -> None:
    weights = np.random.default_rng(0).uniform(0, 2, 120) * (np.arange(120) % 5 > 0)
    assert least_miss(data_of(X, A**2 - 3 * B + 1, weights), library) < ROUNDING


def test_whole_coefficients_where_no_others_can_be_written() -> None:
    library, noise = strict(), 0.02 * np.random.default_rng(0).normal(size=120)
    data = data_of(X, 2 * A**2 - 3 * B + 1)
    noisy = data_of(X, data.y + noise)
    frame = Frame(IDENTITY, polynomial_of_degree(X, 2), (0, 0), noisy.y, 1.0)
    written = FrameWriter(library).write_integers(frame, noisy)
    assert misses(written, data, library).min() < ROUNDING
    assert FrameWriter(library).write_integers(frame.with_term(term_of(library, "x0", X)), noisy) == []


def test_what_cannot_be_written_is_none() -> None:
    data = data_of(X, np.pi * A + np.sqrt(2))
    frame = frames_of(data, strict())[0]
    for expr in FrameWriter(strict()).write(frame):
        assert set(expr.tokens) <= set(strict().names)
    only_plus = SymbolLibrary.of(["+"], 2)
    assert FrameWriter(only_plus).write(frames_of(data_of(X, A - B), only_plus)[1]) == []
    broken = Term(term_of(free(), "x0", X).piece, np.full(120, np.inf), False)
    assert FrameWriter(free()).write(frames_of(data, free())[0], [broken]) == []
