"""The front: nothing on it is beaten, and nothing that is not beaten is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.expr import Forest, SymbolLibrary, parse
from edhie.results import Candidates, Front, front_of

LIBRARY = SymbolLibrary.of(["+", "*", "sin"], ["x"], constant=True)
errors = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5, np.inf]) | st.floats(0, 1e6)
points = st.lists(st.tuples(errors, st.integers(1, 9)), max_size=40)


def beats(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a[0] <= b[0] and a[1] <= b[1] and a != b


@given(points)
def test_it_is_what_no_other_beats(given: list[tuple[float, int]]) -> None:
    rounded = [(float(np.round(error, 3)), size) for error, size in given]  # so that no two are equal but for rounding
    front = front_of([error for error, _ in rounded], [size for _, size in rounded]).tolist()
    for k, point in enumerate(rounded):
        is_beaten = any(beats(other, point) for other in rounded) or point in rounded[:k]
        assert (k in front) == (point[0] < np.inf and not is_beaten)
    assert all(rounded[a][1] < rounded[b][1] and rounded[a][0] > rounded[b][0] for a, b in zip(front, front[1:]))  # noqa: B905, RUF007


@given(points, st.randoms(use_true_random=False))
def test_the_order_of_candidates_does_not_matter(given: list[tuple[float, int]], random: object) -> None:
    shuffled = list(given)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    fronts = [[each[k] for k in front_of([e for e, _ in each], [c for _, c in each])] for each in (given, shuffled)]
    assert fronts[0] == fronts[1]


def test_errors_that_are_equal_but_for_rounding_do_not_both_stand() -> None:
    assert front_of([1.0, 1.0 - 1e-15, 0.5], [1, 2, 3]).tolist() == [0, 2]
    assert front_of([1e-14, 2e-17], [3, 5]).tolist() == [0, 1]
    assert front_of([1e-14, 2e-17], [3, 5], negligible=1e-12).tolist() == [0]
    assert front_of([1.0, 1e-14, 2e-17], [1, 3, 5], negligible=1e-12).tolist() == [0, 1]


def test_of_equals_the_simpler_then_the_earlier_stands() -> None:
    assert front_of([1.0, 1.0, 1.0], [5, 3, 3]).tolist() == [1]


def test_what_has_no_error_does_not_stand() -> None:
    assert front_of([np.inf, np.inf], [1, 2]).tolist() == []
    assert front_of([], []).tolist() == []


def test_a_loss_of_the_user_s_may_be_below_zero() -> None:
    assert front_of([-1.0, -2.0, -2.0], [1, 2, 3]).tolist() == [0, 1]


def candidates(*rows: tuple[str, float]) -> Candidates:
    forest = Forest.from_exprs([parse(text, LIBRARY) for text, _ in rows], LIBRARY)
    sizes = forest.sizes.astype(np.float64)
    return Candidates(forest, np.array([error for _, error in rows]), sizes, np.arange(1, len(rows) + 1))


def test_a_front_reads_like_a_table() -> None:
    front = Front.of(candidates(("x + x", 2.0), ("x", 3.0), ("sin(x)", 9.0), ("x*x", 0.25)))
    assert [str(each.expr) for each in front] == ["x", "x*x"]
    assert front.best is not None
    assert (str(front.best.expr), front.best.executed_at) == ("x*x", 4)
    assert str(front).splitlines() == [
        "complexity         error  expression", "         1             3  x", "         3          0.25  x*x",
    ]  # fmt: skip
    assert Front.of(candidates(("x", np.inf))).best is None


@pytest.mark.parametrize("k", [0, -1, 1])
def test_one_candidate(k: int) -> None:
    found = candidates(("x", 3.0), ("x*x", 1.5))
    assert found[k].error == found.errors[k]
    assert str(found[0]) == "x  (error 3, complexity 1)"
