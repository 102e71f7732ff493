"""Evolution: what lives on, what bounds change (nothing), and when it ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from edhie.errors import EdhieError, SearchError
from edhie.evaluate import Evaluator
from edhie.evaluate.evaluator import Scores
from edhie.expr import Forest
from edhie.results import front_of
from edhie.search import Budget, Task, run
from edhie.search.evolution import Evolve, EvolveConfig
from edhie.search.operators import spreads
from searches import HVAE, Grammar, Wrapped, evaluator


def evolved(config: EvolveConfig, steps: int, used: Evaluator | None = None) -> Evolve:
    strategy = Evolve(config)
    strategy.begin(Task(HVAE, used or evaluator(), Budget()))
    for k in range(steps):
        assert strategy.step(np.random.default_rng([1, k]))
    return strategy


def test_errors_of_the_living_only_fall() -> None:
    strategy = evolved(EvolveConfig(population=30, offspring=30), 1)
    for k in range(1, 15):
        before = strategy.state()["errors"]
        strategy.step(np.random.default_rng(k))
        after = strategy.state()["errors"]
        assert (np.diff(after) >= 0).all()
        assert (after[: len(before)] <= before).all()


def test_the_living_are_what_their_codes_decode_to() -> None:
    used = evaluator()
    state = evolved(EvolveConfig(population=50, offspring=50), 6, used).state()
    np.testing.assert_array_equal(used.score(HVAE.decode(state["codes"]).forest).errors, state["errors"])


def test_the_living_keep_what_their_expressions_encode_to() -> None:
    config = EvolveConfig(population=50, offspring=40, crossover=0.5)
    for generator in (HVAE, Wrapped()):
        strategy = Evolve(config)
        strategy.begin(Task(generator, evaluator(), Budget()))
        for k in range(5):
            strategy.step(np.random.default_rng([2, k]))
            state = strategy.state()
            lives = state["forms"] != 0  # what decodes to nothing has the spread of the prior
            mean, deviation = spreads(HVAE, state["codes"])
            mean[~lives], deviation[~lives] = 0, 1
            np.testing.assert_allclose(state["mean"], mean, atol=1e-4)
            np.testing.assert_allclose(state["deviation"], deviation, atol=1e-4)


def test_at_most_one_individual_of_each_expression() -> None:
    for unique in (True, False):
        used = evaluator()
        state = evolved(EvolveConfig(population=50, offspring=50, unique=unique), 12, used).state()
        distinct = len(set(used.score(HVAE.decode(state["codes"]).forest).forms.tolist()))
        assert (distinct == len(state["codes"])) == unique
        assert len(state["codes"]) == 50


def test_bounds_change_neither_the_evolution_nor_the_front(monkeypatch: pytest.MonkeyPatch) -> None:
    config, budget = EvolveConfig(population=60, offspring=60, generations=25), Budget(None)
    bounded = run(HVAE, evaluator(), strategy=Evolve(config), budget=budget)
    score = Evaluator.score

    def unbounded(self: Evaluator, forest: Forest, *, bound: float = np.inf) -> Scores:
        return score(self, forest)

    monkeypatch.setattr(Evaluator, "score", unbounded)
    exact = run(HVAE, evaluator(), strategy=Evolve(config), budget=budget)
    assert bounded.counts.bounded > 200
    assert exact.counts.bounded == 0
    assert bounded.counts.executed == exact.counts.executed
    np.testing.assert_array_equal(bounded.front.errors, exact.front.errors)
    np.testing.assert_array_equal(bounded.front.complexities, exact.front.complexities)
    np.testing.assert_array_equal(bounded.history.error, exact.history.error)
    known = {each.expr: each.error for each in exact.candidates}
    for each in bounded.candidates:
        if np.isfinite(each.error) and each.expr in known:
            assert each.error == pytest.approx(known[each.expr], rel=1e-12)


def test_the_front_that_bounds_follow_from_is_that_of_all() -> None:
    used = evaluator()
    front = evolved(EvolveConfig(population=40, offspring=40), 10, used).state()["front"]
    found = front_of(used.explored.errors, used.explored.complexities)
    np.testing.assert_array_equal(front[0], used.explored.errors[found])
    np.testing.assert_array_equal(front[1], used.explored.complexities[found])


@pytest.mark.parametrize("generations", [1, 2, 7])
def test_generations_are_exact(generations: int) -> None:
    config = EvolveConfig(population=10, offspring=20, generations=generations)
    result = run(HVAE, evaluator(), strategy=Evolve(config), budget=Budget(None))
    assert result.counts.asked == 10 + 20 * (generations - 1)
    assert result.stopped == "finished"


def test_codes_that_give_nothing_are_counted() -> None:
    config = EvolveConfig(population=30, offspring=30, generations=4)
    result = run(Wrapped(), evaluator(), strategy=Evolve(config), budget=Budget(None))
    assert (result.counts.undecodable, result.counts.asked) == (40, 120)


def test_it_ends_where_nothing_new_comes() -> None:
    nothing = Wrapped(valid=lambda n: np.zeros(n, np.bool_))
    result = run(nothing, evaluator(), strategy=Evolve(EvolveConfig(10, 10, patience=5)))
    assert (result.stopped, result.counts.executed, result.counts.asked) == ("finished", 0, 50)
    assert result.best is None


def test_it_starts_anew_where_it_stagnates() -> None:
    strategy = evolved(EvolveConfig(population=20, offspring=20, restart_after=1, mutation=0, crossover=0), 2)
    before = strategy.state()
    assert before["generation"].tolist()[2] == 1  # copies are no better
    strategy.step(np.random.default_rng(5))
    after = strategy.state()
    assert after["errors"][0] <= before["errors"][0]
    kept = (before["codes"][:, np.newaxis] == after["codes"]).all(axis=2).sum()
    assert kept <= 1


def test_it_needs_codes() -> None:
    with pytest.raises(SearchError, match="needs a generator with a latent space, not a Grammar; use 'draw'"):
        run(Grammar(), evaluator(), strategy="evolve")


def test_a_state_of_another_model_is_refused() -> None:
    strategy = evolved(EvolveConfig(population=10, offspring=10), 1)
    state = dict(strategy.state())
    with pytest.raises(SearchError, match="not of 32 dimensions"):
        strategy.restore(state | {"codes": state["codes"][:, :5]})


@pytest.mark.parametrize(
    "settings",
    [{"population": 0}, {"offspring": 1.5}, {"pressure": 0}, {"generations": 0}, {"patience": -1}, {"crossover": 2},
     {"mutation": -0.1}, {"mutation": float("nan")}, {"restart_after": 0}],
)  # fmt: skip
def test_bad_settings_are_told(settings: dict[str, Any]) -> None:
    with pytest.raises(EdhieError, match=next(iter(settings))):
        EvolveConfig(**settings)
