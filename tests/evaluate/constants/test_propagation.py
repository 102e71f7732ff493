"""Deviations of values: those of linear algebra, whatever constants are redundant."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import Data, fit_constants, read_data
from edhie.evaluate.constants.propagation import value_deviations
from edhie.expr import Forest, parse

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 4, (80, 1))
Y = 3 + 2 * X[:, 0] + 0.3 * RNG.normal(size=80)
COLUMNS = np.array([[-1.0, 0.0, 2.0, 9.0]])


def deviations(text: str, data: Data, columns: np.ndarray = COLUMNS) -> np.ndarray:
    fitted = fit_constants(Forest.from_exprs([parse(text)]), data).forest[0]
    return value_deviations(fitted, data, columns)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_those_of_a_line(is_weighted: bool) -> None:
    weights = RNG.uniform(0.2, 2, 80) if is_weighted else None
    data = read_data(X, Y, weights=weights)
    design, count = np.column_stack([np.ones(80), X[:, 0]]), np.ones(80) if weights is None else weights
    inverse = np.linalg.inv(design.T @ (design * count[:, None]))
    beta = inverse @ design.T @ (count * Y)
    variance = count @ np.square(Y - design @ beta) / 78
    there = np.column_stack([np.ones(4), COLUMNS[0]])
    expected = np.sqrt(variance * np.einsum("ij,jk,ik->i", there, inverse, there))
    np.testing.assert_allclose(deviations("c + c*x0", data), expected, rtol=1e-7)


def test_redundant_constants_change_nothing() -> None:
    data = read_data(X, Y)
    plain = deviations("c + c*x0", data)
    np.testing.assert_allclose(deviations("c + c*x0 + c", data), plain, rtol=1e-6)
    np.testing.assert_allclose(deviations("(c + c*x0)/c", data), plain, rtol=1e-6)


def test_what_data_do_not_tell_is_infinite_and_what_has_no_constant_is_certain() -> None:
    data = read_data(np.column_stack([X, np.zeros(80)]), Y)
    columns = np.array([[1.0, 1.0], [0.0, 1.0]])
    found = deviations("c*x0 + c*x1", data, columns)
    assert np.isfinite(found[0])
    assert np.isinf(found[1])
    np.testing.assert_array_equal(value_deviations(parse("x0"), read_data(X, Y), COLUMNS), 0)
