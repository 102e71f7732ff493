"""What every search promises, put to each strategy over each kind of generator that it takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edhie.errors import SearchError
from edhie.evaluate import Evaluator
from edhie.evaluate.counting import KnownForms
from edhie.evaluate.parallel import using_threads
from edhie.events import Event, Finished, Improved, Progressed, Started
from edhie.generators.base import Generator
from edhie.results import STOPPED, SearchResult, front_of
from edhie.search import STRATEGIES, Budget, Strategy, run, strategy_named
from edhie.search.dso import DSO, DSOConfig
from edhie.search.evolution import Evolve, EvolveConfig
from edhie.search.forms import FormConfig, FormSearch
from edhie.search.revision import Revise, ReviseConfig
from edhie.search.sampling import Draw, DrawConfig
from searches import HVAE, Grammar, StopAfter, Wrapped, X, Y, assert_same, evaluator, whole

BUDGET = Budget(evaluations=250)
SEARCHES: dict[str, tuple[Callable[[], Strategy], Callable[[], Generator]]] = {
    "draw from a grammar": (lambda: Draw(DrawConfig(batch=60)), Grammar),
    "draw from an HVAE": (lambda: Draw(DrawConfig(batch=60)), lambda: HVAE),
    "draw from what may fail": (lambda: Draw(DrawConfig(batch=60)), Wrapped),
    "evolve in an HVAE": (lambda: Evolve(EvolveConfig(population=40, offspring=40)), lambda: HVAE),
    "evolve in what may fail": (lambda: Evolve(EvolveConfig(population=40, offspring=30)), Wrapped),
    "evolve, all settings": (
        lambda: Evolve(EvolveConfig(30, 50, 40, 0.5, 1.0, 3, unique=False, restart_after=2, patience=5)),
        lambda: HVAE,
    ),
    "revise in an HVAE": (lambda: Revise(ReviseConfig("x0 + sin(x0)", neighbours=20, edits=40)), lambda: HVAE),
    "revise in what may fail": (lambda: Revise(ReviseConfig("x0*sin(x0)", neighbours=60, edits=10)), Wrapped),
    "revise trees from a grammar": (lambda: Revise(ReviseConfig("x0*cos(x0)", edits=50)), Grammar),
}
SEARCHES["dso"] = (lambda: DSO(DSOConfig(batch=40, generations=2, returned=5, max_length=12)), lambda: HVAE)
SEARCHES["template"] = (lambda: FormSearch(FormConfig("f(x0)*sin(x0) + g(x0)")), lambda: HVAE)
if find_spec("edhie.search.mosaic") is not None:
    SEARCHES["mosaic"] = (lambda: strategy_named("mosaic"), lambda: HVAE)


@pytest.fixture(params=SEARCHES)
def search(request: pytest.FixtureRequest) -> Callable[..., SearchResult]:
    make_strategy, make_generator = SEARCHES[request.param]

    def searched(**options: Any) -> SearchResult:
        given = {"generator": make_generator(), "evaluator": evaluator(), "budget": BUDGET} | options
        return run(given.pop("generator"), given.pop("evaluator"), strategy=make_strategy(), **given)

    return searched


Search = Callable[..., SearchResult]


def test_every_strategy_is_put_to_this() -> None:
    tested = {make().name for make, _ in SEARCHES.values()}
    assert tested >= set(STRATEGIES) - ({"mosaic"} if find_spec("edhie.search.mosaic") is None else set())


def test_a_result_is_whole(search: Search) -> None:
    result = search()
    assert result.stopped in STOPPED
    assert 0 < len(result.candidates) <= result.counts.executed
    assert result.counts.asked >= len(result.candidates)
    at = result.candidates.executed_at
    assert (np.diff(at) >= 0).all()
    assert at.min() >= 1
    assert at.max() <= result.counts.executed
    history = result.history
    assert (np.diff(history.error) < 0).all()
    assert (np.diff(history.executed) >= 0).all()
    assert (np.diff(history.seconds) >= 0).all()
    assert history.best == result.candidates.errors.min()


def test_the_front_is_not_beaten(search: Search) -> None:
    result = search()
    errors, sizes = result.candidates.errors, result.candidates.complexities
    for each in result.front:
        assert not ((errors < each.error * (1 - 1e-6)) & (sizes <= each.complexity)).any()
    assert result.best is not None
    assert result.best.error <= errors.min() + max(1e-9 * abs(errors.min()), evaluator().negligible)
    np.testing.assert_array_equal(
        front_of(errors, sizes, negligible=result.front.negligible),
        front_of(errors, sizes, negligible=evaluator().negligible),
    )


def test_errors_are_those_of_the_expressions(search: Search) -> None:
    result = search()
    for each in result.front:
        predicted = each.expr(**{result.candidates.forest.library.variables[0]: X[:, 0]})
        assert math.sqrt(np.mean((predicted - Y) ** 2)) == pytest.approx(each.error, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("evaluations", [0, 1, 37, 150])
def test_the_budget_is_never_passed(search: Search, evaluations: int) -> None:
    used = evaluator()
    result = search(evaluator=used, budget=Budget(evaluations))
    assert used.counts.executed == result.counts.executed <= evaluations
    if result.stopped == "evaluations":
        assert result.counts.executed == evaluations
    if evaluations == 0:
        assert (result.stopped, result.best, len(result.candidates)) == ("evaluations", None, 0)
    assert used.budget is None


def test_an_evaluator_s_own_budget_holds_too(search: Search) -> None:
    used = evaluator(budget=25)
    assert search(evaluator=used).counts.executed <= 25
    assert used.budget == 25


def test_an_evaluator_that_was_used_goes_on_counting(search: Search) -> None:
    used = evaluator()
    used.score(HVAE.sample(200, np.random.default_rng(9)))
    before = used.counts.executed
    result = search(evaluator=used, budget=Budget(before + 30))
    assert before <= result.counts.executed <= before + 30
    assert before <= len(result.candidates) <= result.counts.executed
    assert result.history.best == result.candidates.errors.min()


def test_no_time_is_no_step(search: Search) -> None:
    result = search(budget=Budget(seconds=0))
    assert (result.stopped, result.counts.executed) == ("seconds", 0)


def test_a_target_that_is_reached_at_once(search: Search) -> None:
    result = search(budget=Budget(250, target_error=math.inf))
    assert result.stopped == "target"
    assert result.best is not None
    reached = search(budget=Budget(250, target_error=result.best.error))
    assert reached.stopped == "target"


def test_the_same_seed_gives_the_same_result(search: Search) -> None:
    first = search(rng=3)
    assert_same(first, search(rng=3))
    assert search(rng=4).candidates.forest.tokens.tolist() != first.candidates.forest.tokens.tolist()
    drawn = [search(rng=np.random.default_rng(5)) for _ in range(2)]
    assert_same(*drawn)


def test_neither_listener_nor_threads_nor_globals_matter(search: Search) -> None:
    plain = search(rng=1)
    events: list[Event] = []
    assert_same(search(rng=1, on_event=events.append), plain)
    with using_threads(2):
        assert_same(search(rng=1), plain)
    for seed in (0, 1):
        np.random.seed(seed)  # noqa: NPY002
        assert_same(search(rng=1), plain)


def test_what_is_told_is_what_happened(search: Search) -> None:
    events: list[Event] = []
    result = search(on_event=events.append)
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert (events[-1].reason, events[-1].executed) == (result.stopped, result.counts.executed)
    improved = [event for event in events if isinstance(event, Improved)]
    assert improved[-1].error == result.history.best
    assert all(a.error > b.error and a.executed <= b.executed for a, b in itertools.pairwise(improved))
    last = [event for event in events if isinstance(event, Progressed)][-1]
    assert (last.executed, last.error) == (result.counts.executed, result.history.best)
    np.testing.assert_array_equal(last.front.errors, result.front.errors)


def test_saved_and_loaded_it_is_the_same(search: Search, tmp_path: Path) -> None:
    result = search(folder=tmp_path / "run")
    assert_same(SearchResult.load(tmp_path / "run"), result)
    assert_same(search(), result)


# -- stopping and going on ------------------------------------------------------------


def stopping(before: StopAfter) -> Wrapped:
    return Wrapped(valid=whole, before=before)


@pytest.mark.parametrize("name", [name for name in SEARCHES if "grammar" not in name and "fail" not in name])
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(st.integers(0, 30), min_size=1, max_size=4), data=st.data())
def test_stopped_anywhere_and_gone_on_with_it_ends_the_same(
    name: str, calls: list[int], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    make_strategy, _ = SEARCHES[name]
    uninterrupted = run(HVAE, evaluator(), strategy=make_strategy(), budget=BUDGET, rng=2)
    folder = tmp_path_factory.mktemp("run") / "of"
    for count in calls:
        error = data.draw(st.sampled_from([KeyboardInterrupt, MemoryError]))
        stop, used = StopAfter(count, error, is_armed=False), evaluator()

        def armed(stop: StopAfter = stop) -> Iterator[None]:  # the digest of samples comes before the first step
            stop.is_armed = True
            yield

        model = stopping(stop)
        listener = lambda event, armed=armed: next(armed()) if isinstance(event, Started) else None  # noqa: E731
        options: dict[str, Any] = {"strategy": make_strategy(), "budget": BUDGET, "rng": 2, "on_event": listener}
        try:
            result = run(model, used, folder=folder, resume=folder.exists(), **options)
        except MemoryError:
            continue
        assert result.stopped in ("interrupted", uninterrupted.stopped)
        assert len(result.candidates) <= result.counts.executed <= uninterrupted.counts.executed
    ended = run(HVAE, evaluator(), strategy=make_strategy(), budget=BUDGET, folder=folder, resume=True)
    assert_same(ended, uninterrupted)
    again = run(HVAE, evaluator(), strategy=make_strategy(), budget=BUDGET, folder=folder, resume=True)
    assert_same(again, uninterrupted)


def test_an_interruption_inside_the_evaluator(search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uninterrupted = search(rng=1)
    settle, stop = KnownForms.settle, StopAfter(2)

    def stopping_settle(self: KnownForms, *given: Any, **options: Any) -> None:
        settle(self, *given, **options)
        stop()

    monkeypatch.setattr(KnownForms, "settle", stopping_settle)
    partial = search(rng=1, folder=tmp_path / "run")
    assert partial.stopped == "interrupted"
    assert len(partial.candidates) <= partial.counts.executed < uninterrupted.counts.executed
    monkeypatch.setattr(KnownForms, "settle", settle)
    assert_same(search(rng=1, folder=tmp_path / "run", resume=True), uninterrupted)


def test_another_search_is_refused(search: Search, tmp_path: Path) -> None:
    search(folder=tmp_path / "run", budget=Budget(50))
    with pytest.raises(SearchError, match="holds a search already; pass resume=True"):
        search(folder=tmp_path / "run")
    with pytest.raises(SearchError, match="data differ from the saved search"):
        search(folder=tmp_path / "run", resume=True, evaluator=Evaluator(HVAE.library, X, Y + 1))
    with pytest.raises(SearchError, match='the saved search has loss "rmse", not loss "mae"'):
        search(folder=tmp_path / "run", resume=True, evaluator=evaluator(loss="mae"))
    with pytest.raises(SearchError, match="generator differs from the saved search"):
        search(folder=tmp_path / "run", resume=True, generator=Wrapped(valid=lambda n: np.arange(n) % 5 != 0))
