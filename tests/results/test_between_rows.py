"""Oscillations faster than the rows, and poles between them, are seen; what rows resolve is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import Forest, parse
from edhie.results.between_rows import MOST_ROWS, expr_ends, has_pole, is_unresolved, neighbours
from mosaics import Numbers, data_of, positive

T = np.linspace(0.0, 10.0, 41)[np.newaxis]


@pytest.mark.parametrize(
    ("text", "is_too_fast"),
    [("sin(3*x0)", False), ("2 + cos(12*x0 + 1)", False), ("sin(13*x0)", True), ("x0*cos(400*x0)", True),
     ("tan(7*x0)", True), ("sin(sin(30*x0))", True), ("exp(30*x0)", False), ("sin(3)*x0", False)],
)  # fmt: skip
def test_half_a_turn_from_row_to_row_is_the_limit(text: str, is_too_fast: bool) -> None:
    assert is_unresolved(parse(text, variables=["x0"]), data_of(T, T[0])) == is_too_fast


def test_more_rows_resolve_more() -> None:
    fast = parse("sin(13*x0)", variables=["x0"])
    many = np.linspace(0, 10, 200)[np.newaxis]
    assert not is_unresolved(fast, data_of(many, many[0]))
    few_times = np.repeat(T, 5, axis=1)  # the same again says nothing new
    assert is_unresolved(fast, data_of(few_times, few_times[0]))


def test_ends_of_subtrees() -> None:
    expr = parse("sin(x0 + 1)*x0")
    ends = expr_ends(expr)
    assert ends[0] == len(expr.tokens)
    assert [expr.tokens[k : ends[k]] for k in range(1, 3)] == [("sin", "+", "x0", "1"), ("+", "x0", "1")]


def poles(text: str, columns: Numbers, y: Numbers) -> bool:
    data = data_of(columns, y)
    names = [f"x{k}" for k in range(len(columns))]
    return bool(has_pole(Forest.from_exprs([parse(text, variables=names)]), data, neighbours(data))[0])


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
