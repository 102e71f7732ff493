"""PySR: evolution of expressions in Julia, called from Python."""

from __future__ import annotations

import ast
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from edhie.bench.rivals import Answer, Question
from edhie.errors import SearchError

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


def prepare_fit(question: Question) -> None:
    """Import the package, where there is Julia: otherwise the import would download it."""
    if not (shutil.which("julia") or os.environ.get("PYTHON_JULIAPKG_EXE") or Path(sys.prefix, "julia_env").is_dir()):
        raise SearchError(NO_JULIA)
    import pysr  # noqa: F401


def fit(question: Question) -> Answer:
    """Return the formula with the smallest error; PySR does not report its evaluations."""
    from pysr import PySRRegressor

    with tempfile.TemporaryDirectory() as folder:
        estimator = PySRRegressor(**options(question), output_directory=folder).fit(question.X, question.y)
    return formula(str(estimator.get_best()["equation"])), None


def options(question: Question) -> dict[str, Any]:
    """Return its settings: one thread, double precision, deterministic, within the budget."""
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


def formula(equation: str) -> str:
    """Return PySR's text of an equation with its powers written out.

    >>> formula("square(x0 + cube(x1)) - (fifth(0.5) ^ x1)")
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
