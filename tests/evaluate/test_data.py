"""Data: rows of it, what there is to explain, and rows that do not differ."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from edhie.errors import DataError
from edhie.evaluate.data import Data, what_never_varies
from edhie.evaluate.reading import read_data
from edhie.evaluate.resolution import Resolution

TABLE = [[1, 10], [2, 20], [3, 30]]
Y = [1.0, 2.0, 4.0]


@pytest.mark.parametrize("rows", [[2, 0, 0], np.array([True, False, True]), slice(0, 2), slice(None, None, -1)])
@pytest.mark.parametrize("weights", [None, [1, 2, 3]])
def test_taken_rows_are_data(rows: Any, weights: Any) -> None:
    data = read_data(TABLE, Y, weights=weights)
    taken = data.take(rows)
    assert taken.columns.tolist() == np.array(TABLE)[rows].T.tolist()
    assert taken.columns.flags.c_contiguous
    assert taken.y.tolist() == np.array(Y)[rows].tolist()
    assert (taken.weights is None) == (weights is None)
    assert taken.names == data.names
    assert taken.weights is None or taken.total_weight == np.array(weights)[rows].sum()


def test_rows_that_cannot_be_taken() -> None:
    data = read_data(TABLE, Y, weights=[1, 0, 2])
    with pytest.raises(DataError, match=r"^none of the 3 rows is chosen; choose at least one$"):
        data.take([])
    with pytest.raises(DataError, match=r"^the 1 chosen rows all have weight 0; choose one that counts$"):
        data.take([1])
    with pytest.raises(IndexError, match=r"one list of indices, not by an array of shape \(1, 2\)"):
        data.take(np.array([[0, 1]]))
    with pytest.raises(IndexError):
        data.take([3])


def test_other_columns_keep_the_rest() -> None:
    data = read_data(TABLE, Y, sigma=[1, 2, 4], names=["a", "b"])
    other = data.with_columns([1, 0])
    assert (other.names, other.columns.tolist()) == (("b", "a"), [[10, 20, 30], [1, 2, 3]])
    assert other.columns.flags.c_contiguous
    assert other.sigma is data.sigma
    assert other.resolution == data.resolution


def test_another_target_keeps_its_errors_and_resolution() -> None:
    data = read_data(TABLE, [1.25, 2.5, 4.0], sigma=[1, 2, 4], resolution=Resolution(0.01, 3))
    less = data.with_target(data.y - 1)
    assert (less.sigma, less.weights, less.resolution) == (data.sigma, data.weights, Resolution(0.01, 0))
    ratio = data.with_target(data.y / [1, -2, 4], divided_by=np.array([1.0, -2.0, 4.0]))
    assert ratio.sigma is not None
    assert ratio.sigma.tolist() == [1, 1, 1]
    assert ratio.weights is not None
    assert np.ptp(ratio.weights) == 0
    assert ratio.resolution == Resolution(0.0, 3)


def test_data_travels_to_other_processes() -> None:
    data = read_data(TABLE, Y)
    back = pickle.loads(pickle.dumps(data))
    assert isinstance(back, Data)
    assert np.array_equal(back.columns, data.columns)


def test_what_there_is_to_explain() -> None:
    assert read_data(TABLE, [1.0, 2.0, 3.0]).squares_to_explain == 2.0
    assert read_data(TABLE, [0.1, 0.1, 0.1], allow_constant_target=True).squares_to_explain == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("columns", "y", "weights", "alike"),
    [
        ([[1, 1, 1], [2, 2, 2]], [3, 3, 3], None, "rows"),
        ([[1, 1, 1], [2, 2, 2]], [3, 4, 3], None, "columns"),
        ([[1, 1, 1], [2, 2, 3]], [3, 3, 3], None, None),
        ([[1, 1, 2]], [3, 3, 4], [1, 1, 0], "rows"),  # rows that do not count
        ([[1.0]], [3.0], None, None),
    ],
)
def test_rows_that_are_alike(columns: Any, y: Any, weights: Any, alike: str | None) -> None:
    names = tuple(f"x{k}" for k in range(len(columns)))
    data = Data(*(None if each is None else np.array(each, np.float64) for each in (columns, y, weights)), names)
    assert what_never_varies(data) == alike
