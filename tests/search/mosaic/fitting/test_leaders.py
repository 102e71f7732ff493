"""Leaders are the shortest descriptions of all that was scored, one of each structure, however often they look."""

from __future__ import annotations

import itertools

import numpy as np

from edhie.evaluate import Evaluator
from edhie.expr import Forest
from edhie.search.mosaic.config import Improving
from edhie.search.mosaic.fitting.scoring import Leaders
from edhie.selection.description import Criterion, description_bits
from mosaics import forest_of, free, positive

LIBRARY = free(1)
X = positive(1, 50)
Y = 2.5 * X[0] ** 2 + 0.1 * np.random.default_rng(0).normal(size=50)


def scored(*texts: str) -> tuple[Evaluator, Leaders]:
    evaluator = Evaluator(LIBRARY, X.T, Y)
    leaders = Leaders(evaluator, evaluator.data, Criterion())
    evaluator.score(forest_of(LIBRARY, *texts))
    leaders.update()
    return evaluator, leaders


def test_the_shortest_description_leads() -> None:
    evaluator, leaders = scored("x0", "c*x0^2", "c*x0 + c", "exp(x0)", "c*x0^2 + c*sin(c*x0)")
    assert str(leaders.forest[0].free()) == "c*x0^2"
    assert (np.diff(leaders.bits) >= 0).all()
    np.testing.assert_array_equal(leaders.bits, description_bits(leaders.forest, evaluator.data))


def test_what_was_scored_since_the_last_look_is_taken_in() -> None:
    evaluator, leaders = scored("x0", "exp(x0)")
    evaluator.score(forest_of(LIBRARY, "c*x0^2"))
    assert "c*x0^2" not in [str(each.free()) for each in leaders.forest]
    leaders.update()
    assert str(leaders.forest[0].free()) == "c*x0^2"
    before = leaders.bits.copy()
    leaders.update()  # nothing new
    np.testing.assert_array_equal(leaders.bits, before)


def test_of_one_structure_the_best_constants_stay() -> None:
    evaluator, leaders = scored("x0")
    bare = forest_of(LIBRARY, "c*x0^2")
    for value in (2.4, 2.512345, 2.6):
        evaluator.score(Forest(LIBRARY, bare.tokens, bare.offsets, np.array([value])))
        leaders.update()
    squares = [each for each in leaders.forest if str(each.free()) == "c*x0^2"]
    assert len(squares) == 1


def test_there_are_never_more_than_so_many() -> None:
    texts = [f"x0^2 + {'sin(' * k}x0{')' * k}" for k in range(1, 12)]
    names = ("sin", "cos", "exp", "atan", "sqrt", "log")
    texts += [f"{a}({b}({c}(x0)))" for a, b, c in itertools.product(names, repeat=3)]
    _, leaders = scored(*texts)
    assert len(leaders.forest) == len(leaders.bits) == len(leaders.errors) <= Improving.LEADERS < Improving.DESCRIBED
    assert np.isfinite(leaders.bits).all()


def test_restored_they_are_the_same() -> None:
    evaluator, leaders = scored("x0", "c*x0^2", "exp(x0)")
    again = Leaders(evaluator, evaluator.data, Criterion())
    again.restore(leaders.state())
    for name, array in leaders.state().items():
        np.testing.assert_array_equal(again.state()[name], array)
    evaluator.score(forest_of(LIBRARY, "c*x0^2 + c"))
    for each in (leaders, again):
        each.update()
    np.testing.assert_array_equal(again.bits, leaders.bits)
