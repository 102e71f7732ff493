"""Constants of a part that is called twice are one: their standard errors are those of the tied parametrisation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from edhie.errors import ExpressionError
from edhie.evaluate import Data
from edhie.evaluate.constants.uncertainty import TiedConstants, uncertainty
from edhie.expr import SymbolLibrary, parse
from edhie.fit import Settings
from edhie.fit.discover import discover
from edhie.fit.equation import Equation
from edhie.fit.template import ties_of
from edhie.results import Candidate

LIBRARY = SymbolLibrary.of(["+", "-", "*", "exp", "^2"], 2, constant=True, numbers=True)
TEXT = "f(x0) + 2*f(x1)"
ROWS = 80
Numbers = NDArray[np.float64]


def law(parameters: Numbers, columns: Numbers) -> Numbers:
    """f(u) = a*exp(b*u) + d*u, in both places."""
    a, b, d = parameters
    parts = [a * np.exp(b * u) + d * u for u in columns]
    return np.asarray(parts[0] + 2 * parts[1])


def slopes_of(parameters: Numbers, columns: Numbers) -> Numbers:
    """(parameters, rows), by central differences."""
    found = []
    for k, value in enumerate(parameters):
        step = np.zeros(len(parameters))
        step[k] = 1e-5 * max(abs(value), 1.0)
        found.append((law(parameters + step, columns) - law(parameters - step, columns)) / (2 * step[k]))
    return np.array(found)


def measured(parameters: Numbers) -> Data:
    rng = np.random.default_rng(0)
    columns = rng.uniform(0, 2, (2, ROWS))
    return Data(columns, law(parameters, columns) + 0.1 * rng.standard_normal(ROWS), None, ("x0", "x1"))


@pytest.mark.parametrize("parameters", [(1.5, 0.7, -2.0), (-1.5, -0.7, -2.0), (1.5, -0.7, 2.0)])
def test_standard_errors_are_those_of_the_tied_parametrisation(parameters: tuple[float, ...]) -> None:
    at = np.array(parameters)
    data = measured(at)
    expr = parse("c*exp(c*x0) + c*x0 + 2*(c*exp(c*x1) + c*x1)", LIBRARY).with_constants([*parameters, *parameters])
    equation = Equation("y", Candidate(expr, 0.1, 1.0, 1), data, ties=ties_of(expr, TEXT))
    slopes = slopes_of(at, data.columns)
    variance = np.sum((data.y - law(at, data.columns)) ** 2) / (ROWS - len(at))
    covariance = variance * np.linalg.inv(slopes @ slopes.T)
    found = equation.uncertainty
    assert found.degrees_of_freedom == ROWS - len(at)
    by_size = {abs(value): error for value, error in zip(found.values, found.standard_errors, strict=True)}
    wanted = {abs(value): error for value, error in zip(at, np.sqrt(np.diag(covariance)), strict=True)}
    assert by_size == pytest.approx(wanted, rel=1e-5)
    there = np.random.default_rng(1).uniform(0, 3, (2, 20))
    away = slopes_of(at, there)
    spread = np.sqrt(np.einsum("ir,ij,jr->r", away, covariance, away))
    np.testing.assert_allclose(equation.standard_deviations(there), spread, rtol=1e-5)
    apart = replace(equation, ties=None).standard_deviations(there)
    assert not np.allclose(apart, spread, rtol=0.01)  # as they would be, were the copies free


def test_copies_vary_as_one() -> None:
    expr = parse("c*x0 + c*x1", LIBRARY).with_constants([2.0, 2.0])
    data = measured(np.array([1.0, 0.5, 1.0]))
    found = uncertainty(expr, data, ties=TiedConstants((0, 0)))
    assert found.covariance[0, 1] == pytest.approx(found.covariance[0, 0])
    assert found.standard_errors[0] == pytest.approx(found.standard_errors[1])
    with pytest.raises(ExpressionError, match="ties for 3 constants"):
        uncertainty(expr, data, ties=TiedConstants((0, 1, 2)))


def test_what_is_not_determined_is_so_in_all_places() -> None:
    expr = parse("c*x0 + c*x0 + 2*(c*x1 + c*x1)", LIBRARY).with_constants([1.0, 2.0, 1.0, 2.0])
    found = uncertainty(expr, measured(np.array([1.0, 0.5, 1.0])), ties=ties_of(expr, TEXT))
    assert found.unidentified == ((0, 1, 2, 3),)
    assert found.held == (0, 2)  # in all places, and the others are determined then
    assert np.isfinite(found.standard_errors).all()


@pytest.mark.parametrize("text", ["f(x0) + g(x1)", "f(x0)*f(x1)"])
def test_nothing_is_tied_where_parts_are_called_once_or_the_form_is_another(text: str) -> None:
    assert ties_of(parse("c*x0 + c*x1", LIBRARY).with_constants([1.0, 1.0]), text) is None


def test_a_discovery_with_its_template_ties_what_it_found() -> None:
    data = measured(np.array([0.0, 1.0, 1.7]))
    settings = Settings(template="f(x0) + 2*f(x1)", max_time=None, max_evaluations=500)
    found = discover(data, settings)
    tied = [each for each in found.equations if each.ties is not None and len(set(each.ties.of)) < len(each.ties.of)]
    assert tied
    for each in tied:
        assert len(each.uncertainty.values) == len(each.expr.constants)
