"""Waves that were fitted: their printed form is the lowest alias, and no worse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edhie.evaluate import Data, read_data
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest, parse
from edhie.finish.waves import Grid, grid_of, unaliased

RNG = np.random.default_rng(0)
T = np.round(np.arange(120) * 0.04, 10)


def squares(expr: Expr, data: Data) -> float:
    return float(squared_errors(Forest.from_exprs([expr]), data)[0])


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.3])
def test_an_alias_becomes_the_lowest_frequency(noise: float) -> None:
    data = read_data({"t": T}, 3 * np.sin(2.4 * T + 0.47) + noise * RNG.normal(size=len(T)))
    turn = 2 * math.pi / 0.04
    for frequency, phase in ((2.4 + turn, 0.47), (2.4 - 3 * turn, 0.47 + 2e6 * math.pi), (turn - 2.4, math.pi - 0.47)):
        expr = parse("c*sin(c*t + c)", variables=["t"]).with_constants([3.0, frequency, phase])
        found = unaliased(expr, data)
        assert found.size == expr.size
        assert found.constants[1:] == pytest.approx((2.4, 0.47), abs=0.1)
        assert squares(found, data) <= squares(expr, data) * (1 + 1e-9) + 1e-18


def test_a_phase_that_ate_the_digits_of_the_fit_is_refitted() -> None:
    data = read_data({"t": T}, np.sin(1.50048 * T + 0.25) + 1e-10 * RNG.normal(size=len(T)))
    turns = 5.86834e8 // (2 * math.pi)
    expr = parse("sin(c*t + c)", variables=["t"]).with_constants([1.50048, 0.25 + 2 * math.pi * turns])
    found = unaliased(expr, data)
    assert found.constants == pytest.approx((1.50048, 0.25), abs=1e-10)
    assert squares(found, data) < 0.1 * squares(expr, data)


def test_uneven_rows_have_no_aliases_and_bounds_are_kept() -> None:
    uneven = np.sort(RNG.uniform(0, 5, 100))
    expr = parse("sin(c*t + c)", variables=["t"]).with_constants([160.0, 1.0])
    assert unaliased(expr, read_data({"t": uneven}, np.sin(160 * uneven + 1))) == expr
    even = read_data({"t": T}, np.sin(160 * T + 1))
    assert unaliased(expr, even) != expr
    assert unaliased(expr, even, lower=10.0) == expr
    assert unaliased(parse("sin(c*t)", variables=["t"]), even) == parse("sin(c*t)", variables=["t"])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (np.arange(50) * 0.1, Grid(0.0, 0.1)),
        (np.array([0.3, 0.1, 0.8, 0.1, 1.2]), Grid(0.1, 0.1)),
        (np.array([2.0, 8.0, 12.0]), Grid(2.0, 2.0)),
        (np.arange(1000) / 3 + 1e6, Grid(1e6, 1 / 3)),
        (np.linspace(0, 1, 100_001), Grid(0.0, 1e-5)),
        (RNG.uniform(size=30), None),
        (np.array([1.0, 2.0]), None),
        (np.ones(9), None),
        (np.sqrt(np.arange(20)), None),
    ],
)
def test_grids_are_found(column: np.ndarray, expected: Grid | None) -> None:
    found = grid_of(column)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found == pytest.approx(expected, rel=1e-9)
