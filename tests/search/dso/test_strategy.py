"""`DSO` as a search: what it finds, what it learns from, its budget and its state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from edhie.bench.metrics import success_threshold
from edhie.errors import EdhieError, SearchError
from edhie.evaluate import Evaluator
from edhie.expr import SymbolLibrary
from edhie.expr import standard_libraries as standard
from edhie.search import Budget, Task, run
from edhie.search.dso import DSO, DSOConfig
from edhie.search.dso.policy import objective_and_gradient
from searches import HVAE, Grammar, assert_same, evaluator

SMALL = DSOConfig(batch=40, generations=2, returned=5, max_length=12)


def begun(config: DSOConfig, used: Evaluator | None = None) -> DSO:
    strategy = DSO(config)
    strategy.begin(Task(Grammar(), used or evaluator(), Budget()))
    return strategy


def steps(strategy: DSO, first: int, end: int) -> None:
    for k in range(first, end):
        assert strategy.step(np.random.default_rng([1, k]))


def test_the_first_nguyen_equation_is_found() -> None:
    x = np.random.default_rng(100).uniform(-20, 20, (200, 1))
    y = x[:, 0] ** 3 + x[:, 0] ** 2 + x[:, 0]
    used = Evaluator(standard.nguyen(1), x, y)
    result = run(Grammar(), used, strategy=DSO(), budget=Budget(8000, target_error=success_threshold(y)))
    assert result.stopped == "target"


def test_constants_are_fitted() -> None:
    x = np.random.default_rng(0).uniform(1, 5, (50, 1))
    y = 3.7 * np.sin(x[:, 0]) - 1.3
    used = Evaluator(standard.feynman(1), x, y)
    result = run(Grammar(), used, strategy=DSO(SMALL), budget=Budget(2000, target_error=1e-9))
    assert result.stopped == "target"
    assert result.best is not None
    assert result.best.expr.constants


def test_every_batch_and_generation_is_scored_and_the_budget_is_kept() -> None:
    used = evaluator()
    result = run(HVAE, used, strategy=DSO(SMALL), budget=Budget(500))
    assert result.counts.executed == 500
    assert result.counts.asked % SMALL.batch == 0
    assert result.stopped == "evaluations"


@pytest.mark.parametrize("generations", [0, 3])
def test_the_policy_is_trained_once_an_iteration(generations: int) -> None:
    strategy = begun(DSOConfig(batch=30, generations=generations, max_length=10))
    start = strategy.state()["weights.output_bias"]
    steps(strategy, 0, generations)
    np.testing.assert_array_equal(strategy.state()["weights.output_bias"], start)
    steps(strategy, generations, generations + 1)
    assert (strategy.state()["weights.output_bias"] != start).any()
    assert (int(strategy.state()["adam.steps"]), int(strategy.state()["generation"])) == (1, 0)


def test_the_best_of_all_generations_are_kept_once_each() -> None:
    used = evaluator()
    strategy = begun(DSOConfig(batch=60, generations=5, returned=7, max_length=12), used)
    steps(strategy, 0, 1)
    seen = set()
    for k in range(1, 6):
        steps(strategy, k, k + 1)
        state = strategy.state()
        seen |= set(zip(state["population.errors"].tolist(), state["population.forms"].tolist(), strict=True))
        best = list(zip(state["best.errors"].tolist(), state["best.forms"].tolist(), strict=True))
        assert [error for error, _ in best] == [error for error, _ in sorted(seen)[:7]]
        assert len({form for _, form in best}) == 7


def test_the_policy_learns_from_what_is_better_than_most_of_its_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    learnt_from: list[np.ndarray] = []

    def noted(weights: Any, priors: Any, tokens: Any, advantages: np.ndarray, bonus: Any) -> Any:
        learnt_from.append(advantages)
        return objective_and_gradient(weights, priors, tokens, advantages, bonus)

    monkeypatch.setattr("edhie.search.dso.strategy.objective_and_gradient", noted)
    used = evaluator()
    strategy = begun(DSOConfig(batch=100, generations=2, risk=0.1, returned=7, max_length=12), used)
    steps(strategy, 0, 3)
    state = strategy.state()
    own, best = (1 / (1 + state[name] / used.data.y.std()) for name in ("batch.errors", "best.errors"))
    level = np.quantile(own, 0.9)
    (advantages,) = learnt_from
    np.testing.assert_allclose(advantages, [reward - level for reward in (*own, *best) if reward >= level])
    assert 10 < len(advantages) < 30


def test_the_policy_alone_improves() -> None:
    """Without genetic programming, the rewards of later batches are higher than those of the first."""
    strategy = begun(DSOConfig(batch=200, generations=0, max_length=12, learning_rate=0.02))
    errors = []
    for k in range(40):
        steps(strategy, k, k + 1)
        errors.append(np.median(strategy.state()["batch.errors"]))
    assert np.median(errors[-5:]) < 0.8 * np.median(errors[:5])


@pytest.mark.parametrize("at", [0, 1, 2, 3, 5])
def test_a_state_determines_what_follows(at: int) -> None:
    first_evaluator, second_evaluator = evaluator(), evaluator()
    first, second = begun(SMALL, first_evaluator), begun(SMALL, second_evaluator)
    steps(first, 0, at)
    second_evaluator.restore(first_evaluator.state())
    second.restore({name: np.array(each) for name, each in first.state().items()})
    steps(first, at, at + 4)
    steps(second, at, at + 4)
    for name, each in first.state().items():
        np.testing.assert_array_equal(each, second.state()[name])


def test_the_generator_does_not_matter() -> None:
    assert_same(*(run(each, evaluator(), strategy=DSO(SMALL), budget=Budget(200)) for each in (HVAE, Grammar())))


def test_it_ends_where_nothing_new_comes() -> None:
    x = np.arange(1.0, 20.0)[:, np.newaxis]
    used = Evaluator(SymbolLibrary.of(["sin"], 1), x, x[:, 0] ** 2)
    config = DSOConfig(batch=5, generations=1, patience=6)
    result = run(Grammar(), used, strategy=DSO(config))
    assert (result.stopped, result.counts.asked) == ("finished", 35)


def test_a_state_of_another_policy_is_refused() -> None:
    state = begun(SMALL).state()
    with pytest.raises(SearchError, match="and this search has"):
        begun(DSOConfig(units=5)).restore(state)


@pytest.mark.parametrize(
    "settings",
    [{"batch": 0}, {"generations": -1}, {"risk": 2}, {"returned": 0.5}, {"units": 0}, {"max_length": 3},
     {"tournament": 0}, {"crossover": -1}, {"patience": 0}],
)  # fmt: skip
def test_bad_settings_are_told(settings: dict[str, Any]) -> None:
    with pytest.raises(EdhieError, match=next(iter(settings))):
        DSOConfig(**settings)


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [("learning_rate", -1, "0 or more"), ("entropy", float("nan"), "0 or more"), ("length_scale", 0, "above 0")],
)
def test_limits_of_numbers_are_told(name: str, value: float, least: str) -> None:
    with pytest.raises(SearchError, match=f"^{name} must be a finite number, {least}; it is {value}$"):
        DSOConfig(**{name: value})  # type: ignore[arg-type]
