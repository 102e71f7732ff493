"""An evaluator can be kept, taken up again, limited for a while, and put back to where it was."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from edhie.errors import EdhieError
from edhie.evaluate import Evaluator, FitConfig
from edhie.evaluate.counting import KnownForms
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.grammar import load

NGUYEN = load("nguyen-1").library
FEYNMAN = load("feynman-2").library
X = np.random.default_rng(0).uniform(0.5, 3, (40, 1))
Y = np.sin(X[:, 0]) + X[:, 0] ** 2
BOUNDS = (np.inf, 3.0, 0.5)


def evaluator(*, capacity: int | None = None, **options: Any) -> Evaluator:
    made = Evaluator(NGUYEN, X, Y, **options)
    made.explored.capacity = capacity or made.explored.capacity
    return made


def forest(seed: int, n: int = 60) -> Forest:
    return load("nguyen-1").sample(n, np.random.default_rng(seed), max_height=8)


def forest_of(library: SymbolLibrary, *texts: str) -> Forest:
    return Forest.from_exprs([parse(text, library) for text in texts], library)


def through_a_file(state: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    file = io.BytesIO()
    np.savez(file, **state)  # type: ignore[arg-type]
    file.seek(0)
    with np.load(file, allow_pickle=False) as kept:
        return {name: kept[name] for name in kept.files}


def assert_alike(a: Evaluator, b: Evaluator) -> None:
    assert a.counts == b.counts
    theirs = b.state()
    for name, array in a.state().items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "forgetful": {"capacity": 40},
    "within a budget": {"budget": 130},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=8)
@given(seeds=st.lists(st.integers(0, 5), min_size=1, max_size=5), bounds=st.lists(st.sampled_from(BOUNDS), min_size=5))
def test_kept_and_taken_up_again_it_answers_the_same(
    options: dict[str, Any], seeds: list[int], bounds: list[float]
) -> None:
    first, second = evaluator(**options), evaluator(**options)
    for seed, bound in zip(seeds, bounds, strict=False):
        first.score(forest(seed), bound=bound)
    second.restore(through_a_file(first.state()))
    assert_alike(first, second)
    for seed in range(4, 8):
        mine, theirs = first.score(forest(seed), bound=1.0), second.score(forest(seed), bound=1.0)
        np.testing.assert_array_equal(mine.errors, theirs.errors)
        np.testing.assert_array_equal(mine.forest.tokens, theirs.forest.tokens)
    assert_alike(first, second)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=8)
@given(before=st.lists(st.integers(0, 5), max_size=3), after=st.lists(st.integers(3, 9), max_size=4))
def test_work_since_a_snapshot_can_be_undone(options: dict[str, Any], before: list[int], after: list[int]) -> None:
    used, reference = evaluator(**options), evaluator(**options)
    for seed in before:
        used.score(forest(seed), bound=2.0)
        reference.score(forest(seed), bound=2.0)
    snapshot = used.state()
    for seed in after:
        used.score(forest(seed))
    for _ in range(2):  # the snapshot stays good
        used.restore(snapshot)
        assert_alike(used, reference)
        used.score(forest(9))
    reference.score(forest(9))
    assert_alike(used, reference)


@pytest.mark.parametrize("stop_at", [0, 2])
def test_half_a_call_can_be_undone(stop_at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    used, reference = evaluator(), evaluator()
    used.score(forest(0))
    reference.score(forest(0))
    before = used.state()
    settle, calls = KnownForms.settle, iter(range(100))

    def stopping(self: KnownForms, *given: Any, **options: Any) -> None:
        settle(self, *given, **options)
        if next(calls) == stop_at:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(KnownForms, "settle", stopping)
        with suppress(KeyboardInterrupt):
            for seed in range(1, 5):
                used.score(forest(seed), bound=3.0 / seed)
            pytest.fail("it was not interrupted")
    used.restore(before)
    assert_alike(used, reference)


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state.pop("forms"),
        lambda state: state.update(errors=state["errors"][:-1]),
        lambda state: state.update(tried=state["tried"][:-1]),
        lambda state: state.update(
            forms=state["forms"][:1], form_places=np.zeros(1, np.int64), form_bounds=np.zeros(1)
        ),
        lambda state: state.update(form_places=state["form_places"] + 1),
        lambda state: state.update(writings=np.zeros_like(state["writings"])),
        lambda state: state.update(offsets=state["offsets"] + 1),
        lambda state: state.update(counts=np.array(["many"])),
    ],
    ids=["missing", "too short", "unequal", "forms gone", "no such places", "twice", "no trees", "no counts"],
)
def test_a_damaged_state_is_told(damage: Any) -> None:
    used = evaluator()
    used.score(forest(0))
    state = dict(used.state())
    damage(state)
    with pytest.raises(EdhieError, match=r"damaged|offsets"):
        evaluator().restore(state)


def test_executed_at_counts_distinct_expressions() -> None:
    used = evaluator()
    used.score(forest_of(NGUYEN, "x0", "sin(x0)", "x0", "cos(x0)"))
    used.score(forest_of(NGUYEN, "sin(x0)", "exp(x0)"))
    assert used.explored.executed_at.tolist() == [1, 2, 3, 4]


def test_a_simpler_writing_was_found_when_its_form_was() -> None:
    used = Evaluator(FEYNMAN, np.c_[X, X + 1], Y)
    used.score(forest_of(FEYNMAN, "c*c*x0/c"))
    used.score(forest_of(FEYNMAN, "x0", "x1"))
    used.score(forest_of(FEYNMAN, "c*x0"))
    standing = used.standing
    by_text = {str(used.explored.forest[int(k)].free()): int(used.explored.executed_at[k]) for k in standing}
    assert by_text == {"x0": 2, "x1": 3, "c*x0": 1}


def test_what_a_bound_had_cut_short_was_found_when_its_error_was() -> None:
    used = evaluator()
    used.score(forest_of(NGUYEN, "x0"), bound=1e-3)
    used.score(forest_of(NGUYEN, "cos(x0)", "exp(x0)"))
    used.score(forest_of(NGUYEN, "x0"))
    assert used.explored.executed_at[used.standing].tolist() == [2, 3, 3]


def test_every_form_stands_once() -> None:
    used = evaluator()
    for seed in range(4):
        used.score(forest(seed), bound=2.0)
        used.score(forest(seed))
    assert len(used.standing) == used.counts.executed
    assert (np.diff(used.standing) > 0).all()


def test_a_limit_holds_while_it_lasts() -> None:
    used = evaluator(budget=50)
    with used.limited(20):
        used.score(forest(0))
        assert (used.counts.executed, used.is_exhausted) == (20, True)
        with used.limited(None):
            assert used.is_exhausted
    assert (used.budget, used.remaining) == (50, 30)
    with suppress(KeyError), used.limited(40):
        assert used.remaining == 20
        raise KeyError
    assert used.budget == 50
    unlimited = evaluator()
    with unlimited.limited(0):
        assert not unlimited.score(forest(0)).is_scored.any()
    assert unlimited.budget is None


def test_settings_tell_evaluators_apart() -> None:
    variants = [{}, {"loss": "mae"}, {"constants": FitConfig(seed=1)}, {"complexity": {"sin": 2}}]
    assert len({str(evaluator(**options).settings()) for options in variants}) == len(variants)


def test_complexities_are_those_of_scores() -> None:
    for options in ({}, {"complexity": {"sin": 3, "x0": 0.5}}):
        used = evaluator(**options)  # type: ignore[arg-type]
        trees = forest_of(NGUYEN, "x0", "sin(x0)", "x0*cos(x0)")
        np.testing.assert_array_equal(used.complexities(trees), used.score(trees).complexities)


def test_forms_tell_expressions_apart() -> None:
    forms = evaluator(budget=2).score(forest_of(NGUYEN, "x0 + x0*x0", "x0^2 + x0", "sin(x0)", "cos(x0)")).forms
    assert forms[0] == forms[1]
    assert len(set(forms.tolist())) == 3
