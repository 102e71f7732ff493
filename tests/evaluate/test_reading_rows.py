"""Standard errors become weights, rows with missing values can be left out, and faults are told with their row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from edhie.errors import DataError
from edhie.evaluate.reading import read_data, read_sigmas, weights_of

X = [[1.0], [2.0], [4.0]]
Y = [1.0, 3.0, 2.0]


def test_weights_are_inverse_variances_with_a_mean_of_one() -> None:
    data = read_data(X, Y, sigma=[0.5, 1, 2])
    assert data.sigma is not None
    assert data.weights is not None
    assert data.sigma.tolist() == [0.5, 1, 2]
    np.testing.assert_allclose(data.weights * data.sigma**2, data.weights[1])
    assert data.weights.mean() == pytest.approx(1)
    assert data.take([1, 2]).sigma.tolist() == [1, 2]  # type: ignore[union-attr]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_weights_do_not_depend_on_the_unit(scale: float) -> None:
    sigma = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(weights_of(sigma * scale), weights_of(sigma))


@pytest.mark.parametrize(
    ("sigma", "message"),
    [
        ([1, 0, 1], r"^sigma is 0\.0 in row 1 \(counted from 0\), no other; standard errors must be above 0; correct"),
        ([1, 1, -2], r"^sigma is -2\.0 in row 2 .*; standard errors must be above 0"),
        ([1, np.nan, 1], r"^sigma is nan in row 1 .*; drop such rows or fill them"),
        ([1, None, 1], r"^sigma is nan in row 1"),
        ([1, np.inf, 1], r"^sigma is inf in row 1"),
        ([1, "big", 1], "^sigma holds the text 'big' in row 1"),
        ([1, 1], "^X has 3 rows and sigma has 2; give one value for each row of X"),
        (0.1, r"^sigma is 0\.1; give one column of numbers"),
        ([[1, 2], [1, 2], [1, 2]], r"^sigma has shape \(3, 2\); give one column of numbers"),
    ],
)
def test_faults(sigma: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_data(X, Y, sigma=sigma)


def test_weights_and_standard_errors_are_not_given_together() -> None:
    with pytest.raises(DataError, match=r"weights and sigma are both given, and sigma alone .*; give one of them"):
        read_data(X, Y, weights=[1, 1, 1], sigma=[1, 1, 1])


def test_several_targets_have_a_column_each() -> None:
    table = [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    for given in (table, np.array(table), pd.DataFrame(table)):
        assert [each.tolist() for each in read_sigmas(given, rows=3, targets=2)] == [[1, 2, 3], [4, 5, 6]]
    assert [each.tolist() for each in read_sigmas([[1.0], [2.0]], rows=2, targets=1)] == [[1, 2]]
    told = "y has 2 targets and sigma has one column; give one column of standard errors for each target"
    for one in ([1.0, 2.0, 3.0], [[1.0], [2.0], [3.0]]):
        with pytest.raises(DataError, match=told):
            read_sigmas(one, rows=3, targets=2)
    with pytest.raises(DataError, match="y has 3 targets and sigma has 2 columns"):
        read_sigmas(table, rows=3, targets=3)
    table[1][1] = 0.0
    with pytest.raises(DataError, match=r"^column 1 of sigma is 0\.0 in row 1"):
        read_sigmas(table, rows=3, targets=2)


def test_rows_with_missing_values_are_left_out() -> None:
    table = {"a": [1.0, -999.0, 3.0, 4.0, 5.0, 6.0], "b": [1, 2, None, 4, 5, 6]}
    data = read_data(table, [1, 2, 3, np.inf, -999, 7], sigma=[1, 1, 1, 1, 1, 2], missing=[-999], drop_missing=True)
    assert (data.columns.tolist(), data.y.tolist()) == ([[1, 6], [1, 6]], [1, 7])
    assert data.sigma is not None
    assert data.sigma.tolist() == [1, 2]
    assert data.columns.flags.c_contiguous
    assert table["a"][1] == -999  # what was given stays


def test_missing_values_are_told_unless_they_are_left_out() -> None:
    with pytest.raises(
        DataError, match=r"column 'x' of X is nan in row 1 \(counted from 0\), no other; drop such rows"
    ):
        read_data({"x": [1.0, -999.0, 2.0]}, Y, missing=[-999])
    with pytest.raises(DataError, match="each of the 3 rows has a missing value; choose columns that have fewer"):
        read_data({"x": [None, None, None]}, Y, drop_missing=True)
