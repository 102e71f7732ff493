"""What is found in fewer variables is written for the target; budgets are kept, and a snapshot goes on."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import Evaluator
from edhie.expr import Forest, parse
from edhie.expr.standard_libraries import everything
from edhie.search import run
from edhie.search.base import Budget, State, Strategy, Task
from edhie.search.mosaic import Mosaic
from edhie.search.mosaic.symmetry.reduced_search import ReducedSearch
from edhie.search.mosaic.symmetry.symmetries import Reduction
from mosaics import data_of
from searches import HVAE

X = np.random.default_rng(0).uniform(1, 3, (3, 200))
LIBRARY = everything(3)
REDUCTION = Reduction((("/", "x1", "x2"),), ((("x0",), 2), (("x2",), -1)))
Y = X[0] ** 2 / X[2] * (1 + np.sqrt(X[1] / X[2]))


class Root(Strategy):
    """Scores 1 + sqrt(x0), which is the reduced target."""

    name = "root"

    def begin(self, task: Task) -> None:
        self._task = task

    def step(self, rng: np.random.Generator) -> bool:
        library = self._task.evaluator.library
        self._task.evaluator.score(Forest.from_exprs([parse("1 + sqrt(x0)", library)], library))
        return False

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        del state


def task(budget: int | None = None) -> Task:
    return Task(HVAE, Evaluator(LIBRARY, data_of(X, Y), budget=budget), Budget())


def test_what_is_found_is_written_for_the_target() -> None:
    outer = task()
    search = ReducedSearch.of(outer, REDUCTION, Root())
    assert search is not None
    (found,) = search.step(np.random.default_rng(0))
    assert search.is_over
    assert outer.evaluator.counts.executed == 1
    assert outer.evaluator.score(Forest.from_exprs([found], LIBRARY)).errors[0] < 1e-12
    assert search.step(np.random.default_rng(0)) == []  # nothing new


@pytest.mark.parametrize("zero", [0, 2])  # the target divided by zero, and a variable
def test_a_reduction_that_is_not_finite_in_some_row_is_refused(zero: int) -> None:
    columns = X.copy()
    columns[zero, 7] = 0.0
    outer = Task(HVAE, Evaluator(LIBRARY, data_of(columns, Y)), Budget())
    assert ReducedSearch.of(outer, REDUCTION, Root()) is None


def test_a_snapshot_goes_on() -> None:
    outer = task()
    search = ReducedSearch.of(outer, REDUCTION, Root())
    assert search is not None
    search.step(np.random.default_rng(0))
    again = ReducedSearch.restored(outer, Root(), search.state())
    assert again.is_over
    assert again.step(np.random.default_rng(0)) == []
    np.testing.assert_array_equal(again.state()["within.evaluator.errors"], search.state()["within.evaluator.errors"])


def test_a_search_with_symmetries_goes_on_in_the_same_way() -> None:
    y = Y * (1 + 0.03 * np.random.default_rng(1).normal(size=200))

    def begun() -> tuple[Mosaic, Evaluator]:
        mosaic, evaluator = Mosaic(), Evaluator(LIBRARY, data_of(X, y))
        mosaic.begin(Task(HVAE, evaluator, Budget()))
        return mosaic, evaluator

    mosaic, evaluator = begun()
    for k in range(6):
        assert mosaic.step(np.random.default_rng(k))
    state = mosaic.state()
    assert any(name.startswith("reduced.within.search.") for name in state)
    again, other = begun()
    other.restore(evaluator.state())
    again.restore({name: np.asarray(array) for name, array in state.items()})
    for each in (mosaic, again):
        each.step(np.random.default_rng(6))
    for name, array in mosaic.state().items():
        np.testing.assert_array_equal(again.state()[name], array, err_msg=name)
    assert other.counts == evaluator.counts


def test_an_orbit_is_found() -> None:
    d, e, a, b = x = np.random.default_rng(0).uniform(0.3, 0.8, (4, 300)) * np.array([[1], [1], [6], [6]])
    library = everything(4)
    evaluator = Evaluator(library, data_of(x, d * (1 - e**2) / (1 + e * np.cos(a - b))))
    found = run(HVAE, evaluator, strategy=Mosaic(), budget=Budget(evaluations=8000), rng=0)
    assert found.stopped == "finished"
    assert found.counts.executed <= 8000
