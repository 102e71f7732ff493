"""Operon, by pyoperon: genetic programming in C++, in single precision."""

from __future__ import annotations

import math
from typing import Any

from edhie.bench.rivals import Answer, Question

PACKAGES = ("pyoperon.sklearn",)
NAMES = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "^": "pow", "^2": "square", "sin": "sin", "cos": "cos",
    "exp": "exp", "log": "log", "sqrt": "sqrt", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "tanh": "tanh", "abs": "abs",
}  # fmt: skip
"""Operon's names of symbols; it writes other powers as products."""
ALWAYS = ("constant", "variable")  # a variable has a coefficient, and the whole expression a scale and an offset
POPULATION = 1000  # its default
ITERATIONS = 5  # of the fit of an expression's constants
DIGITS = 60  # after the point: every number of single precision is printed exactly


def fit(question: Question) -> Answer:
    """Return the formula with the smallest error, and the number of evaluations, as Operon counts them."""
    estimator = make(question).fit(question.X, question.y)
    stats = estimator.stats_
    return formula(estimator, question.names), stats["residual_evaluations"] + stats["jacobian_evaluations"]


def make(question: Question) -> Any:
    """Return the estimator; without constants, in Operon's symbolic mode, whose coefficients are whole numbers."""
    from pyoperon.sklearn import SymbolicRegressor

    budget = question.budget
    return SymbolicRegressor(
        allowed_symbols=",".join([*question.known(NAMES), *ALWAYS]),
        symbolic_mode=not question.has_constants,
        optimizer_iterations=ITERATIONS if question.has_constants else 0,
        population_size=min(POPULATION, budget.evaluations or POPULATION),
        generations=10**6,
        max_evaluations=budget.evaluations or 10**12,
        max_time=None if budget.seconds is None else max(1, math.floor(budget.seconds)),
        model_selection_criterion="mean_squared_error",
        n_threads=1,
        random_state=question.seed,
    )


def formula(estimator: Any, names: list[str]) -> str:
    """Return the estimator's formula over these names."""
    return str(estimator.get_model_string(estimator.model_, precision=DIGITS, names=names))
