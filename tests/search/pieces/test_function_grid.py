"""Shapes: functions of one variable with one constant, a user's functions among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from edhie import EDHiERegressor, operator, parse
from edhie.expr import SymbolLibrary
from edhie.search.pieces.function_grid import MOST_VARIABLES, OWN_SCALES, function_grid, own_functions

GUST = operator("gust", 1, numpy=special.erfc)
MIXED = operator("mixed", 2, numpy=np.hypot)
COLUMNS = np.array([np.linspace(0.5, 4, 20), np.linspace(-2, 2, 20)])
ALIKE = np.ones(2)


def test_a_users_functions_have_rates_of_both_signs() -> None:
    library = SymbolLibrary.of(["+", "*", "exp", GUST, MIXED], 2, constant=True)
    assert own_functions(library) == ["gust"]
    found = function_grid(library, COLUMNS, ALIKE)
    own = function_grid(library, COLUMNS, ALIKE, only=["gust"])
    assert [str(each.free()) for each in own] == [
        f"gust(c*{name})" for name in ("x0", "x1") for _ in range(2 * len(OWN_SCALES))
    ]
    assert {str(each) for each in own} <= {str(each) for each in found}
    assert sorted(np.sign(own.values)) == [-1.0] * len(own.values[::2]) + [1.0] * len(own.values[::2])


def test_all_else_is_as_it_was_without_them() -> None:
    names = ["+", "*", "exp", "sin", "log", "^"]
    plain = SymbolLibrary.of(names, 2, constant=True)
    found = function_grid(plain, COLUMNS, ALIKE)
    with_own = function_grid(plain.extended(GUST), COLUMNS, ALIKE)
    assert own_functions(plain) == []
    assert [str(each) for each in with_own if "gust" not in each.tokens] == [str(each) for each in found]


@pytest.mark.parametrize("operators", [[GUST, "+"], [GUST, "*"]])
def test_nothing_that_cannot_be_written(operators: list[Any]) -> None:
    for constant in (True, False):
        library = SymbolLibrary.of(operators, 2, constant=constant)
        assert bool(len(function_grid(library, COLUMNS, ALIKE, only=["gust"]))) == (constant and "*" in operators)
    many = SymbolLibrary.of(["*", GUST], MOST_VARIABLES + 3, constant=True)
    found = function_grid(many, np.tile(COLUMNS[0], (MOST_VARIABLES + 3, 1)), np.arange(MOST_VARIABLES + 3.0))
    assert len(found) == MOST_VARIABLES * 2 * len(OWN_SCALES)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (special.erfc, "8*own(0.6*x)"),
        pytest.param(special.j0, "3*own(2.3*x) + 1", marks=pytest.mark.slow),
        pytest.param(lambda t: 6.112 * np.exp(17.67 * t / (t + 243.5)), "0.35*own(12*x)", marks=pytest.mark.slow),
        (lambda t: np.where(t < 1, np.nan, np.sqrt(np.abs(t - 1))), "2*own(3*x) - 1"),
    ],
)
def test_the_default_search_finds_constants_in_them(function: Callable[..., Any], text: str) -> None:
    own = operator("own", 1, numpy=function)
    x = np.random.default_rng(0).uniform(0.5, 4, (100, 1))
    library = SymbolLibrary.of(["+", "-", "*", own], ["x"], constant=True, numbers=True)
    y = parse(text, library)(x=x[:, 0])
    model = EDHiERegressor(max_time=None, max_evaluations=1000, operators=["+", "-", "*", own])
    model.fit(x, y)
    assert model.best_.loss < 1e-10
    assert model.best_.expr.tokens.count("own") == 1
