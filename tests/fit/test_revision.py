"""Revising an equation: what is always true of a revision, and the scenarios of scientists."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

from edhie.errors import ParseError, SearchError
from edhie.evaluate import Data
from edhie.events import Event
from edhie.expr import Forest, parse
from edhie.expr.difference import difference, distance
from edhie.fit import Settings
from edhie.fit.revision import Revision, revise
from edhie.fit.revision.steps import beyond_noise, noise_factor, revision_bits, symbol_bounds
from edhie.selection.description import Criterion, description_bits
from revisions import SCENARIOS, is_truth

EVALUATIONS = {"van der Waals": 1500, "nothing": 1500}


@cache
def revised(name: str) -> Revision:
    scenario = SCENARIOS[name]
    settings = Settings(max_time=None, max_evaluations=EVALUATIONS.get(name, 800))
    return revise(scenario.formula, scenario.data(), settings)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_revision_keeps_its_laws(name: str) -> None:
    found = revised(name)
    assert found.result.counts.executed <= 1500
    first = found.steps[0]
    assert first.equation is found.refitted
    assert first.distance == 0
    assert distance(found.original.expr, found.refitted.expr) == 0
    for one, other in itertools.pairwise(found.steps):
        assert one.distance < other.distance
        assert one.equation.loss > other.equation.loss
    for step in found.steps:
        again = difference(found.original.expr, step.equation.expr)
        assert step.distance == again.distance
        assert step.changes.after == step.equation.expr
        data = step.equation.train
        rmse = math.sqrt(np.mean((step.equation.predict(data.columns) - data.y) ** 2))
        assert rmse == pytest.approx(step.equation.loss, rel=1e-9)
    assert found.best in [step.equation for step in found.steps]
    assert found.is_enough == (found.best is found.refitted)


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name != "van der Waals"])
def test_the_truth_is_found(name: str) -> None:
    found = revised(name)
    assert is_truth(SCENARIOS[name], found.best)
    assert found.is_enough == (name == "nothing")
    assert ("is enough" in found.verdict) == found.is_enough


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_candidate_clearly_beats_a_step(name: str) -> None:
    """By more than noise does, that is. Every distance is taken here, the slow way."""
    found = revised(name)
    candidates, first = found.result.candidates, found.refitted.expr
    bounds = symbol_bounds(first, candidates.forest)
    for k in np.random.default_rng(0).choice(len(candidates), 150, replace=False).tolist():
        away = distance(first, candidates.forest[k])
        assert bounds[k] <= away
        nearer = [step.equation.loss for step in found.steps if step.distance <= away]
        assert candidates.errors[k] * noise_factor(found.refitted.train) ** 2 >= min(nearer) * (1 - 1e-6)


def test_as_a_table_and_as_json() -> None:
    found = revised("an offset")
    table = found.table()
    assert table["distance"].tolist() == [step.distance for step in found.steps]
    assert table["changes"][0] == "nothing but constants"
    assert "+ c inserted at the top" in table["changes"].tolist()
    told = found.as_json()
    assert told["selected"]["distance"] == 2
    assert told["original_loss"] is None
    assert str(found).startswith("the formula is not enough: + c inserted at the top")


def test_a_formula_with_numbers_is_judged_as_it_is_and_fitted() -> None:
    data = SCENARIOS["nothing"].data()
    settings = Settings(max_time=None, max_evaluations=60)
    found = revise(parse("3*x0*exp(-0.7*x1)"), data, settings)
    given = 3 * data.columns[0] * np.exp(-0.7 * data.columns[1])
    assert found.original.error == pytest.approx(math.sqrt(np.mean((given - data.y) ** 2)))
    assert found.refitted.loss < found.original.error
    assert str(found.original) == "3*x0*exp(-0.7*x1)"


def test_what_is_exact_is_enough() -> None:
    data = SCENARIOS["nothing"].data(noise=0.0)
    found = revise("c*x0*exp(-c*x1)", data, Settings(max_time=None, max_evaluations=500))
    assert found.is_enough
    assert found.refitted.r2 == 1
    assert found.result.stopped == "finished"


def test_a_seed_gives_one_result_and_watching_changes_nothing() -> None:
    data, events = SCENARIOS["an offset"].data(), list[Event]()
    settings = Settings(max_time=None, max_evaluations=300, seed=5)
    one = revise("c*x0*exp(-c*x1)", data, settings)
    other = revise("c*x0*exp(-c*x1)", data, settings, on_event=events.append)
    assert str(one) == str(other)
    assert events


def test_columns_have_the_names_of_identifiers() -> None:
    rng = np.random.default_rng(0)
    columns = rng.uniform(1, 2, (2, 50))
    data = Data(columns, columns[0] ** 2, None, ("petal length", "c"))
    found = revise("2*petal_length", data, Settings(max_time=None, max_evaluations=400))
    assert str(found.chosen.changes) in ("petal_length replaced by petal_length^2", "2 replaced by petal_length") or (
        found.best.r2 == 1
    )


def test_more_columns_than_any_model_has() -> None:
    rng = np.random.default_rng(0)
    columns = rng.uniform(1, 2, (8, 80))
    data = Data(columns, 2 * columns[6] + columns[7], None, tuple("abdfghij"))
    found = revise("2*i", data, Settings(max_time=None, max_evaluations=600))
    assert found.best.r2 == pytest.approx(1)
    assert found.chosen.distance == 2


def test_operators_of_the_formula_are_kept_though_others_are_not_allowed() -> None:
    settings = Settings(max_time=None, max_evaluations=200, operators=["+", "*"])
    found = revise("c*x0*exp(-c*x1)", SCENARIOS["an offset"].data(), settings)
    used = {token for each in found.result.candidates.forest for token in each.tokens}
    assert used <= {"+", "*", "exp", "neg", "x0", "x1", "c"}
    assert is_truth(SCENARIOS["an offset"], found.best)


@pytest.mark.parametrize(
    ("formula", "error", "match"),
    [
        ("c*z", ParseError, "unknown symbol 'z'; there are x0, x1"),
        ("c*x0*", ParseError, "ends where an operand should be"),
        ("", ParseError, "an expression is missing"),
        (3, SearchError, "a formula is a text"),
    ],
)
def test_what_is_no_formula_is_told(formula: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        revise(formula, SCENARIOS["an offset"].data())


def test_a_formula_without_a_value_somewhere_is_still_revised() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, 80)
    data = Data(x[np.newaxis], 3 * np.exp(x), None, ("x",))
    found = revise("c*log(x)", data, Settings(max_time=None, max_evaluations=500))
    assert found.refitted.loss == math.inf
    assert not found.is_enough
    assert found.best.r2 == pytest.approx(1)


@pytest.mark.parametrize(("formula", "scale"), [("x0", 1.0), ("c*x0", 2.0)])
def test_saturation_is_told_by_a_quotient_and_not_by_an_arc_tangent(formula: str, scale: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 6, 200)
    y = scale * x / (x + 1.7)
    data = Data(x[np.newaxis], y + 0.01 * np.std(y) * rng.standard_normal(200), None, ("x0",))
    found = revise(formula, data, Settings(max_time=None, max_evaluations=1000))
    used = {token for token in found.best.expr.tokens if found.best.expr.library[token].arity}
    assert used <= {"+", "-", "*", "/"}
    assert found.best.r2 > 0.999
    assert len(found.best.expr.constants) <= len(formula)


def test_a_step_that_only_follows_the_noise_is_not_shown() -> None:
    assert beyond_noise([3.0, 2.99, 1.0], [9.0, 9.5, 1.0], 1.05) == [0, 2]
    assert beyond_noise([3.0, 2.99], [9.0, 8.0], 1.05) == [0, 1]  # but where it is shorter to tell
    found = revised("an offset")
    for one, other in itertools.pairwise(found.steps):
        is_clear = other.equation.loss * noise_factor(found.refitted.train) < one.equation.loss
        nearer = [step.bits for step in found.steps if step.distance <= one.distance]
        assert is_clear or other.bits < min(nearer)


def test_noise_in_proportion_is_told_by_constants_that_fit_it() -> None:
    """Of one form, the constants that relative errors ask for tell such data shorter than those of least squares."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, 200)
    y = 2.137 * np.exp(1.493 * x) * (1 + 0.02 * rng.standard_normal(200))
    data = Data(x[np.newaxis], y, None, ("x",))
    form, true = (parse("c*exp(c*x)").with_constants(each) for each in ([2.345, 1.478], [2.137, 1.493]))
    as_it_is = description_bits(Forest.from_exprs([form]), data)[0]
    assert revision_bits([form], [0], form, data, None)[0] < as_it_is - 100
    told = revision_bits([form, true], [0, 0], form, data, None)
    assert told[0] == pytest.approx(told[1], abs=0.1)


def test_the_noise_that_is_asked_for_judges_revisions() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 6, 100)
    data = Data(x[np.newaxis], 2.137 * x * (1 + 0.1 * rng.standard_normal(100)), None, ("x",))
    form = parse("c*x").with_constants([2.345])
    told = {
        noise: revision_bits([form], [0], form, data, None, Criterion(noise=noise))[0]
        for noise in ("auto", "constant", "proportional")
    }
    assert told["proportional"] == pytest.approx(told["auto"])
    assert told["proportional"] < told["constant"]
