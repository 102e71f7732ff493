"""Tests and intervals that the pages of results use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from significance import holm, interval, p_value, paired_t, rank_sum, shown_interval, sign_p, verdict


def test_p_is_that_of_fisher_on_one_equation_and_exact_on_several() -> None:
    for first, second in (((9, 10), (3, 10)), ((5, 10), (5, 10)), ((0, 10), (7, 12))):
        table = [[first[0], first[1] - first[0]], [second[0], second[1] - second[0]]]
        assert p_value({"a": first}, {"a": second}) == pytest.approx(fisher_exact(table).pvalue)
    # two equations, one run each: the four ways to divide one success on each are equally probable
    assert p_value({"a": (1, 1), "b": (1, 1)}, {"a": (0, 1), "b": (0, 1)}) == pytest.approx(0.5)
    assert p_value({"a": (1, 1), "b": (0, 1)}, {"a": (0, 1), "b": (1, 1)}) == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_corrected_p_are_as_sure_at_most_and_keep_their_order(p: list[float]) -> None:
    corrected = holm(p)
    assert all(before <= after <= 1 for before, after in zip(p, corrected, strict=True))
    assert [corrected[k] for k in np.argsort(p)] == sorted(corrected)
    assert min(corrected) == min(1, len(p) * min(p))


def test_paired_p_depends_on_the_runs_that_only_one_got_right() -> None:
    assert sign_p(0, 0) == 1
    assert sign_p(9, 1) == sign_p(1, 9) == pytest.approx(2 * 11 / 2**10)


def test_a_difference_is_called_one_below_chance_only() -> None:
    many, few = {"a": (9, 10)}, {"a": (2, 10)}
    assert verdict(many, few, 0.004) == "more (p = 0.004)"
    assert verdict(few, many, 0.004) == "fewer (p = 0.004)"
    assert verdict(many, few, 0.06) == "within chance (p = 0.06)"
    assert verdict(many, many, 1) == "as many"


def test_tests_of_values() -> None:
    assert paired_t([0.0, 0.0]) == 1
    assert paired_t([1.0, 1.1, 0.9]) < 0.01
    assert rank_sum([1.0, 1.0], [1.0, 1.0]) == 1
    assert rank_sum(list(range(10)), list(range(10, 20))) < 0.001


def test_intervals_of_differences_cover_the_difference() -> None:
    rng = np.random.default_rng(1)
    one, other = ({name: list(rng.random(10) < rate) for name in "abcdefgh"} for rate in (0.8, 0.5))
    low, high = interval(one, other)
    difference = 100 * (np.mean(list(one.values())) - np.mean(list(other.values())))
    assert low < difference < high
    assert interval(other, one) == pytest.approx((-high, -low), abs=4)
    assert interval(one, one, paired=True) == (0, 0)
    assert interval(one, one)[0] < 0 < interval(one, one)[1]
    assert shown_interval(one, one, paired=True) == "0 points (95 % interval 0 to 0)"
