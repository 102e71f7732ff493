"""Draw and score: every attempt counts, and nothing goes on for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.errors import EdhieError
from edhie.evaluate import Constraints, Evaluator
from edhie.expr import Forest, SymbolLibrary
from edhie.generators import load
from edhie.search import Budget, run
from edhie.search.sampling import PATIENCE, Draw, DrawConfig, drawn
from searches import HVAE, Grammar, Wrapped, X, Y, evaluator


def test_codes_that_give_nothing_are_attempts() -> None:
    result = run(Wrapped(), evaluator(), strategy=Draw(DrawConfig(batch=30, attempts=90)))
    assert (result.counts.undecodable, result.counts.asked) == (30, 90)
    assert result.stopped == "finished"
    forest, undecodable = drawn(Wrapped(), 9, np.random.default_rng(0))
    assert (len(forest), undecodable) == (6, 3)


def test_what_is_drawn_from_an_autoencoder_is_its_sample() -> None:
    forest, undecodable = drawn(HVAE, 50, np.random.default_rng(0))
    assert list(forest) == list(HVAE.sample(50, np.random.default_rng(0)))
    assert undecodable == 0


class Repeating:
    """A generator that knows one expression."""

    library: SymbolLibrary = HVAE.library

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        return HVAE.sample(1, np.random.default_rng(0)).take(np.zeros(n, np.int64))


def test_a_generator_that_only_repeats_itself_ends() -> None:
    result = run(Repeating(), evaluator(), strategy=Draw(DrawConfig(attempts=5_000)))
    assert (result.stopped, result.counts.executed, result.counts.asked) == ("finished", 1, 5_000)


@pytest.mark.parametrize("attempts", [1_000_000, None])
def test_it_ends_where_nothing_new_comes(attempts: int | None) -> None:
    result = run(Repeating(), evaluator(), strategy=Draw(DrawConfig(attempts=attempts)), budget=Budget(None))
    assert (result.stopped, result.counts.executed, result.counts.asked) == ("finished", 1, 1_000 + PATIENCE)


class Rare:
    """A generator that has something new at attempts 0, 9,000, 18,000 and 40,000, and counts them."""

    library: SymbolLibrary = HVAE.library

    def __init__(self) -> None:
        self.n = 0

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        some = HVAE.sample(40, np.random.default_rng(0)).unique()
        places = np.searchsorted([9_000, 18_000, 40_000], self.n + np.arange(n), side="right")
        self.n += n
        return some.take(places)


def test_patience_grows_with_what_it_took() -> None:
    result = run(Rare(), evaluator(), strategy="draw", budget=Budget(None))
    assert (result.counts.executed, result.counts.asked) == (3, 2 * 19_000)  # the second half brought nothing


def test_going_on_has_the_same_patience(tmp_path: Path) -> None:
    whole = run(Repeating(), evaluator(), strategy="draw", budget=Budget(None))
    run(Repeating(), evaluator(), strategy="draw", budget=Budget(None, seconds=0.0), folder=tmp_path)
    parts = run(Repeating(), evaluator(), strategy="draw", budget=Budget(None), folder=tmp_path, resume=True)
    assert parts.counts == whole.counts


def test_what_is_forbidden_may_be_new() -> None:
    forbidding = evaluator(constraints=Constraints(max_size=1))
    result = run(Repeating(), forbidding, strategy=Draw(DrawConfig(attempts=30_000)), budget=Budget(None))
    assert (result.counts.executed, result.counts.asked) == (0, 30_000)


@pytest.mark.parametrize(("attempts", "batch"), [(0, 10), (1, 10), (95, 10), (100, 10), (7, 1000)])
def test_attempts_are_exact(attempts: int, batch: int) -> None:
    result = run(Grammar(), evaluator(), strategy=Draw(DrawConfig(batch, attempts)), budget=Budget(None))
    assert (result.counts.asked, result.stopped) == (attempts, "finished")
    assert len(result.candidates) == result.counts.executed


def test_the_batch_changes_only_what_a_step_is() -> None:
    result = run(HVAE, evaluator(), strategy=Draw(DrawConfig(batch=7)), budget=Budget(50))
    assert result.counts.executed == 50


def test_a_generator_over_fewer_symbols() -> None:
    """Its expressions are cast, whatever the order of symbols."""
    names = [symbol.name for symbol in HVAE.library.symbols if symbol.arity]
    library = SymbolLibrary.of([*reversed(names), "tanh"], ["x0"], constant=True)
    result = run(HVAE, Evaluator(library, X, Y), strategy="draw", budget=Budget(100))
    assert result.candidates.forest.library == library
    plain = run(HVAE, evaluator(), strategy="draw", budget=Budget(100))
    assert result.best is not None
    assert plain.best is not None
    assert (str(result.best.expr), result.best.error) == (str(plain.best.expr), plain.best.error)
    with pytest.raises(EdhieError, match="x1"):
        run(load("nguyen-2"), Evaluator(library, X, Y), strategy="draw", budget=Budget(100))


@pytest.mark.parametrize("settings", [{"batch": 0}, {"batch": 1.5}, {"attempts": -1}])
def test_bad_settings_are_told(settings: dict[str, Any]) -> None:
    with pytest.raises(EdhieError, match=f"{next(iter(settings))} must be a whole number"):
        DrawConfig(**settings)
