"""Plain numbers: which are, what they cost, and which are near a value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.selection.plain_numbers import literal_bits, literals_near

REAL = st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-6)


PLAIN = (1, 2, -3, 0.5, 1 / 3, 2 / 3, 0.25, 99, math.pi, 2 * math.pi, math.pi / 4)


@pytest.mark.parametrize("value", PLAIN)
def test_these_are_plain(value: float) -> None:
    assert np.isfinite(literal_bits(value))
    assert literal_bits(value) == literal_bits(-value)


@pytest.mark.parametrize("value", [0.7421, 0.07, 1.2e4, 3.14159, 2.0001, 1.23e9, math.e, math.sqrt(2), 1 / 7])
def test_these_are_not(value: float) -> None:
    assert np.isinf(literal_bits(value))


def test_shorter_numbers_cost_less() -> None:
    bits = literal_bits([1.0, 2.0, 3.0, 7.0, 23.0, 97.0])
    assert (np.diff(bits) > 0).all()
    assert literal_bits(0.5) == literal_bits(2.0)
    assert literal_bits(math.pi) > literal_bits(3.0)


@given(REAL, st.floats(1e-3, 0.4))
def test_what_is_near_is_plain_and_within_reach_the_cheapest_first(value: float, share: float) -> None:
    reach = share * abs(value)
    found = literals_near(value, reach)
    bits = literal_bits(found) if found else np.empty(0)
    assert np.isfinite(bits).all()
    assert (np.diff(bits) >= 0).all()
    assert all(abs(each - value) <= reach * (1 + 1e-12) and each != 0 for each in found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("value", PLAIN)
def test_a_plain_number_is_near_itself(value: float) -> None:
    assert value in literals_near(value * (1 + 1e-10), 1e-9 * abs(value))


def test_no_exponent_is_a_multiple_of_pi() -> None:
    assert literals_near(1.5708, 0.01) == [math.pi / 2]
    assert literals_near(1.5708, 0.01, of_pi=False) == []
