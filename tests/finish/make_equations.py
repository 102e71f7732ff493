"""Save equations of quick searches on benchmark problems, with the data that they belong to, for tests of finishing.

Run it as `python tests/finish/make_equations.py`; it takes some minutes. The file holds no data: the problem, the noise
and the number of rows determine them.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

from edhie.bench.problem import load_problems
from edhie.evaluate import Data, read_data
from edhie.fit import Settings, discover
from edhie.results import Candidates, SearchResult

FILE = Path(__file__).parent / "equations.json.gz"
ROWS, SECONDS = 100, 2.0
NOISES = (0.0, 0.01, 0.0, 0.1)
LEADERS, BEST, OTHERS = 30, 15, 15  # equations of each search: of short description, of small error, and any


def main() -> None:
    """Search, and write the file."""
    cases, equations = [], []
    problems = [("nguyen", each.id) for each in load_problems("nguyen")]
    problems += [("feynman120", each.id) for each in load_problems("feynman120")]
    for number, (benchmark, problem) in enumerate(problems):
        noise = NOISES[number % len(NOISES)]
        result = discover(data_of(benchmark, problem, noise), Settings(max_time=SECONDS, seed=number)).result
        exprs = chosen(result, np.random.default_rng(number)).forest
        equations += [[number, " ".join(expr.tokens), expr.constants] for expr in exprs]
        cases.append([benchmark, problem, noise])
        print(benchmark, problem, noise, len(equations), flush=True)
    with gzip.GzipFile(FILE, "wb", mtime=0) as file:
        file.write(json.dumps({"cases": cases, "equations": equations}).encode())


def data_of(benchmark: str, problem: str, noise: float) -> Data:
    """Return the first rows of a benchmark problem."""
    found = next(each for each in load_problems(benchmark) if each.id == problem)
    X, y = found.data("train", 0, noise)  # noqa: N806
    return read_data(dict(zip(found.names, X[:ROWS].T, strict=True)), y[:ROWS])


def chosen(result: SearchResult, rng: np.random.Generator) -> Candidates:
    """Return distinct candidates of a search that are defined in all rows."""
    every = result.candidates
    finite = np.flatnonzero(np.isfinite(every.errors))
    by_error = finite[np.argsort(every.errors[finite], kind="stable")]
    some = by_error[rng.integers(0, max(len(by_error) // 4, 1), OTHERS)] if len(by_error) else by_error
    parts = [result.front.candidates, every.take(np.concatenate([by_error[:BEST], some]))]
    parts += [] if result.leaders is None else [result.leaders.take(slice(LEADERS))]
    together = Candidates.concatenate(parts)
    texts = [str(each) for each in together.forest]
    return together.take(sorted({text: k for k, text in reversed(list(enumerate(texts)))}.values()))


if __name__ == "__main__":
    main()
