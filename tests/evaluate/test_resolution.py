"""Resolution: the step and the digits to which numbers were rounded come back from the numbers alone."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.evaluate import read_data
from edhie.evaluate.resolution import Resolution, resolution_of, rounding_of, were_set

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=300)
WIDE = 10 ** RNG.uniform(-6, 6, 300)


@pytest.mark.parametrize("step", [1000.0, 10.0, 1.0, 0.5, 0.25, 0.2, 0.1, 0.05, 0.025, 0.01, 0.001, 1e-7, 1e-12])
@pytest.mark.parametrize("spread", [30.0, 3000.0])
def test_the_step_comes_back(step: float, spread: float) -> None:
    values = np.rint(NORMAL * spread) * step
    assert resolution_of(values) == resolution_of(-values) == Resolution(step, 0)


@pytest.mark.parametrize("decimals", range(7))
def test_decimals_of_a_few_values(decimals: int) -> None:
    values = np.array([float(f"{value:.{decimals}f}") for value in (12.3456789, 2.7182818, 314.1592653)])
    assert resolution_of(values).step == 10.0**-decimals


@pytest.mark.parametrize("digits", range(3, 11))
def test_significant_digits_come_back(digits: int) -> None:
    values = np.array([float(f"{value:.{digits}g}") for value in WIDE])
    assert resolution_of(values).digits == digits


def test_periods_of_planets() -> None:
    days = np.array([87.97, 224.7, 365.26, 686.98, 4332.6, 10759.2, 30688.5, 60182.0])
    assert resolution_of(days) == Resolution(0.01, 6)
    quantum = rounding_of(days, resolution_of(days)) * np.sqrt(12)
    np.testing.assert_allclose(quantum, [0.01, 0.01, 0.01, 0.01, 0.01, 0.1, 0.1, 0.1])


@pytest.mark.parametrize(
    "values",
    [
        [0.1 * k for k in range(5)], [0.05 * k for k in range(24) if k % 3], [1.25 + 0.5 * k for k in range(6)],
        [0.1, 0.2, 0.5, 1, 2, 5, 10], [0.125, 0.25, 0.5, 1, 2, 4, 8], [0.25, 0.5, 0.75, 1, 1.25, 2, 3, 4, 5, 6, 8],
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6] * 3, [-0.5, -0.25, 0, 0.25, 0.5, 0.75, 1],
    ],
)  # fmt: skip
def test_times_and_doses_were_set(values: list[float]) -> None:
    column = np.round(values, 6)
    assert were_set(column, resolution_of(column))
    assert not read_data(column[:, None], np.arange(len(values))).column_roundings.any()


@pytest.mark.parametrize("decimals", [1, 2, 3])
@pytest.mark.parametrize("rows", [6, 17, 100])
def test_measured_values_were_not_set(rows: int, decimals: int) -> None:
    columns = np.round(np.random.default_rng(rows).normal(20, 4, (200, rows)), decimals)
    assert np.mean([were_set(column, resolution_of(column)) for column in columns]) < 0.1


def test_distances_of_planets_and_boiling_points_were_measured() -> None:
    planets = np.array([0.387, 0.723, 1.0, 1.524, 5.203, 9.539])
    boiling = np.array([194.5, 194.3, 197.9, 198.4, 199.4, 199.9, 200.9, 201.1, 201.4, 201.3, 203.6, 204.6, 209.5])
    for column in (planets, boiling):
        assert not were_set(column, resolution_of(column))


@pytest.mark.parametrize("values", [NORMAL, np.array([0.1]), np.array([0.1, 0.2]), np.array([0.0, 0.0]), np.array([])])
def test_nothing_shows_that_these_were_set(values: np.ndarray) -> None:
    assert not were_set(values, resolution_of(values))


@pytest.mark.parametrize(
    "values",
    [NORMAL, WIDE, 1e-200 * NORMAL, 1e200 * NORMAL, np.exp(NORMAL), np.array([1 / 3, 2 / 3]), np.array([np.pi, 0.5])],
)
def test_full_precision_has_no_resolution(values: np.ndarray) -> None:
    assert resolution_of(values) == Resolution()
    assert not rounding_of(values, Resolution()).any()


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [5e-324], [5e-324, 1.0], [1.7e308, -1.0]])
def test_there_may_be_nothing_to_see(values: list[float]) -> None:
    assert resolution_of(np.array(values)).digits == 0


def test_computed_decimals_are_decimals() -> None:
    assert resolution_of(np.array([0.1 + 0.2, 0.7 - 0.1, 1.1 * 3])).step == 0.1  # 0.30000000000000004 and others


@pytest.mark.parametrize(
    ("values", "step"),
    [([100, 200, 300], 1.0), (10.0 ** np.arange(9), 1.0), ([0.5, 1.0, 1.5], 0.1), ([0.0, 3.0, 7.0, 7.0], 1.0)],
)
def test_few_values_do_not_show_coarse_steps(values: list[float], step: float) -> None:
    assert resolution_of(np.array(values, np.float64)) == Resolution(step, 0)


def test_floats_of_32_bits() -> None:
    assert resolution_of(NORMAL.astype(np.float32).astype(np.float64)) == Resolution(0.0, 8)
    assert resolution_of(np.round(NORMAL, 2).astype(np.float32).astype(np.float64)) == Resolution(0.01, 0)
    rounding = rounding_of(NORMAL, Resolution(0.0, 8))
    assert (rounding < 6e-8 * np.abs(NORMAL)).all()


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=50), st.integers(-6, 0))
def test_all_values_are_multiples_of_the_step(counts: list[int], place: int) -> None:
    values = np.array([float(f"{count}e{place}") for count in counts])
    found = resolution_of(values)
    assert found.step >= 10.0**place or not values.any()
    if found.step:
        np.testing.assert_allclose(np.rint(values / found.step) * found.step, values, rtol=1e-12, atol=0)


def test_rounding_is_what_rounding_does() -> None:
    exact = RNG.uniform(0, 100, 100_000)
    for resolution, values in (
        (Resolution(0.25, 0), np.rint(exact * 4) / 4),
        (Resolution(0.0, 3), np.array([float(f"{value:.3g}") for value in exact])),
    ):
        rounding = rounding_of(values, resolution)
        assert np.mean(((values - exact) / rounding) ** 2) == pytest.approx(1, abs=0.02)


def test_one_value_of_full_precision_among_a_million() -> None:
    values = np.round(np.random.default_rng(1).normal(size=1_000_000), 2)
    since = time.perf_counter()
    assert resolution_of(values).step == 0.01
    values[123_457] = np.pi
    assert resolution_of(values) == Resolution()
    assert time.perf_counter() - since < 3  # 0.15 s on a free machine


def test_data_have_it() -> None:
    data = read_data(NORMAL, np.round(NORMAL, 2))
    assert data.resolution == (0.01, 0)
    np.testing.assert_allclose(data.rounding, 0.01 / np.sqrt(12))
    assert data.take([0, 1]).resolution.step == 0.01
    assert read_data(NORMAL, NORMAL**2).rounding.tolist() == [0.0] * 300
