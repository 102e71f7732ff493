"""Whole coefficients are found again under noise, from a start that is off."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.data import Data
from edhie.search.mosaic.frames.frame import LINKS, Frame
from edhie.search.mosaic.frames.free_columns import polynomial_columns
from edhie.search.mosaic.writing import linear_fit
from edhie.search.mosaic.writing.linear_fit import integer_coefficients
from mosaics import Numbers, data_of, positive

COLUMNS = positive(1, 200)
BLOCK = polynomial_columns(COLUMNS, np.ones(200))


@pytest.mark.parametrize("link", [link for link in LINKS if link.name in ("y", "1/y", "y^2", "exp(y)")])
@pytest.mark.parametrize("noise", [0.0, 0.002])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_planted_integers_are_found(link, noise: float, sign: float) -> None:  # type: ignore[no-untyped-def]
    planted = np.zeros(len(BLOCK.columns))
    planted[[0, 1, 3]] = (2, -1, 3)
    sign = sign if link.is_even else 1.0
    y = sign * link.undo(planted @ BLOCK.columns)
    y = y * (1 + noise * np.random.default_rng(0).normal(size=200))
    frame = Frame(link, BLOCK, (0,), link.apply(y), sign)
    start = planted.copy()
    start[[0, 1]] += (1, -1)
    found = integer_coefficients(frame, start, data_of(COLUMNS, y), [3.0])[0]
    np.testing.assert_array_equal(found, planted)
    np.testing.assert_array_equal(integer_coefficients(frame, found, data_of(COLUMNS, y), [3.0])[0], planted)


def test_what_comes_back_is_never_worse_and_always_whole() -> None:
    y = np.sin(3 * COLUMNS[0]) * 5
    frame = Frame(LINKS[0], BLOCK, (0,), y, 1.0)
    start = np.zeros(len(BLOCK.columns))
    for found in integer_coefficients(frame, start, data_of(COLUMNS, y), (0.0, 3.0, 1e6)):
        np.testing.assert_array_equal(found, np.round(found))
        assert np.square(y - found @ BLOCK.columns).sum() <= np.square(y).sum()
    assert not found.any()  # symbols that cost too much


def test_a_scale_is_taken_off() -> None:
    y = (2 + 3 * COLUMNS[0]) / COLUMNS[0] ** 2
    frame = Frame(LINKS[0], BLOCK, (2,), y * COLUMNS[0] ** 2, 1.0)
    start = np.zeros(len(BLOCK.columns))
    start[:2] = (1, 3)
    found = integer_coefficients(frame, start, data_of(COLUMNS, y), [3.0])[0]
    assert found[:2].tolist() == [2, 3]
    assert not found[2:].any()


def test_several_prices_find_what_each_finds_alone_without_looking_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[bytes] = []
    plain = linear_fit.residual_bits

    def noted(predicted: Numbers, data: Data) -> Numbers:
        looked.append(predicted.tobytes())
        return plain(predicted, data)

    monkeypatch.setattr(linear_fit, "residual_bits", noted)
    y = (3 * COLUMNS[0] ** 2 - 2 * COLUMNS[0]) * (1 + 0.05 * np.random.default_rng(0).normal(size=200))
    frame, start = Frame(LINKS[0], BLOCK, (0,), y, 1.0), np.zeros(len(BLOCK.columns))
    prices = (4.0, 1.2, 0.0)
    together = integer_coefficients(frame, start, data_of(COLUMNS, y), prices)
    assert len(looked) == len(set(looked))
    alone = [integer_coefficients(frame, start, data_of(COLUMNS, y), [price])[0] for price in prices]
    np.testing.assert_array_equal(together, alone)
