"""Pieces are kept once for each behaviour, the cheapest first, and are known again after a checkpoint."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.search.arrays import LARGEST_VALUE
from edhie.search.pieces.piece_pool import PiecePool
from mosaics import forest_of, free, positive, strict

COLUMNS = positive(2, 40)


def pieces_of(capacity: int = 100) -> PiecePool:
    return PiecePool(free(), COLUMNS, capacity, np.ones(len(free())))


def test_each_behaviour_is_kept_once_the_first_of_its_cost() -> None:
    pieces = pieces_of()
    pieces.execute(forest_of(free(), "x0 + x1", "x1 + x0", "sin(x0)", "x0*x1/x1", "x0", "x0 + x1 + x0"))
    assert list(map(str, pieces.forest)) == ["sin(x0)", "x0 + x1", "x0*x1/x1", "x0 + x1 + x0"]
    pieces.execute(forest_of(free(), "x0", "x1"))
    assert next(map(str, pieces.forest)) == "x1"
    np.testing.assert_array_equal(pieces.values, values(pieces.forest, COLUMNS))
    assert (np.diff(pieces.costs) >= 0).all()


def test_what_is_not_finite_or_too_large_is_left_out() -> None:
    pieces = pieces_of()
    forest, found = pieces.execute(
        forest_of(free(), "x0", "log(x0 - x0)", "exp(exp(exp(x0)^3))", "x0/(x0 - x0)", "exp(x0)")
    )
    assert list(map(str, forest)) == ["x0", "exp(x0)"]
    assert (np.abs(found) < LARGEST_VALUE).all()
    assert found.shape == (2, 40)


def test_seen_is_seen() -> None:
    pieces = pieces_of()
    first = pieces.unseen(forest_of(free(), "x0", "x1", "x0"))
    assert list(map(str, first)) == ["x0", "x1"]
    assert list(map(str, pieces.unseen(forest_of(free(), "x1", "x0 + x1")))) == ["x0 + x1"]


def test_there_is_room_for_the_cheapest() -> None:
    pieces = pieces_of(3)
    pieces.execute(forest_of(free(), "x0 + sin(x1)", "sin(x0)", "cos(x0)*x1*x1"))
    pieces.execute(forest_of(free(), "x0", "x1", "x0*x1*x1*x1*x1"))
    assert list(map(str, pieces.forest)) == ["x0", "x1", "sin(x0)"]
    assert len(pieces) == 3


def test_1_is_cheap_where_it_is_x_over_x() -> None:
    library = strict()
    pieces = PiecePool(library, COLUMNS, 10, np.ones(len(library)))
    pieces.execute(forest_of(library, "x0*x1", "x0/x0 + x1", "x0/x0"))
    assert pieces.costs.tolist() == [1, 3, 3]


def test_restored_it_goes_on_in_the_same_way() -> None:
    pieces, again = pieces_of(4), pieces_of(4)
    forest = pieces.unseen(forest_of(free(), "x0", "sin(x0)", "x0*x1 + x1"))
    pieces.execute(Forest(forest.library, forest.tokens, forest.offsets, forest.values))
    again.restore({name: np.array(array) for name, array in pieces.state().items()})
    new = forest_of(free(), "x0 + x1 - x1", "x1", "cos(x1)", "x0", "sin(x0)*x1")
    for each in (pieces, again):
        each.execute(each.unseen(new))
    for name, array in pieces.state().items():
        np.testing.assert_array_equal(again.state()[name], array)
    np.testing.assert_array_equal(again.values, pieces.values)
    np.testing.assert_array_equal(again.costs, pieces.costs)


def test_nothing_is_looked_at() -> None:
    pieces = pieces_of()
    forest, found = pieces.execute(pieces.unseen(forest_of(free())))
    assert len(forest) == len(found) == len(pieces) == 0
    pieces.restore(pieces.state())
