"""Oscillations faster than the rows, and poles between them, are seen; what rows resolve is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest, parse
from edhie.selection.between_rows import (
    MOST_ROWS,
    POLE,
    SINGULAR,
    has_pole,
    is_singular,
    neighbours,
    unreliable_bits,
    unresolved,
)
from mosaics import Numbers, data_of, positive

T = np.linspace(0.0, 10.0, 41)[np.newaxis]


@pytest.mark.parametrize(
    ("text", "is_too_fast"),
    [("sin(3*x0)", False), ("2 + cos(12*x0 + 1)", False), ("sin(13*x0)", True), ("x0*cos(400*x0)", True),
     ("tan(7*x0)", True), ("sin(sin(30*x0))", True), ("exp(30*x0)", False), ("sin(3)*x0", False)],
)  # fmt: skip
def test_half_a_turn_from_row_to_row_is_the_limit(text: str, is_too_fast: bool) -> None:
    assert is_unresolved(text, T) == is_too_fast


def is_unresolved(text: str, columns: Numbers, of_rows: int | None = None) -> bool:
    forest = Forest.from_exprs([parse(text, variables=["x0"])])
    return bool(unresolved(forest, columns, of_rows=of_rows)[0])


@pytest.mark.parametrize(
    ("text", "constants", "is_made_up"),
    [("1000*sin(c*x0)", [0.0047], True), ("sin(c*x0)", [0.3], False), ("sin(x0/100)", [], False),
     ("sin(c*x0)", [0.01], True), ("cos(c*sin(x0/7))", [0.1], True), ("c*sin(x0)", [0.1], False)],
)  # fmt: skip
def test_a_fitted_wave_turns_by_an_eighth(text: str, constants: list[float], is_made_up: bool) -> None:
    expr = parse(text, variables=["x0"]).with_constants(constants)
    assert unresolved(Forest.from_exprs([expr]), T).tolist() == [is_made_up]


def test_more_rows_resolve_more() -> None:
    fast = "sin(13*x0)"
    assert not is_unresolved(fast, np.linspace(0, 10, 200)[np.newaxis])
    assert not is_unresolved(fast, T, of_rows=200)  # rows that are not looked at count, too
    assert is_unresolved(fast, np.repeat(T, 5, axis=1))  # the same again says nothing new


def test_each_expression_of_a_forest_has_a_verdict_of_its_own() -> None:
    texts = ["x0 + 1", "2*sin(30*x0) + cos(2*x0)", "cos(2*x0)", "sin(3 + sin(30*x0))", "1.5"]
    forest = Forest.from_exprs([parse(text, variables=["x0"]) for text in texts])
    assert unresolved(forest, T).tolist() == [False, True, False, True, False]


def test_what_rows_cannot_tell_costs_bits() -> None:
    data = data_of(T, T[0])
    forest = Forest.from_exprs([parse(text, variables=["x0"]) for text in ("x0", "1/(x0 - 5.1)", "sin(30*x0)")])
    assert unreliable_bits(forest, data).tolist() == [0.0, POLE, np.inf]


@pytest.mark.parametrize(("exponent", "is_step"), [(1e-9, True), (-1e-7, True), (0.01, False), (2.0, False),
                                                    (12.0, False), (200.0, True), (-9706000.0, True)])  # fmt: skip
def test_a_step_has_no_description(exponent: float, is_step: bool) -> None:
    forest = Forest.from_exprs([parse(f"2*x0^({exponent:.9f}) + 1", variables=["x0"])])
    assert np.isinf(unreliable_bits(forest, data_of(T, T[0])))[0] == is_step


@pytest.mark.parametrize(
    ("text", "low", "is_infinite"),
    [("2/x0", 0.2, True), ("2/x0", 2.0, False), ("2/x0", 0.01, False), ("2/(x0 + 0.5)", 0.2, False),
     ("x0^0.5", 0.2, False), ("log(x0)", 0.2, False), ("x0*log(x0)", 0.2, False)],
)  # fmt: skip
def test_what_is_infinite_at_zero_costs_bits_if_values_nearly_reach_it(
    text: str, low: float, is_infinite: bool
) -> None:
    x = np.linspace(low, 10.0, 30)[np.newaxis]
    forest = Forest.from_exprs([parse(text, variables=["x0"])])
    bits = unreliable_bits(forest, data_of(x, values(forest, x)[0]))
    assert bits.tolist() == [SINGULAR if is_infinite else 0.0]


def test_each_column_may_nearly_reach_zero() -> None:
    x = np.stack([np.linspace(0.2, 10.0, 30), np.linspace(5.0, 0.1, 30), np.linspace(4.0, 5.0, 30)])
    forest = Forest.from_exprs([parse(text, variables=["x0", "x1", "x2"]) for text in ("x0/x2", "x0/x1", "x1/x0")])
    assert is_singular(forest, data_of(x, x[0])).tolist() == [False, True, True]


def poles(text: str, columns: Numbers, y: Numbers) -> bool:
    data = data_of(columns, y)
    names = [f"x{k}" for k in range(len(columns))]
    return bool(has_pole(Forest.from_exprs([parse(text, variables=names)]), data)[0])


@pytest.mark.parametrize(
    ("text", "has"),
    [("1/(x0 - 5.1)", True), ("1/(x0 + 5.1)", False), ("1/(x0 - 20)", False), ("tan(x0)", True)],
)  # fmt: skip
def test_a_pole_between_rows_is_seen(text: str, has: bool) -> None:
    assert poles(text, T, T[0]) == has


def test_a_pole_in_several_variables_is_seen_along_the_nearest_rows() -> None:
    columns = positive(2, 200)
    assert poles("1/(x0 - x1)", columns, columns[0])
    assert not poles("1/(x0 + x1)", columns, columns[0])


@pytest.mark.parametrize(("n_variables", "n_rows"), [(1, 1), (1, 2), (3, 50), (2, 5000)])
def test_points_lie_between_rows(n_variables: int, n_rows: int) -> None:
    columns = positive(n_variables, n_rows)
    points = neighbours(data_of(columns, columns[0]))
    assert points.shape[0] == n_variables
    assert points.shape[1] <= 9 * max(MOST_ROWS, 1)
    if n_rows > 1:
        assert points.shape[1] > 0
        assert (points.min(axis=1) >= columns.min(axis=1)).all()
        assert (points.max(axis=1) <= columns.max(axis=1)).all()
    same = data_of(np.ones((2, 5)), np.arange(5.0))
    assert neighbours(same).shape == (2, 0)
