"""One text for each number, which reads back as that number."""

import math
import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edhie.errors import SymbolError
from edhie.expr.numerals import is_numeral, numeral
from strategies import finite


@given(finite)
@example(1e308)
@example(5e-324)
@example(-1e-308)
@example(1e16)
@example(9007199254740993.0)
def test_a_numeral_reads_back_as_its_value(value):
    text = numeral(value)
    assert is_numeral(text)
    assert float(text) == value
    assert numeral(float(text)) == text
    assert text[-1].isdigit()


@given(st.integers(-(10**15), 10**15))
def test_whole_numbers_have_no_point(number):
    assert numeral(float(number)) == numeral(number) == str(number)


@given(finite, finite)
def test_equal_texts_are_equal_numbers(a, b):
    assert (numeral(a) == numeral(b)) == (a == b)


def test_zero_has_no_sign():
    assert numeral(-0.0) == "0"


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, np.float64("nan"), 10**400, -(10**4000)])
def test_what_no_double_can_hold_is_refused(value):
    with pytest.raises(SymbolError, match="must be finite"):
        numeral(value)


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(3), np.float64(2.5), True])
def test_numpy_numbers_are_numbers(value):
    assert float(numeral(value)) == value
    assert "np." not in numeral(value)


@pytest.mark.parametrize("text", ["1", "-1", "+2.5", ".5", "5.", "1e5", "1E-5", "-2.5e+8"])
def test_numerals(text):
    assert is_numeral(text)


@pytest.mark.parametrize(
    "text", ["", "-", ".", "e5", "1e", "1e5.5", "x", "1x", "--1", "nan", "inf", "1_000", "0x1", " 1"]
)
def test_no_numerals(text):
    assert not is_numeral(text)


@pytest.mark.parametrize("text", ["1" * 100_000 + "x", "1" * 100_000 + ".x", "1." + "1" * 100_000 + "e", "." * 100_000])
def test_long_texts_are_told_from_numbers_at_once(text: str) -> None:
    start = time.process_time()
    assert not is_numeral(text)
    assert time.process_time() - start < 0.5  # with a regular expression that backtracks it takes minutes
