"""The loop: what it is told, what it refuses, and what it tells."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from edhie.errors import EdhieError, SearchError
from edhie.events import Event, Finished, Progressed, Started
from edhie.expr import parse
from edhie.results import Candidate
from edhie.search import Budget, Strategy, Task, run, strategy_named, watching
from edhie.selection.description import Criterion, describe
from searches import HVAE, assert_same, evaluator

CHOSEN = Candidate(parse("sin(x0)", HVAE.library), 0.5, 2.0, 1)


class Counting(Strategy):
    """Scores one drawn expression a step, and remembers what it was given."""

    name: ClassVar[str] = "counting"

    def __init__(self, steps: int = 5) -> None:
        self.steps = steps
        self.numbers: list[float] = []

    def begin(self, task: Task) -> None:
        self.task = task
        self.numbers = []

    def step(self, rng: np.random.Generator) -> bool:
        self.numbers.append(rng.random())
        self.task.score(HVAE.sample(1, rng))
        self.task.tally.screened += 10
        return len(self.numbers) < self.steps

    def state(self) -> Mapping[str, NDArray[Any]]:
        return {"numbers": np.array(self.numbers)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self.numbers = state["numbers"].tolist()


def test_the_numbers_of_a_step_follow_from_seed_and_step() -> None:
    strategy = Counting(4)
    result = run(HVAE, evaluator(), strategy=strategy, rng=7)
    assert strategy.numbers == [np.random.default_rng([7, k]).random() for k in range(4)]
    assert (result.seed, result.stopped, result.counts.screened) == (7, "finished", 40)
    assert result.history.screened[0] == 10


def test_a_generator_of_numbers_gives_a_seed_once() -> None:
    rng = np.random.default_rng(1)
    first, second = (run(HVAE, evaluator(), strategy=Counting(), rng=rng) for _ in range(2))
    assert first.seed != second.seed
    assert first.seed == int(np.random.default_rng(1).integers(1 << 63))
    assert_same(first, run(HVAE, evaluator(), strategy=Counting(), rng=first.seed))


def test_a_target_ends_it_after_the_step_that_reached_it() -> None:
    errors = run(HVAE, evaluator(), strategy=Counting(30)).history.error
    strategy = Counting(30)
    result = run(HVAE, evaluator(), strategy=strategy, budget=Budget(target_error=float(errors[1])))
    assert result.stopped == "target"
    assert result.history.error.tolist() == errors[:2].tolist()


def test_interrupted_at_the_start_it_has_found_nothing() -> None:
    class Stopped(Counting):
        def begin(self, task: Task) -> None:
            task.score(HVAE.sample(5, np.random.default_rng(0)))
            raise KeyboardInterrupt

    result = run(HVAE, evaluator(), strategy=Stopped())
    assert (result.stopped, len(result.candidates), result.counts.executed) == ("interrupted", 0, 0)


def test_an_interruption_inside_compiled_code() -> None:
    class Compiled(Counting):
        def step(self, rng: np.random.Generator) -> bool:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as stop:
                raise SystemError("returned a result with an exception set") from stop

    assert run(HVAE, evaluator(), strategy=Compiled()).stopped == "interrupted"


def test_other_errors_go_on_up_and_leave_the_evaluator_whole() -> None:
    class Failing(Counting):
        def step(self, rng: np.random.Generator) -> bool:
            super().step(rng)
            if len(self.numbers) == 3:
                raise ZeroDivisionError
            return True

    used = evaluator()
    with pytest.raises(ZeroDivisionError):
        run(HVAE, used, strategy=Failing())
    assert used.counts.asked == 2
    assert used.budget is None


def test_progress_is_told_a_few_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Event] = []
    monkeypatch.setattr(watching, "PROGRESS_SECONDS", 0.0)
    run(HVAE, evaluator(), strategy=Counting(20), budget=Budget(10), on_event=events.append)
    progress = [event for event in events if isinstance(event, Progressed)]
    assert len(progress) > 10
    fractions = [event.fraction for event in progress if event.fraction is not None]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0, 1)
    assert all(event.seconds_left is None or event.seconds_left >= 0 for event in progress)
    assert progress[-1].seconds_left == 0
    start = events[0]
    assert isinstance(start, Started)
    assert (start.strategy, start.evaluations, start.seconds, start.executed) == ("counting", 10, None, 0)


class Choosing(Counting):
    """Counts, and finds its best equation at one step."""

    def __init__(self, best_at: int) -> None:
        super().__init__(100)
        self.best_at = best_at

    def step(self, rng: np.random.Generator) -> bool:
        super().step(rng)
        if len(self.numbers) == self.best_at:
            self.improved_at, self.best_now = self.best_at, CHOSEN
        return True


@pytest.mark.parametrize(("best_at", "patience", "steps"), [(2, 10, 12), (10, 4, 20), (30, 20, 60)])
def test_it_ends_early_when_nothing_better_is_found_for_long(best_at: int, patience: int, steps: int) -> None:
    events: list[Event] = []
    strategy = Choosing(best_at)
    result = run(HVAE, evaluator(), strategy=strategy, budget=Budget(None, patience=patience), on_event=events.append)
    assert (result.stopped, len(strategy.numbers)) == ("patience", steps)
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.reason, last.idle) == ("patience", steps - best_at)


def test_where_a_strategy_does_not_tell_it_ends_as_ever() -> None:
    assert run(HVAE, evaluator(), strategy=Counting(), budget=Budget(None, patience=1)).stopped == "finished"


def test_what_would_be_chosen_now_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Event] = []
    monkeypatch.setattr(watching, "PROGRESS_SECONDS", 0.0)
    run(HVAE, evaluator(), strategy=Choosing(5), budget=Budget(20), on_event=events.append)
    told = [event.chosen for event in events if isinstance(event, Progressed)]
    assert CHOSEN not in told[:4]
    assert set(told[5:]) == {CHOSEN}


def test_where_a_strategy_does_not_tell_the_shortest_description_of_the_front_is_told() -> None:
    events: list[Event] = []
    task = evaluator()
    run(HVAE, task, strategy="draw", budget=Budget(300), on_event=events.append)
    last = next(event for event in reversed(events) if isinstance(event, Progressed))
    bits = describe(last.front.candidates.forest, task.data, Criterion()).bits
    assert last.chosen == last.front[int(np.argmin(bits))]


def test_without_a_budget_there_is_no_share_of_it() -> None:
    events: list[Event] = []
    run(HVAE, evaluator(), strategy=Counting(3), budget=Budget(None), on_event=events.append)
    last = [event for event in events if isinstance(event, Progressed)][-1]
    assert (last.fraction, last.seconds_left) == (None, None)


def test_a_listener_that_fails_is_heard() -> None:
    def broken(event: Event) -> None:
        raise LookupError("listener")

    with pytest.raises(LookupError, match="listener"):
        run(HVAE, evaluator(), strategy="draw", on_event=broken)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"evaluations": -1}, "evaluations must be a whole number, at least 0, or None for no limit; it is -1"),
        ({"evaluations": 1.5}, "evaluations must be a whole number"),
        ({"seconds": -1}, "seconds must be 0 or more"),
        ({"seconds": float("nan")}, "seconds must be 0 or more"),
        ({"target_error": "low"}, "target_error must be a number"),
    ],
)
def test_a_bad_budget_is_told(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(EdhieError, match=message):
        Budget(**settings)


def test_bad_requests_are_told() -> None:
    with pytest.raises(SearchError, match=r"unknown strategy 'evolv'; use one of draw, .*; did you mean"):
        run(HVAE, evaluator(), strategy="evolv")
    with pytest.raises(SearchError, match="a strategy is a name"):
        run(HVAE, evaluator(), strategy=3)  # type: ignore[arg-type]
    with pytest.raises(EdhieError, match="rng must be a whole number, at least 0"):
        run(HVAE, evaluator(), strategy="draw", rng=-1)
    with pytest.raises(SearchError, match="resume needs the folder"):
        run(HVAE, evaluator(), strategy="draw", resume=True)


def test_strategies_by_name() -> None:
    for name in ("draw", "evolve"):
        strategy = strategy_named(name)
        assert strategy.name == name
        assert strategy.settings()
    assert Counting().settings() == {}


def test_importing_a_search_loads_neither_torch_nor_matplotlib() -> None:
    code = "import sys, edhie.search; print([m for m in ('torch', 'matplotlib', 'sympy') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
