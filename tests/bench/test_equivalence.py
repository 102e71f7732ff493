"""Which answers are the formula, and which only look like it."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.bench import BenchmarkProblem, load_problems
from edhie.bench.metrics import is_equivalent
from edhie.bench.problem_files import Variable
from edhie.evaluate import fit_constants, read_data
from edhie.expr import Forest, parse
from edhie.expr.standard_libraries import everything

PROBLEMS = {problem.id: problem for name in ("nguyen", "feynman16") for problem in load_problems(name)}


def verdict(problem: BenchmarkProblem, text: str) -> str | None:
    return is_equivalent(parse(text, everything(problem.names)), problem)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NG-1", "x*(x + x*x + 1)"),
        ("NG-5", "sin(x + x^2)/2 + sin(x^2 - x)/2 - 1"),
        ("NG-7", "log(x^3 + x^2 + x + 1)"),
        ("NG-8", "exp(log(x)/2)"),
        ("NG-10", "sin(x + y) + sin(x - y)"),
        ("FM-2", "exp(-(theta/sigma)^2/2)*sqrt(1/(2*pi*sigma^2))"),
        ("FM-10", "(3 + 2*n*alpha)/(3 - n*alpha)"),
        # numbers that were fitted
        ("FM-1", "0.39894228040143*exp(-0.50000000000001*theta^2)"),
        ("FM-9", "0.0795774715459477*Pwr/r^2"),
        ("FM-10", "-2.0000000000001 + 3/(1 - 0.333333333333331*n*alpha)"),
        ("FM-4.1", "0.70710678118655*k_spring*x^2*0.70710678118655"),
    ],
)
def test_the_same(name: str, text: str) -> None:
    assert verdict(PROBLEMS[name], text) == "yes"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NG-1", "x^3 + x^2"),
        ("NG-4", "x^6 + x^5 + x^4 + x^3 + x^2 + x + 1"),
        ("NG-5", "sin(x^2)*cos(x) - 1.001"),
        ("NG-8", "log(-x)"),
        ("FM-1", "0.398942*exp(-theta^2/2)"),
        ("FM-10", "(1 + n*alpha)/(1 - n*alpha/3)"),  # as the paper prints it
    ],
)
def test_not_the_same(name: str, text: str) -> None:
    assert verdict(PROBLEMS[name], text) == "no"


def small(formula: str | None, low: float, high: float) -> BenchmarkProblem:
    return BenchmarkProblem("p", "y", (Variable("x", low, high),), formula=formula, n_train=200, n_test=10)


def test_ranges_decide() -> None:
    assert verdict(small("x", 1, 5), "sqrt(x^2)") == "yes"
    assert verdict(small("x", -5, 5), "sqrt(x^2)") == "no"
    assert verdict(small("x", -5, 5), "sqrt(x)^2") == "no"  # it has no value where the formula has one


def test_nobody_knows() -> None:
    assert verdict(small(None, 0, 1), "x") is None


def test_constants_without_values_are_undecided() -> None:
    assert verdict(small("2*x", 0, 1), "c*x") == "undecided"


def test_what_only_comes_close_inside_the_data_is_not_the_formula() -> None:
    problem = small("sin(x)", 0, 0.5)
    points, y = problem.data("train", 0)
    form = "c*x + c*x^2 + c*x^3 + c*x^4 + c*x^5 + c*x^6 + c*x^7 + c*x^8 + c*x^9"
    forest = Forest.from_exprs([parse(form, everything(["x"]))])
    fitted = fit_constants(forest, read_data(points, y)).forest[0]
    rmse = float(np.sqrt(np.mean((fitted(x=points[:, 0]) - y) ** 2)))
    assert rmse < 1e-10  # so that only what lies beyond the data tells
    assert is_equivalent(fitted, problem) == "no"


def test_numbers_that_refining_reaches_slowly_are_put_where_they_belong() -> None:
    doubly = "((-0.5e-7 - x)*k_spring + k_spring*x*0.5)*(1e-7 - x)"  # (a - x/2)*(b - x), a and b near to 0
    assert verdict(PROBLEMS["FM-4.1"], doubly) == "yes"


def test_constants_fitted_to_noise_are_fitted_again() -> None:
    problem = PROBLEMS["FM-4.1"]
    noisy = parse("0.5004*k_spring*x^2", everything(problem.names)).numbers_to_constants()
    assert is_equivalent(noisy, problem) == "no"
    assert is_equivalent(noisy, problem, refit=True) == "yes"
    wrong = parse("0.5004*k_spring*x", everything(problem.names)).numbers_to_constants()
    assert is_equivalent(wrong, problem, refit=True) == "no"
