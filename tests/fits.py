"""Many random expressions with their constants fitted to data: what a search's equations look like, good and bad."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edhie.evaluate import Data, read_data
from edhie.evaluate.constants.fitting import fit_constants
from edhie.expr import Expr, SymbolLibrary
from edhie.grammar.universal import universal_grammar

NAMES = ("x", "t")
OPERATORS = (
    "+", "-", "*", "/", "^", "neg", "^2", "^3", "sqrt", "exp", "log", "abs", "sin", "cos", "tan", "tanh", "atan", "max",
)  # fmt: skip
LIBRARY = SymbolLibrary.of(OPERATORS, NAMES, constant=True)
WRITTEN = SymbolLibrary.of(OPERATORS, NAMES, constant=True, literals=("pi",), numbers=True)
ROWS, LEAST_TOKENS, MOST_TOKENS = 60, 5, 25


def tables(seed: int) -> Iterator[Data]:
    """Tables of many scales, from exact laws to nothing but noise."""
    rng = np.random.default_rng(seed)
    while True:
        x = rng.uniform(0.2, 3.0, ROWS) * 10.0 ** rng.integers(-3, 4)
        t = np.arange(ROWS) * 0.1 + rng.choice([0.0, 2000.0])
        law = 10.0 ** rng.integers(-4, 5) * (np.sin(2.4 * t) + rng.normal() * x / x.mean()) + rng.choice([0.0, 300.0])
        noise = rng.choice([0.0, 1e-10, 1e-7, 1e-4, 0.01, 0.3]) * law.std() * rng.normal(size=ROWS)
        yield read_data({"x": x, "t": t}, law + noise)


def fits(count: int, *, seed: int = 0) -> Iterator[tuple[Expr, Data]]:
    """So many fitted expressions that are finite on their data, each with these."""
    rng, grammar, found = np.random.default_rng(seed), universal_grammar(LIBRARY), 0
    for data in tables(seed):
        forest = grammar.sample(100, rng, max_size=MOST_TOKENS)
        fitted = fit_constants(forest.take(np.flatnonzero(forest.sizes >= LEAST_TOKENS)), data)
        usable = [k for k in np.flatnonzero(np.isfinite(fitted.squared_errors)) if fitted.forest[int(k)].constants]
        for k in usable:
            found += 1
            yield fitted.forest[int(k)], data
            if found == count:
                return
