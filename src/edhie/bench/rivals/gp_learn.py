"""gplearn: genetic programming in Python, with protected functions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from edhie.bench.rivals import Answer, Question, from_prefix

PACKAGES = ("gplearn.genetic",)
OWN = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "sin": "sin", "cos": "cos", "tan": "tan", "log": "log",
    "sqrt": "sqrt", "abs": "abs",
}  # fmt: skip
MADE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "exp": ("exp", lambda x: np.exp(np.minimum(x, LARGEST))),
    "tanh": ("tanh", np.tanh),
    "atan": ("atan", np.arctan),
    "^2": ("pow2", lambda x: x**2),
    "^3": ("pow3", lambda x: x**3),
    "^4": ("pow4", lambda x: x**4),
    "^5": ("pow5", lambda x: x**5),
}
"""Functions that gplearn lacks, by symbol: the name to add each under, and the function."""
FORMS = {
    "add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "div": "({} / {})", "log": "log(abs({}))",
    "sqrt": "sqrt(abs({}))",
} | {f"pow{k}": f"({{}})^{k}" for k in (2, 3, 4, 5)}  # fmt: skip
"""Formulas of functions, by name, where not simply `name(x)`.

gplearn's own `div` and `log` differ from them: if the divisor or the argument is within 0.001 of 0, they are 1 and 0.
"""
LARGEST = 230.0  # argument of exp; products of larger values would overflow
POPULATION = 1000  # its default
HOPELESS = 1e300  # error of a program with values that are not finite


def fit(question: Question) -> Answer:
    """Return the program with the smallest error of all generations, and the number of programs made."""
    budget, began = question.budget, time.perf_counter()
    estimator, best, generation = make(question), None, 0
    most = (budget.evaluations or 10**12) // estimator.population_size
    while generation < most and (budget.seconds is None or time.perf_counter() - began < budget.seconds):
        generation += 1
        program = estimator.set_params(generations=generation).fit(question.X, question.y)._program
        if best is None or program.raw_fitness_ < best.raw_fitness_:
            best = program
        if budget.target_error is not None and best.raw_fitness_ <= budget.target_error:
            break
    return formula([] if best is None else best.program), estimator.population_size * generation


def make(question: Question) -> Any:
    """Return the estimator; each call of `fit` continues it by one generation."""
    from gplearn.fitness import make_fitness
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    made = [
        make_function(function=function, name=name, arity=1, wrap=False)
        for name, function in (MADE[symbol] for symbol in question.symbols if symbol in MADE)
    ]
    return SymbolicRegressor(
        function_set=[*question.known(OWN), *made],
        metric=make_fitness(function=_rmse, greater_is_better=False, wrap=False),
        const_range=(-1.0, 1.0) if question.has_constants else None,
        population_size=min(POPULATION, question.budget.evaluations or POPULATION),
        generations=1,
        warm_start=True,
        low_memory=True,
        random_state=question.seed,
    )


def formula(program: Sequence[Any]) -> str:
    """Return a program, which has functions, columns and numbers in prefix order, as a formula over x0, x1, …."""
    return from_prefix([_form(part) for part in program])


def _form(part: Any) -> str:
    if hasattr(part, "arity"):
        return FORMS.get(part.name, f"{part.name}({{}})")
    return f"x{part}" if isinstance(part, int | np.integer) else f"({float(part)!r})"


def _rmse(y: Any, predicted: Any, weights: Any) -> float:
    error = float(np.sqrt(np.average(np.square(predicted - y), weights=weights)))
    return error if error < HOPELESS else HOPELESS
