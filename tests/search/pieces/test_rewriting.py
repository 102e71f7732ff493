"""What is made shorter keeps its values, or is a smaller tree that can be fitted again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import agree
from edhie.evaluate.constants.fitting import FitConfig
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.search.pieces.rewriting import pieces_within, refitted, shortened, shorter, within_bounds
from mosaics import data_of, forest_of, free, positive, strict
from strategies import LIBRARIES, TAME_NUMBERS, exprs

tame = st.sampled_from([0.0, 1.0, 2.0, -2.5])
any_tree = st.sampled_from([LIBRARIES[name] for name in ("nguyen", "feynman", "trig", "everything")]).flatmap(
    lambda library: exprs(library, numbers=TAME_NUMBERS, values=tame, max_symbols=10)
)


@settings(max_examples=40)
@given(any_tree)
def test_shortened_keeps_values_and_is_no_longer(expr: Expr) -> None:
    forest = Forest.from_exprs([expr])
    (found,) = shortened(forest)
    assert found.library == expr.library
    assert len(found.tokens) <= len(expr.tokens)
    assert None not in found.constants
    for value in (0.7, 2.3):
        point = dict.fromkeys(expr.library.variables, value)
        assert agree(expr, found, point, expr.constants, found.constants)  # type: ignore[arg-type]


@settings(max_examples=40)
@given(any_tree)
def test_shorter_trees_are_whole_smaller_and_distinct(expr: Expr) -> None:
    found = shorter(Forest.from_exprs([expr]))
    Forest.checked(found.library, found.tokens, found.offsets, found.values)
    point = dict.fromkeys(expr.library.variables, 1.3)
    for variant in found:  # what is longer says the same, so that something may cancel
        assert variant.size < expr.size or agree(expr, variant, point, expr.constants, variant.constants)  # type: ignore[arg-type]
    assert np.isfinite(found.values).all()
    assert len(found.unique()) == len(found)
    if expr.size > 1:
        assert len(found)


def test_every_operand_takes_the_place_of_its_operator() -> None:
    found = {str(expr) for expr in shorter(forest_of(strict(), "sin(x0)*x1 + x0"))}
    assert found == {"sin(x0)*x1", "x0", "sin(x0) + x0", "x1 + x0", "x0*x1 + x0"}
    free_ones = {str(expr) for expr in shorter(forest_of(free(), "sin(x0)*x1"))}
    assert free_ones == {"sin(x0)", "x1", "x0*x1", "1", "1*x1"}


def test_places_are_kept() -> None:
    texts = ("x0 + x0*x1/x1", "x0", "sin(x1)", "x1 - x0 + x0", "x0*x0")
    found = shortened(forest_of(strict(), *texts))
    assert list(map(str, found))[1:4] == ["x0", "sin(x1)", "x1"]
    assert str(found[4]) == "x0^2"
    assert len(shortened(forest_of(strict()))) == 0


def test_refitting_finds_the_constants_again() -> None:
    columns = positive(1, 50)
    forest = forest_of(free(1), "c*sin(c*x0) + c")
    start = Forest(forest.library, forest.tokens, forest.offsets, np.array([1.9, 1.1, 0.4]))
    found = refitted(start, data_of(columns, 2 * np.sin(1.2 * columns[0]) + 0.5))
    np.testing.assert_array_equal(found.tokens, start.tokens)
    np.testing.assert_allclose(found.values, [2, 1.2, 0.5], rtol=1e-6)
    for bare in (forest_of(strict(1), "sin(x0)"), forest_of(free(1))):
        assert refitted(bare, data_of(columns, columns[0])) is bare


def test_what_is_beyond_bounds_is_fitted_within_them() -> None:
    columns = positive(1, 50)
    data, config = data_of(columns, 5 * columns[0] + 1), FitConfig(lower=-2.0, upper=2.0)
    library = SymbolLibrary.of(["+", "*", "sin"], 1, constant=True, numbers=True)
    forest = forest_of(library, "c*x0 + c", "x0 + 7", "c*x0", "sin(c*x0)")
    values = forest.values.copy()
    values[np.isnan(values)] = [5.0, 1.0, 1.5, -9.0]
    given = Forest(library, forest.tokens, forest.offsets, values)
    found, n_fitted = within_bounds(given, data, config)
    assert n_fitted == 2
    np.testing.assert_array_equal(found.tokens, given.tokens)
    assert list(found.take([1, 2])) == list(given.take([1, 2]))  # a number is none of the constants
    assert found[0].constants[0] == 2.0
    assert abs(found[0].constants[1] or 0.0) <= 2
    assert abs(found[3].constants[0] or 0.0) <= 2
    assert within_bounds(given, data, FitConfig()) == (given, 0)
    assert within_bounds(forest_of(strict(1), "x0"), data, config)[1] == 0


@pytest.mark.parametrize("piece", ["sin(c*x0)", "c*x0", "c"])
def test_pieces_within_what_was_fitted(piece: str) -> None:
    library = free(1)
    part = Expr(library, forest_of(library, piece)[0].tokens, [1.0])
    written = forest_of(library, f"c + cos({piece}) + c")[0]
    fitted = Expr(library, written.tokens, [5.0, 6.0, 7.0])
    (found,) = pieces_within(part, written, fitted)
    assert (found.tokens, found.constants) == (part.tokens, (5.0,) if piece == "c" else (6.0,))
    assert pieces_within(forest_of(library, "x0")[0], written, fitted) == []
    assert pieces_within(Expr(library, ["exp", "c"], [1.0]), written, fitted) == []
