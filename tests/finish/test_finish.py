"""Finishing over many decades: a term that counts in some rows only is kept, and a law is not exact without it."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.data import Data
from edhie.expr import Forest, parse
from edhie.finish import Finisher
from edhie.selection.description import describe, is_exact
from edhie.selection.noise import CONSTANT, PROPORTIONAL

X = 10.0 ** np.random.default_rng(0).uniform(-3, 9, 60)
LAW = parse("c*x^2 + c*x").with_constants([3.137, 5.731])
WITHOUT = parse("c*x^2").with_constants([3.137])


def data_of(noise: float) -> Data:
    y = (3.137 * X**2 + 5.731 * X) * (1 + noise * np.random.default_rng(1).standard_normal(60))
    return Data(X[np.newaxis], y, None, ("x",))


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_term_that_only_small_rows_show_is_kept(noise: float) -> None:
    finished = Finisher(data_of(noise), PROPORTIONAL if noise else CONSTANT)(LAW)
    assert finished.tokens.count("x") == 2


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_law_over_many_decades_is_shorter_than_one_that_only_large_rows_obey(noise: float) -> None:
    law, other = describe(Forest.from_exprs([LAW, WITHOUT]), data_of(noise)).bits
    assert law < other - 100


def test_what_is_exact_is_so_in_every_row_of_a_target_of_one_sign() -> None:
    assert is_exact(Forest.from_exprs([LAW, WITHOUT]), data_of(0.0)).tolist() == [True, False]


def test_a_small_term_is_kept_where_the_target_has_both_signs() -> None:
    """As that of a diode, whose current is small and negative before it grows by fourteen decades."""
    volts = np.linspace(-1, 0.85, 38)
    data = Data(volts[np.newaxis], 1e-14 * np.expm1(volts / 0.02585), None, ("x",))
    law = parse("c*(exp(c*x) - 1)").with_constants([1e-14, 1 / 0.02585])
    without = parse("c*exp(c*x)").with_constants([1e-14, 1 / 0.02585])
    assert is_exact(Forest.from_exprs([law, without]), data).tolist() == [True, False]
    assert "1)" in str(Finisher(data)(law))


def test_rows_without_weight_do_not_count() -> None:
    y = X**2 + X
    weights = np.ones(60)
    y[3], weights[3] = 1e36, 0.0
    data = Data(X[np.newaxis], y, weights, ("x",))
    more = parse("x^2 + x + c*sin(x)").with_constants([1e-17])
    assert str(Finisher(data)(more)) == "x^2 + x"
    assert is_exact(Forest.from_exprs([parse("x^2 + x"), parse("x^2")]), data).tolist() == [True, False]


def test_a_term_below_rounding_is_dropped() -> None:
    with_more = parse("c*x^2 + c*x + c").with_constants([3.137, 5.731, 1e-18])
    assert str(Finisher(data_of(0.0))(with_more)) == "3.137*x^2 + 5.731*x"
