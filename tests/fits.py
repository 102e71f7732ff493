"""Many random expressions with their constants fitted to data: what a search's equations look like, good and bad."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edhie.evaluate import Data, read_data
from edhie.evaluate.constants.fitting import fit_constants
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from strategies import grown

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


def trees(library: SymbolLibrary, rng: np.random.Generator, count: int, *, most: int = MOST_TOKENS) -> list[Expr]:
    """So many random trees of a library's symbols, half of them leaves, constants without values."""
    operators = [symbol.name for symbol in library.symbols if symbol.arity]
    leaves = [symbol.name for symbol in library.symbols if symbol.kind in ("variable", "constant", "literal")]
    found: list[Expr] = []
    while len(found) < count:
        drawn = [str(rng.choice(operators if rng.random() < 0.5 else leaves)) for _ in range(rng.integers(4, most))]
        tokens = grown(library, drawn, library.symbols)
        if LEAST_TOKENS <= len(tokens) <= most:
            found.append(Expr(library, tokens))
    return found


def right(data: Data) -> list[Expr]:
    """The law of a table, and the same with a phase of so many turns that it takes most of its digits."""
    x, t = data.columns
    basis = np.stack([np.sin(2.4 * t), np.cos(2.4 * t), x, np.ones(ROWS)])
    a, b, slope, offset = np.linalg.lstsq(basis.T, data.y, rcond=None)[0].tolist()
    law = parse("c*sin(c*t + c) + c*x + c", LIBRARY)
    phases = [np.arctan2(b, a) + 2 * np.pi * turns for turns in (0.0, 1e8)]
    return [law.with_constants([np.hypot(a, b), 2.4, float(phase), slope, offset]) for phase in phases]


def fits(count: int, *, seed: int = 0) -> Iterator[tuple[Expr, Data]]:
    """So many fitted expressions that are finite on their data, each with these."""
    rng, found = np.random.default_rng(seed), 0
    for data in tables(seed):
        fitted = fit_constants(Forest.from_exprs([*right(data), *trees(LIBRARY, rng, 30)], LIBRARY), data)
        for k in np.flatnonzero(np.isfinite(fitted.squared_errors)).tolist():
            if fitted.forest[k].constants:
                found += 1
                yield fitted.forest[k], data
            if found == count:
                return
