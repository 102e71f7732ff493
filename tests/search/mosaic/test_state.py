"""What a mosaic keeps is plain arrays; restored, its next step is the same."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edhie.evaluate import Evaluator
from edhie.expr import SymbolLibrary
from edhie.search.base import Budget, State, Task
from edhie.search.mosaic import Mosaic
from mosaics import free, positive, strict
from searches import HVAE

X = positive(2, 70)
Y = np.sin(X[0]) * X[1] + np.log(X[0] + X[1] ** 2) + 0.1 * np.random.default_rng(0).normal(size=70)
PROPORTIONAL = np.exp(2 * X[0]) * X[1] * (1 + 0.05 * np.random.default_rng(1).normal(size=70))


def begun(library: SymbolLibrary, y: NDArray[np.float64] = Y) -> tuple[Mosaic, Evaluator]:
    mosaic, evaluator = Mosaic(), Evaluator(library, X.T, y)
    mosaic.begin(Task(HVAE, evaluator, Budget()))
    return mosaic, evaluator


def kept(state: State) -> dict[str, NDArray[Any]]:
    """The state after it was in a file that holds no objects."""
    file = io.BytesIO()
    np.savez(file, **{name: np.asarray(array) for name, array in state.items()})
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def step(mosaic: Mosaic, k: int) -> bool:
    return mosaic.step(np.random.default_rng([7, k]))


CASES = {"free": (free(), Y), "strict": (strict(), Y), "noise in proportion": (free(), PROPORTIONAL)}


@pytest.mark.parametrize(
    "case", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("free", "strict")), "noise in proportion"]
)
def test_restored_it_goes_on_in_the_same_way(case: str) -> None:
    library, y = CASES[case]
    mosaic, evaluator = begun(library, y)
    for k in range(8):
        if k % 2:
            step(mosaic, k)
            continue
        state = kept(mosaic.state())
        again, other = begun(library, y)
        other.restore(evaluator.state())
        again.restore(state)
        assert kept(again.state()).keys() == state.keys()
        for name, array in again.state().items():
            np.testing.assert_array_equal(array, state[name], err_msg=name)
        assert step(mosaic, k) == step(again, k)
        for name, array in mosaic.state().items():
            np.testing.assert_array_equal(again.state()[name], array, err_msg=f"{name} after step {k}")
        assert other.counts == evaluator.counts
        np.testing.assert_array_equal(other.explored.errors, evaluator.explored.errors)


def test_asking_for_the_leaders_changes_nothing() -> None:
    mosaic, _ = begun(free())
    for k in range(3):  # it looks itself in the fourth
        step(mosaic, k)
    before = kept(mosaic.state())
    leaders = mosaic.leaders()
    assert leaders is not None
    assert len(leaders) > 0
    for name, array in mosaic.state().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


def test_later_steps_do_not_write_into_a_state() -> None:
    mosaic, _ = begun(free())
    states, copies = [], []
    for k in range(4):
        states.append(mosaic.state())
        copies.append({name: np.array(array) for name, array in states[-1].items()})
        step(mosaic, k)
    for state, copy in zip(states, copies, strict=True):
        for name, array in state.items():
            np.testing.assert_array_equal(array, copy[name], err_msg=name)


def test_begun_again_it_knows_nothing_of_before() -> None:
    mosaic, _ = begun(free())
    for k in range(3):
        step(mosaic, k)
    mosaic.begin(Task(HVAE, Evaluator(free(), X.T, Y), Budget()))
    fresh, _ = begun(free())
    for name, array in fresh.state().items():
        np.testing.assert_array_equal(mosaic.state()[name], array)
