"""Equations as they are shown: at the bottom of their valleys, none worse, the same when they are shown again."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.evaluate import Constraints, Data, FitConfig, read_data, values
from edhie.evaluate.constraints import complexity
from edhie.evaluate.losses import LOSSES
from edhie.evaluate.values import squared_errors
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr.symbols import OPERATORS
from edhie.finish import Finisher, opened, tidied
from edhie.fit import Discovery, Settings, discover
from edhie.fit.present import Presenter
from edhie.fit.run_folder import load, save
from edhie.fit.select import LEAST_WEIGHT
from edhie.results import Candidates
from edhie.selection.choice import shortest_description
from edhie.selection.description import Criterion, description_bits
from edhie.selection.rules import SELECTION, without_interpolation

RNG = np.random.default_rng(1)
X = np.sort(RNG.uniform(50, 800, 25))
Y = X / (7.5 + 0.0024 * X) + 0.05 * RNG.normal(size=25)
DATA = read_data(X, Y, names=["x0"])
LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^2", "exp"], ["x0"], constant=True)
TEXTS = {
    "c": [40.0],
    "c*x0 + c": [0.1, 4.0],
    "c/(c/x0 + c)": [2.0, 15.1, 0.0047],
    "x0*(c + c*x0)*c": [0.13, -0.00002, 1.1],
    "c*x0^2/(c*x0 + c)": [-50.0, -500.0, 900.0],  # far out, so that the others have room
}


def candidates(data: Data = DATA, loss: str = "rmse", constants: dict[str, list[float]] = TEXTS) -> Candidates:
    forest = Forest.from_exprs(
        [parse(text, LIBRARY).with_constants(numbers) for text, numbers in constants.items()], LIBRARY
    )
    errors = [LOSSES[loss].of_values(data.y, row, data.weights) for row in values(forest, data.columns)]
    return Candidates(forest, np.array(errors), forest.sizes.astype(float), np.arange(len(forest)))


def shown(given: Candidates, data: Data = DATA, **settings: Any) -> Candidates:
    return Presenter(Settings(**settings), data, given).present(given)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_loss_rises_and_each_is_that_of_what_is_shown(loss: str) -> None:
    given = candidates(loss=loss)
    found = shown(given, loss=loss)
    assert (found.errors <= given.errors * (1 + 1e-9)).all()
    assert (found.complexities <= given.complexities).all()
    np.testing.assert_array_equal(found.complexities, found.forest.sizes)
    again = [LOSSES[loss].of_values(Y, row) for row in values(found.forest, DATA.columns)]
    np.testing.assert_allclose(found.errors, again, rtol=1e-9)
    has_optimum = loss == "student" or LOSSES[loss].from_sum_of_squares is not None
    assert (found.errors[1:] < given.errors[1:] * 0.99).all() == has_optimum


def test_constants_are_at_their_optimum_and_none_is_redundant() -> None:
    found = shown(candidates())
    assert [f"{each.free()}" for each in found.forest] == [
        "c",
        "c*x0 + c",
        "c*x0/(x0 + c)",
        "c*x0 - c*x0^2",
        "c*x0^2/(x0 - c)",
    ]
    line = found.forest[1]
    np.testing.assert_allclose(line.constants, np.polyfit(X, Y, 1), rtol=1e-7)
    assert len(found.forest[3].constants) == 2


def test_what_is_shown_has_no_better_form() -> None:
    once = shown(candidates())
    twice = shown(once)
    np.testing.assert_array_equal(twice.forest.tokens, once.forest.tokens)
    np.testing.assert_allclose(twice.errors[:4], once.errors[:4], rtol=1e-8)
    np.testing.assert_array_equal(shown(candidates()).forest.values, once.forest.values)


def test_constants_stay_within_bounds() -> None:
    given = candidates(constants={"c*x0 + c": [0.05, 1.0], "c*x0": [0.1]})
    found = shown(given, constants=FitConfig(lower=-1.0, upper=1.0))
    assert max(abs(each or 0) for expr in found.forest for each in expr.constants) <= 1.0


def test_a_form_that_is_asked_for_is_kept() -> None:
    given = candidates()
    kept = shown(given, constraints=Constraints())
    np.testing.assert_array_equal(kept.forest.tokens, given.forest.tokens)
    assert (kept.errors < given.errors)[1:].all()
    template = shown(given, template="f(x0)")  # its part is shortened, with the constants as they are
    np.testing.assert_allclose(template.errors, given.errors, rtol=1e-6)
    assert (template.forest.sizes <= given.forest.sizes).all()
    assert "2/(15.1/x0 + 0.0047)" not in map(str, template.forest)


def test_no_form_weighs_more() -> None:
    weights = {"*": 5, "/": 1}
    given = candidates()
    given = replace(given, complexities=complexity(given.forest, weights).astype(float))
    found = shown(given, complexity=weights)
    assert (found.complexities <= given.complexities).all()
    np.testing.assert_array_equal(found.complexities, complexity(found.forest, weights))


def test_a_front_takes_little_time() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(50, 800, 2000)
    data = read_data(x, x / (7.5 + 0.0024 * x) + 0.05 * rng.normal(size=2000), names=["x0"])
    few = candidates(data)
    many = few.take(np.tile(np.arange(len(few)), 5))
    shown(few, data)  # compiled
    since = time.perf_counter()
    shown(many, data)
    assert time.perf_counter() - since < 3


# -- of whole discoveries -------------------------------------------------------------


@pytest.fixture(scope="module")
def found() -> Discovery:
    return discover(DATA, Settings(max_time=None, max_evaluations=1000, operators=["+", "-", "*", "/"]))


def test_equations_are_finished_and_simpler_ones_are_less_likely(found: Discovery) -> None:
    others = [each for each in found.equations if (each.weight or 0.0) < LEAST_WEIGHT]  # others are shown for it
    weights = [each.weight for each in others]
    assert weights == sorted(weights)
    assert all(each.complexity < found.best.complexity for each in others)
    for each in found.equations:
        assert tidied(each.expr) == each.expr
        assert each.complexity == each.expr.size
        squares = squared_errors(Forest.from_exprs([each.expr]), found.train)[0]
        assert each.loss == pytest.approx(math.sqrt(squares / len(Y)), rel=1e-9)
        assert np.isfinite(each.uncertainty.standard_errors).all()
        assert np.isfinite(each.standard_deviations(found.train.columns)).all()


def test_the_chosen_one_describes_the_data_no_worse_than_the_search_s_own() -> None:
    rng = np.random.default_rng(3)
    x = np.exp(rng.uniform(0, 9, 30))
    data = read_data(x, 2 * x**1.5 * (1 + 0.03 * rng.normal(size=30)), names=["x0"])  # noise in proportion
    made = discover(data, Settings(max_time=None, max_evaluations=200))
    own = shortest_description(made.result.candidates, data)
    assert own is not None
    library = own.expr.library
    own_form = Finisher(data).rewritten(own.expr)
    before, after = description_bits(Forest.from_exprs([own_form, made.best.expr], opened(library)), data, Criterion())
    assert after <= before + 1e-6
    assert made.best.predict(np.ones((1, 1)))[0] == pytest.approx(2, rel=0.03)  # least squares sees the largest alone


@pytest.mark.parametrize("selection", ["mdl", "best", "accuracy", "score"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_folder_gives_the_same_to_the_last_digit(
    found: Discovery, selection: str, whole: bool, tmp_path: Path
) -> None:
    chosen = Discovery.of(found.result, found.problem, replace(found.settings, selection=selection))
    back = load(save(chosen, tmp_path), whole=whole)
    assert [each.as_json() for each in back.equations] == [each.as_json() for each in chosen.equations]
    assert [each.expr for each in back.equations] == [each.expr for each in chosen.equations]
    assert back.index == chosen.index


def test_bounds_of_constants_are_kept() -> None:
    bounded = FitConfig(lower=0.0, upper=20.0)
    x = np.linspace(1, 5, 40)
    data = read_data(x, 30 - 4 * x + 0.1 * np.sin(9 * x), names=["x0"])
    made = discover(data, Settings(max_time=None, max_evaluations=400, constants=bounded, operators=["+", "*", "/"]))
    for each in made.equations:
        assert all(0 <= value <= 20 for value in each.expr.constants)


SIX = np.array([1.309, 1.471, 1.490, 1.565, 1.611, 1.680])
OF_SIX = np.array([2.138, 3.421, 3.597, 4.340, 4.882, 5.660])


@pytest.mark.parametrize("selection", ["mdl", "best", "score"])
def test_as_many_constants_as_rows_are_never_chosen(selection: str) -> None:
    data = read_data(SIX, OF_SIX, names=["x0"])
    settings = Settings(max_time=None, max_evaluations=1200, selection=selection)
    made = discover(data, settings)
    assert made.result.stopped == "evaluations"  # and none of them ends the search
    assert len(made.best.expr.constants) < 6


def test_where_nothing_else_is_there_it_is_chosen() -> None:
    data = read_data(SIX[:1], OF_SIX[:1], names=["x0"], allow_constant_target=True)
    made = discover(data, Settings(max_time=None, max_evaluations=50))
    assert not made.is_empty
    for rule in SELECTION.values():
        assert rule(without_interpolation(made.result.front, data)) is not None


def test_waves_are_shown_with_low_frequencies_and_phases() -> None:
    t = np.round(np.arange(150) * 0.04, 10)
    data = read_data({"x0": t}, 3 * np.sin(2.4 * t + 0.5) + 0.1 * RNG.normal(size=len(t)))
    library = LIBRARY.extended(OPERATORS["sin"])
    turn = 2 * math.pi / 0.04
    far = parse("c*sin(c*x0 + c)", library).with_constants([3.0, 2.4 + turn, 0.5 + 2e8 * math.pi])
    forest = Forest.from_exprs([parse("c*x0", library).with_constants([-20.0]), far])  # the first widens the bounds
    squares = squared_errors(forest, data)
    given = Candidates(forest, np.sqrt(squares / len(t)), forest.sizes.astype(float), np.arange(2))
    found = shown(given, data)
    assert found.forest[1].constants == pytest.approx((3.0, 2.4, 0.5), abs=0.1)
    assert found.errors[1] <= given.errors[1]
    assert shown(found, data).forest[1] == found.forest[1]


@pytest.mark.parametrize(("highest", "is_shorter"), [(4.0, True), (6.0, False)])
def test_a_root_of_a_square_is_shown_without_it_where_the_sign_is_known(highest: float, is_shorter: bool) -> None:
    x = np.linspace(1, highest, 30)
    data = read_data(np.column_stack([x, x[::-1]]), np.abs(x - 5) / np.sqrt(x[::-1]), names=["x0", "x1"])
    library = SymbolLibrary.of(["+", "-", "*", "/", "^2", "sqrt", "neg"], ["x0", "x1"], constant=True)
    expr = parse("sqrt((x0 - c)^2/x1)", library).with_constants([5.0])
    given = Candidates(Forest.from_exprs([expr]), np.zeros(1), np.array([8.0]), np.zeros(1, int))
    found = shown(given, data).forest[0]
    assert ("^2" not in found.tokens) == is_shorter
    np.testing.assert_allclose(values(Forest.from_exprs([found]), data.columns)[0], data.y, rtol=1e-12)
