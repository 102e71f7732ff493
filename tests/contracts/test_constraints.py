"""However it is searched: every equation that comes out keeps to the constraints, stopped and gone on with or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie import Constraints
from edhie.errors import SearchError
from edhie.evaluate import Evaluator
from edhie.expr import SymbolLibrary
from edhie.generators import load
from edhie.search import Budget, Strategy, run, strategy_named
from edhie.search.evolution import Evolve, EvolveConfig
from edhie.search.sampling import Draw, DrawConfig
from searches import assert_same

HVAE = load("nguyen-2")
X = np.random.default_rng(0).uniform(0.5, 3, (50, 2))
A, B = X.T
TARGETS = {
    "sin(x0)*x1": np.sin(A) * B,
    "x0^2": A**2,
    "noisy": np.exp(-A) * B + np.log(B) + 0.01 * np.random.default_rng(1).normal(size=50),
}
SEARCHES: dict[str, Callable[[], Strategy]] = {
    "draw": lambda: Draw(DrawConfig(batch=100, attempts=20_000)),
    "evolve": lambda: Evolve(EvolveConfig(population=40, offspring=40)),
    "mosaic": lambda: strategy_named("mosaic"),
}
STRICT = HVAE.library
FREE = STRICT.extended(*SymbolLibrary.of(["^", "tanh"], 0, constant=True).symbols)


def some_constraints(rng: np.random.Generator, library: SymbolLibrary) -> Constraints:
    """Any constraints that leave something to be found."""
    operators = [s.name for s in library.symbols if s.kind == "operator"] + ["*"]

    def table(names: list[str], most: int) -> dict[str, list[str]]:
        keys = rng.choice(operators, rng.integers(0, 4), replace=False)
        return {str(key): [str(each) for each in rng.choice(names, rng.integers(0, most))] for key in keys}

    return Constraints(
        max_size=None if rng.random() < 0.4 else int(rng.integers(3, 16)),
        nested=table(operators, 6),
        only_on=table(list(library.variables), 3) if rng.random() < 0.5 else {},
        all_variables=bool(rng.random() < 0.4),
        forbidden=has_a_square if rng.random() < 0.2 else None,
    )


def has_a_square(expr: Any) -> bool:
    return "^2" in expr.tokens


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("seed", range(12))
def test_every_equation_keeps_to_them(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    library = (STRICT, FREE)[seed % 2]
    constraints = some_constraints(rng, library)
    y = list(TARGETS.values())[seed % 3]
    used = Evaluator(library, X, y, constraints=constraints)
    result = run(HVAE, used, strategy=SEARCHES[name](), budget=Budget(250), rng=seed)
    forest = result.candidates.forest
    assert constraints.allowed(forest).all()
    assert constraints.allowed(used.explored.forest).all()
    assert used.counts.executed <= 400
    again = Evaluator(library, X, y, constraints=constraints)
    assert_same(run(HVAE, again, strategy=SEARCHES[name](), budget=Budget(250), rng=seed), result)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("constraints", [
    Constraints(max_size=7, all_variables=True),
    Constraints(nested={"*": ["*"], "/": ["/"]}, only_on={"log": ["x"]}, forbidden=has_a_square),
])  # fmt: skip
def test_stopped_and_gone_on_with_it_ends_the_same(name: str, constraints: Constraints, tmp_path: Path) -> None:
    def search(evaluations: int, **options: Any) -> Any:
        used = Evaluator(FREE, X, TARGETS["noisy"], constraints=constraints)
        return run(HVAE, used, strategy=SEARCHES[name](), budget=Budget(evaluations), rng=3, **options)

    constraints = constraints.renamed({"x": FREE.variables[0]})
    for evaluations in (90, 250, 500):
        result = search(evaluations, folder=tmp_path / "run", resume=True)
    assert_same(result, search(500))
    constraints = Constraints(max_size=8, all_variables=True)
    with pytest.raises(SearchError, match=r"the saved search has .*, not constraints"):
        search(500, folder=tmp_path / "run", resume=True)
