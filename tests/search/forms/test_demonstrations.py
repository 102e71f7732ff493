"""Forms whose parts are found from 200 rows with 1 % noise; run as a script it shows them at full length.

python tests/search/forms/test_demonstrations.py [seconds] [seeds]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edhie.evaluate import Evaluator
from edhie.expr import Expr
from edhie.fit.generator import answer_library
from edhie.form import Form
from edhie.generators import load
from edhie.results import SearchResult
from edhie.search import Budget, run
from edhie.search.forms import FormConfig, FormSearch
from edhie.selection.choice import shortest_description

Numbers = NDArray[np.float64]
N_ROWS, NOISE = 200, 0.01
GENERATOR = load("general-2")
LIBRARY = answer_library(GENERATOR, strict=False, undoing=True)


@dataclass(frozen=True)
class Problem:
    template: str
    truth: Callable[[Numbers, Numbers], Numbers]
    evaluations: int = 6000
    """Enough to find it, for the test."""
    low: float = 0.1
    high: float = 4.0

    def rows(self, n: int, seed: int, stretch: float = 1.0) -> tuple[Numbers, Numbers]:
        table = np.random.default_rng(seed).uniform(self.low, self.high * stretch, (n, 2))
        return table, self.truth(*table.T)

    def evaluator(self, seed: int) -> Evaluator:
        table, y = self.rows(N_ROWS, seed)
        noise = NOISE * y.std() * np.random.default_rng(seed + 1000).standard_normal(N_ROWS)
        return Evaluator(LIBRARY, table, y + noise)

    def search(self, seed: int, budget: Budget) -> tuple[Evaluator, SearchResult]:
        used = self.evaluator(seed)
        return used, run(GENERATOR, used, strategy=FormSearch(FormConfig(self.template)), budget=budget, rng=seed)

    def miss(self, expr: Expr, stretch: float = 1.0) -> float:
        """How far it is from the truth on other rows, as a share of the target's spread."""
        table, y = self.rows(2000, 99, stretch)
        return float(np.sqrt(np.mean((expr(x0=table[:, 0], x1=table[:, 1]) - y) ** 2)) / y.std())


PROBLEMS = {
    "decay": Problem(
        "f(x0)*exp(-c*x1) + g(x1)", lambda a, b: 2 * a / (a + 1.5) * np.exp(-0.7 * b) + 0.3 * b**2, evaluations=12000
    ),
    "sum": Problem("f(x0) + g(x1)", lambda a, b: np.sin(2 * a) + np.log(b + 1), evaluations=12000),
    "product": Problem("f(x0)*g(x1)", lambda a, b: a**1.5 * (1 + 0.5 * np.cos(b))),
    "inside": Problem("log(f(x0, x1))", lambda a, b: np.log(a**2 + 3 * b)),
    "same": Problem("f(x0) + f(x1)", lambda a, b: np.tanh(1.2 * a) + np.tanh(1.2 * b), low=-2.0, high=2.0),
    "polynomial": Problem("f(x0)*x1 + c*sin(x1)", lambda a, b: (1 - 2 * a + 0.5 * a**3) * b + 0.8 * np.sin(b)),
}
WRONG = Problem("f(x0) + g(x1)", lambda a, b: 3 * a * b + np.sin(a))


def chosen(used: Evaluator, result: SearchResult) -> Expr:
    found = shortest_description(result.candidates, used.data)
    assert found is not None
    return found.expr


@pytest.mark.parametrize("name", PROBLEMS)
def test_parts_are_found(name: str) -> None:
    problem = PROBLEMS[name]
    used, result = problem.search(0, Budget(problem.evaluations))
    expr = chosen(used, result)
    assert problem.miss(expr) < 0.005, expr
    assert problem.miss(expr, stretch=1.5) < 0.02, expr  # beyond the data: it is the form, not a likeness
    assert "f" in Form.parse(problem.template, LIBRARY).parts(expr)


def test_a_form_that_is_wrong_gives_the_best_that_it_can() -> None:
    used, result = WRONG.search(0, Budget(4000))
    expr = chosen(used, result)
    columns, y = used.data.columns, used.data.y
    design = np.column_stack([row**power for row in columns for power in range(6)])
    best_sum = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert result.best is not None
    assert result.best.error < 1.1 * np.sqrt(np.mean(best_sum**2))
    assert 0.05 < WRONG.miss(expr) < 0.7


def _show(name: str, problem: Problem, seconds: float, seed: int) -> None:
    used, result = problem.search(seed, Budget(None, seconds))
    expr, spread = chosen(used, result), float(np.std(used.data.y))
    found = Form.parse(problem.template, LIBRARY).parts(expr)
    errors = result.candidates.errors
    at = next(k for k, each in enumerate(result.candidates) if each.expr == expr)
    row: dict[str, Any] = {
        "executed": result.counts.executed, "of it at": int(result.candidates.executed_at[at]),
        "error": f"{errors[at] / spread:.4f}", "off": f"{problem.miss(expr):.4f}",
        "beyond": f"{problem.miss(expr, 1.5):.4f}", "size": expr.size,
    }  # fmt: skip
    print(f"{name:11}{problem.template}", row, {part: f"{each:.4g}" for part, each in found.items()}, flush=True)


if __name__ == "__main__":
    for each, given in {**PROBLEMS, "wrong": WRONG}.items():
        for seed in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
            _show(each, given, float(sys.argv[1]) if len(sys.argv) > 1 else 20.0, seed)
