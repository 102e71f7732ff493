"""Packages of pip as rivals: each function answers a question, and one `prepare_` imports what its runs need.

Operon, by pyoperon, is genetic programming in C++, in single precision; gplearn is genetic programming in Python, with
protected functions; PySR is evolution of expressions in Julia, called from Python.
"""

from __future__ import annotations

import ast
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edhie.bench.rivals import Answer, Question, from_prefix
from edhie.errors import SearchError

POPULATION = 1000  # the default of both, which is no larger than the number of evaluations

# -- Operon -------------------------------------------------------------------------------

OPERON = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "^": "pow", "^2": "square", "sin": "sin", "cos": "cos",
    "exp": "exp", "log": "log", "sqrt": "sqrt", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "tanh": "tanh", "abs": "abs",
}  # fmt: skip
"""Operon's names of symbols; it writes other powers as products."""
ALWAYS = ("constant", "variable")  # a variable has a coefficient, and the whole expression a scale and an offset
ITERATIONS = 5  # of the fit of an expression's constants
DIGITS = 60  # after the point: every number of single precision is printed exactly


def prepare_operon(question: Question) -> None:
    """Import the package."""
    import pyoperon.sklearn  # noqa: F401


def operon(question: Question) -> Answer:
    """Return the formula with the smallest error, and the number of evaluations, as Operon counts them."""
    estimator = operon_estimator(question).fit(question.X, question.y)
    stats = estimator.stats_
    return operon_formula(estimator, question.names), stats["residual_evaluations"] + stats["jacobian_evaluations"]


def operon_estimator(question: Question) -> Any:
    """Return the estimator; without constants, in Operon's symbolic mode, whose coefficients are whole numbers."""
    from pyoperon.sklearn import SymbolicRegressor

    budget = question.budget
    return SymbolicRegressor(
        allowed_symbols=",".join([*question.known(OPERON), *ALWAYS]),
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


def operon_formula(estimator: Any, names: list[str]) -> str:
    """Return the estimator's formula over these names."""
    return str(estimator.get_model_string(estimator.model_, precision=DIGITS, names=names))


# -- gplearn ---------------------------------------------------------------------------

GPLEARN = {
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
HOPELESS = 1e300  # error of a program with values that are not finite


def prepare_gplearn(question: Question) -> None:
    """Import the package."""
    import gplearn.genetic  # noqa: F401


def gplearn(question: Question) -> Answer:
    """Return the program with the smallest error of all generations, and the number of programs made."""
    budget, began = question.budget, time.perf_counter()
    estimator, best, generation = gplearn_estimator(question), None, 0
    most = (budget.evaluations or 10**12) // estimator.population_size
    while generation < most and (budget.seconds is None or time.perf_counter() - began < budget.seconds):
        generation += 1
        program = estimator.set_params(generations=generation).fit(question.X, question.y)._program
        if best is None or program.raw_fitness_ < best.raw_fitness_:
            best = program
        if budget.target_error is not None and best.raw_fitness_ <= budget.target_error:
            break
    return gplearn_formula([] if best is None else best.program), estimator.population_size * generation


def gplearn_estimator(question: Question) -> Any:
    """Return the estimator; each call of `fit` continues it by one generation."""
    from gplearn.fitness import make_fitness
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    made = [
        make_function(function=function, name=name, arity=1, wrap=False)
        for name, function in (MADE[symbol] for symbol in question.symbols if symbol in MADE)
    ]
    return SymbolicRegressor(
        function_set=[*question.known(GPLEARN), *made],
        metric=make_fitness(function=_rmse, greater_is_better=False, wrap=False),
        const_range=(-1.0, 1.0) if question.has_constants else None,
        population_size=min(POPULATION, question.budget.evaluations or POPULATION),
        generations=1,
        warm_start=True,
        low_memory=True,
        random_state=question.seed,
    )


def gplearn_formula(program: Sequence[Any]) -> str:
    """Return a program, which has functions, columns and numbers in prefix order, as a formula over x0, x1, …."""
    return from_prefix([_form(part) for part in program])


def _form(part: Any) -> str:
    if hasattr(part, "arity"):
        return FORMS.get(part.name, f"{part.name}({{}})")
    return f"x{part}" if isinstance(part, int | np.integer) else f"({float(part)!r})"


def _rmse(y: Any, predicted: Any, weights: Any) -> float:
    error = float(np.sqrt(np.average(np.square(predicted - y), weights=weights)))
    return error if error < HOPELESS else HOPELESS


# -- PySR ------------------------------------------------------------------------------

BINARY = {"+": "+", "-": "-", "*": "*", "/": "/", "^": "^"}
UNARY = {
    "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp", "log": "log", "sqrt": "sqrt", "asin": "asin",
    "acos": "acos", "atan": "atan", "tanh": "tanh", "abs": "abs", "^2": "square", "^3": "cube",
    "^4": "fourth(x) = x^4", "^5": "fifth(x) = x^5",
}  # fmt: skip
POWERS = {"square": 2, "cube": 3, "fourth": 4, "fifth": 5}
NO_JULIA = (
    "PySR needs Julia, and none is found; install Julia, or import pysr once where the network can be reached; "
    "the paper's figures of PySR are in docs/benchmarks.md"
)


def prepare_pysr(question: Question) -> None:
    """Import the package, where there is Julia: otherwise the import would download it."""
    if not (shutil.which("julia") or os.environ.get("PYTHON_JULIAPKG_EXE") or Path(sys.prefix, "julia_env").is_dir()):
        raise SearchError(NO_JULIA)
    import pysr  # noqa: F401


def pysr(question: Question) -> Answer:
    """Return the formula with the smallest error; PySR does not report its evaluations."""
    from pysr import PySRRegressor

    with tempfile.TemporaryDirectory() as folder:
        estimator = PySRRegressor(**_pysr_options(question), output_directory=folder).fit(question.X, question.y)
    return pysr_formula(str(estimator.get_best()["equation"])), None


def _pysr_options(question: Question) -> dict[str, Any]:
    budget, unary = question.budget, question.known(UNARY)
    powers = {name: (lambda x, k=k: x**k) for name, k in POWERS.items()}
    return {
        "binary_operators": question.known(BINARY), "unary_operators": unary, "extra_sympy_mappings": powers,
        "model_selection": "accuracy", "precision": 64, "niterations": 10**6, "max_evals": budget.evaluations,
        "timeout_in_seconds": budget.seconds,
        "early_stop_condition": None if budget.target_error is None else budget.target_error**2,
        "parallelism": "serial", "deterministic": True, "random_state": question.seed, "input_stream": "devnull",
        "verbosity": 0, "progress": False,
    }  # fmt: skip


def pysr_formula(equation: str) -> str:
    """Return PySR's text of an equation with its powers written out.

    >>> pysr_formula("square(x0 + cube(x1)) - (fifth(0.5) ^ x1)")
    '(x0 + x1 ** 3) ** 2 - (0.5 ** 5) ** x1'
    """
    return ast.unparse(_Powers().visit(ast.parse(equation.replace("^", "**"), mode="eval")))


class _Powers(ast.NodeTransformer):
    """Rewrite calls such as `square(x)` as powers."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Return the power that a call stands for."""
        called = self.generic_visit(node)
        assert isinstance(called, ast.Call)
        if isinstance(called.func, ast.Name) and called.func.id in POWERS:
            return ast.BinOp(called.args[0], ast.Pow(), ast.Constant(POWERS[called.func.id]))
        return called
