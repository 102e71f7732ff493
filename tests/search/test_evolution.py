"""Evolution: what lives on, what bounds change (nothing), and when it ends; the operators of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from edhie.errors import EdhieError, SearchError
from edhie.evaluate import Evaluator
from edhie.evaluate.evaluator import Scores
from edhie.expr import Forest
from edhie.results import front_of
from edhie.search import Budget, Task, run
from edhie.search.evolution import (
    Evolve,
    EvolveConfig,
    convex_crossover,
    neighbours,
    spreads,
    survivors,
    tournaments,
)
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
        before = strategy.state()["living.errors"]
        strategy.step(np.random.default_rng(k))
        after = strategy.state()["living.errors"]
        assert (np.diff(after) >= 0).all()
        assert (after[: len(before)] <= before).all()


def test_the_living_are_what_their_codes_decode_to() -> None:
    used = evaluator()
    state = evolved(EvolveConfig(population=50, offspring=50), 6, used).state()
    np.testing.assert_array_equal(used.score(HVAE.decode(state["living.codes"]).forest).errors, state["living.errors"])


def test_the_living_keep_what_their_expressions_encode_to() -> None:
    config = EvolveConfig(population=50, offspring=40, crossover=0.5)
    for generator in (HVAE, Wrapped()):
        strategy = Evolve(config)
        strategy.begin(Task(generator, evaluator(), Budget()))
        for k in range(5):
            strategy.step(np.random.default_rng([2, k]))
            state = strategy.state()
            lives = state["living.forms"] != 0  # what decodes to nothing has the spread of the prior
            mean, deviation = spreads(HVAE, state["living.codes"])
            mean[~lives], deviation[~lives] = 0, 1
            np.testing.assert_allclose(state["living.mean"], mean, atol=1e-4)
            np.testing.assert_allclose(state["living.deviation"], deviation, atol=1e-4)


def test_at_most_one_individual_of_each_expression() -> None:
    for unique in (True, False):
        used = evaluator()
        state = evolved(EvolveConfig(population=50, offspring=50, unique=unique), 12, used).state()
        distinct = len(set(used.score(HVAE.decode(state["living.codes"]).forest).forms.tolist()))
        assert (distinct == len(state["living.codes"])) == unique
        assert len(state["living.codes"]) == 50


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
    assert int(before["since_better"]) == 1  # copies are no better
    strategy.step(np.random.default_rng(5))
    after = strategy.state()
    assert after["living.errors"][0] <= before["living.errors"][0]
    kept = (before["living.codes"][:, np.newaxis] == after["living.codes"]).all(axis=2).sum()
    assert kept <= 1


def test_it_needs_codes() -> None:
    with pytest.raises(SearchError, match="needs a generator with a latent space, not a Grammar; use 'draw'"):
        run(Grammar(), evaluator(), strategy="evolve")


def test_a_state_of_another_model_is_refused() -> None:
    strategy = evolved(EvolveConfig(population=10, offspring=10), 1)
    state = dict(strategy.state())
    with pytest.raises(SearchError, match=r"codes has shape .* and this search has .*32"):
        strategy.restore(state | {"living.codes": state["living.codes"][:, :5]})


@pytest.mark.parametrize(
    "settings",
    [{"population": 0}, {"offspring": 1.5}, {"pressure": 0}, {"generations": 0}, {"patience": -1}, {"crossover": 2},
     {"mutation": -0.1}, {"mutation": float("nan")}, {"restart_after": 0}],
)  # fmt: skip
def test_bad_settings_are_told(settings: dict[str, Any]) -> None:
    with pytest.raises(EdhieError, match=next(iter(settings))):
        EvolveConfig(**settings)


# -- operators ----------------------------------------------------------------------------

codes = hnp.arrays(np.float32, (6, 4), elements=st.floats(-100, 100, width=32))
shares = hnp.arrays(np.float32, 6, elements=st.floats(0, 1, width=32))


@given(codes, codes, shares)
def test_children_lie_between_their_parents(a: np.ndarray, b: np.ndarray, w: np.ndarray) -> None:
    child = convex_crossover(a, b, w)
    slack = 1e-4
    assert (child >= np.minimum(a, b) - slack).all()
    assert (child <= np.maximum(a, b) + slack).all()
    # one share for all dimensions of a child
    np.testing.assert_allclose(child - a, w[:, np.newaxis] * (b - a), atol=slack)
    np.testing.assert_array_equal(convex_crossover(a, b, np.zeros(6, np.float32)), a)
    np.testing.assert_array_equal(convex_crossover(a, b, np.ones(6, np.float32)), b)
    assert child.dtype == np.float32


def test_mutants_have_the_paper_s_distribution() -> None:
    n, mean, deviation = 40_000, 3.0, 0.1
    for a in (0.0, 0.3, 1.0):
        drawn = neighbours(
            np.full((n, 2), mean, np.float32), np.full((n, 2), deviation, np.float32),
            np.full(n, a, np.float32), np.random.default_rng(0),
        )  # fmt: skip
        np.testing.assert_allclose(drawn.mean(0), a * mean, atol=0.02)
        np.testing.assert_allclose(drawn.std(0), a * deviation + (1 - a), rtol=0.02)


def test_a_mutant_is_about_what_its_code_decodes_to() -> None:
    z = HVAE.encode(HVAE.sample(300, np.random.default_rng(0)))[0]
    rng = np.random.default_rng(1)
    a = rng.random(300, dtype=np.float32)
    mutants = neighbours(*spreads(HVAE, z), a, rng)
    near, mean = a > 0.9, HVAE.encode(HVAE.decode(z).forest)[0]
    assert np.abs(mutants - mean)[near].mean() < 0.5 * np.abs(mutants - mean)[a < 0.2].mean()
    assert mutants.shape == z.shape
    assert mutants.dtype == np.float32


def test_what_decodes_to_nothing_becomes_random() -> None:
    broken = Wrapped(valid=lambda n: np.zeros(n, np.bool_))
    far = np.full((4000, HVAE.latent_dim), 50, np.float32)
    a = np.random.default_rng(1).random(4000, dtype=np.float32)
    drawn = neighbours(*spreads(broken, far), a, np.random.default_rng(0))
    assert abs(drawn.mean()) < 0.02
    assert abs(drawn.std() - 1) < 0.02
    mean, deviation = spreads(Wrapped(valid=lambda n: np.arange(n) < 2000), far)
    assert (mean[2000:] == 0).all()
    assert (deviation[2000:] == 1).all()
    assert mean[:2000].any()
    assert len(spreads(HVAE, far[:0])[0]) == 0


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, np.inf]), min_size=1, max_size=12), st.integers(1, 4), st.integers(0, 9)
)
def test_parents_are_the_best_of_their_tournament(errors: list[float], pressure: int, seed: int) -> None:
    given_errors = np.array(errors)
    pairs = tournaments(given_errors, 30, pressure, np.random.default_rng(seed))
    assert pairs.shape == (30, 2)
    assert ((pairs >= 0) & (pairs < len(errors))).all()
    if pressure >= 2 * len(errors):  # rivals are permutations: everyone takes part
        assert (given_errors[pairs] == given_errors.min()).all()
    np.testing.assert_array_equal(pairs, tournaments(given_errors, 30, pressure, np.random.default_rng(seed)))


def test_better_ones_become_parents_more_often() -> None:
    pairs = tournaments(np.arange(100.0), 5000, 2, np.random.default_rng(0))
    assert 30 < pairs.mean() < 36  # the lower of two of 0 … 99


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0, np.inf]), st.integers(0, 5)), max_size=20), st.integers(0, 8))
def test_the_best_survive_at_most_one_of_each(rows: list[tuple[float, int]], n: int) -> None:
    errors, keys = np.array([e for e, _ in rows]), np.array([k for _, k in rows], np.uint64)
    kept = survivors(errors, n)
    assert sorted(errors[kept]) == sorted(errors)[:n]
    unique = survivors(errors, n, keys)
    assert len(set(keys[unique].tolist())) == len(unique) == min(n, len(set(keys.tolist())))
    best_of_key = {key: min(e for e, k in rows if k == key) for key in keys.tolist()}
    assert errors[unique].tolist() == sorted(best_of_key.values())[: len(unique)]


@pytest.mark.parametrize("n", [1, 3])
def test_of_equals_the_earlier_survive(n: int) -> None:
    assert survivors(np.zeros(5), n).tolist() == list(range(n))
