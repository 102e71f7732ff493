"""`BenchmarkProblem`: a formula to be rediscovered, and its data."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from edhie.arrays import Numbers
from edhie.bench.problem_files import BASE_UNITS, ProblemError, Unit, Variable, check_name, plain_id, read_rows
from edhie.errors import DataError, EdhieError, raised_as, suggestion
from edhie.evaluate.tables import open_table
from edhie.expr import Expr, parse
from edhie.expr.interpret import interpret
from edhie.expr.standard_libraries import everything

Split = Literal["train", "test"]
SPLITS: tuple[Split, ...] = ("train", "test")
SUFFIX = ".toml"
ALIASES = {"feynman": "feynman120"}
SHIPPED = files("edhie.bench") / "problems"
LEAST_ROWS = 4  # two to train, two to test
FROM_VALUES, FROM_NOISE = 0, 1  # separate random streams, so that noise does not change the points


@dataclass(frozen=True)
class BenchmarkProblem:
    """A formula with ranges for its variables, or a file of measurements; a seed determines the data."""

    id: str
    target: str
    """Name of the target."""
    variables: tuple[Variable, ...]
    name: str = ""
    formula: str | None = None
    """The true formula in infix notation; None if it is unknown."""
    unit: Unit = (0.0,) * len(BASE_UNITS)
    """Unit of the target, as exponents of the base units."""
    library: str = "general"
    """Symbols that an answer may use: nguyen, feynman or general."""
    n_train: int = 1000
    n_test: int = 1000
    source: str = ""
    file: Path | None = None
    """Measurements, used instead of values of the formula."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in the order of the columns."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def truth(self) -> Expr | None:
        """The formula as an expression over the problem's variables."""
        return None if self.formula is None else parse(self.formula, everything(self.names))

    def data(self, split: Split, seed: int, noise: float = 0.0) -> tuple[Numbers, Numbers]:
        """Return `X` (rows, variables) and `y` of the train or test split; the target is multiplied by 1 + noise·ε.

        ε is standard normal. Points do not depend on the noise, and two noise levels share their ε.
        """
        if split not in SPLITS:
            raise ProblemError(f"there is no split {split!r}; ask for 'train' or 'test'")
        if not 0 <= noise < math.inf:
            raise ProblemError(f"noise is a share of the target, 0 or more, not {noise}")
        X, y = self._drawn(split, seed) if self.file is None else self._measured(self.file, split, seed)  # noqa: N806
        if noise:
            y = y * (1 + noise * self._rng(split, seed, FROM_NOISE).standard_normal(len(y)))
        return X, y

    def points(self, n: int, rng: np.random.Generator) -> Numbers:
        """Return `n` points, uniform in the ranges of the variables."""
        low, high = np.array([(each.low, each.high) for each in self.variables]).T
        found: Numbers = rng.uniform(low, high, (n, len(self.variables)))
        return found

    def _drawn(self, split: Split, seed: int) -> tuple[Numbers, Numbers]:
        if self.truth is None:
            raise ProblemError(f"{self.id} has neither a formula to draw data from nor a file of measurements")
        n = self.n_train if split == "train" else self.n_test
        points = self.points(n, self._rng(split, seed, FROM_VALUES))
        columns = dict(zip(self.names, points.T, strict=True))
        y: Numbers = np.array(np.broadcast_to(interpret(self.truth, columns), n), dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(y))
        if len(bad):
            at = ", ".join(f"{name} = {value:.6g}" for name, value in zip(self.names, points[bad[0]], strict=True))
            raise ProblemError(
                f"{self.id}: {self.formula} has no finite value at {len(bad)} of {n} points, such as {at}; "
                "narrow the ranges of its variables"
            )
        return points, y

    def _measured(self, file: Path, split: Split, seed: int) -> tuple[Numbers, Numbers]:
        """Return rows of the file, shuffled by the seed: the first for training, the next for testing."""
        X, y, _ = read_measurements(file, self.target, self.names)  # noqa: N806
        order = self._rng("train", seed, FROM_VALUES).permutation(len(y))
        cut = min(self.n_train, -(-len(y) // 2))
        chosen = np.sort(order[:cut] if split == "train" else order[cut : cut + self.n_test])
        return X[chosen], y[chosen]

    def _rng(self, split: Split, seed: int, stream: int) -> np.random.Generator:
        digest = hashlib.sha256(self.id.encode()).digest()
        return np.random.default_rng([seed, SPLITS.index(split), stream, int.from_bytes(digest[:8], "little")])


def benchmark_names() -> list[str]:
    """Return the names of the benchmarks that come with edhie."""
    return sorted(each.name.removesuffix(SUFFIX) for each in SHIPPED.iterdir() if each.name.endswith(SUFFIX))


def load_problems(name_or_path: str | Path) -> tuple[BenchmarkProblem, ...]:
    """Return the problems of a benchmark or a TOML file, or the one of a CSV file, whose target is the last column.

    >>> [problem.formula for problem in load_problems("nguyen")][:2]
    ['x^3 + x^2 + x', 'x^4 + x^3 + x^2 + x']
    """
    name = ALIASES.get(str(name_or_path), str(name_or_path))
    if name in benchmark_names():
        text = (SHIPPED / f"{name}{SUFFIX}").read_text(encoding="utf-8")
        return tuple(_made(row, name, Path()) for row in read_rows(text, name))
    path = Path(name_or_path)
    if path.suffix.lower() == ".csv":
        columns, _ = read_table(path)
        return (_with_columns(BenchmarkProblem(plain_id(path.stem), columns[-1], (), source=name, file=path), path),)
    if path.suffix.lower() != SUFFIX:
        others = f"; there are {', '.join(benchmark_names())}, or give the path of a {SUFFIX} or .csv file"
        raise ProblemError(f"unknown benchmark {name!r}{suggestion(name, benchmark_names()) or others}")
    if not path.exists():
        raise ProblemError(f"there is no file {path}")
    with raised_as(ProblemError, f"{path} cannot be read"):
        text = path.read_text(encoding="utf-8")
    return tuple(_made(row, name, path.parent) for row in read_rows(text, name))


def chosen(problems: tuple[BenchmarkProblem, ...], ids: list[str]) -> tuple[BenchmarkProblem, ...]:
    """Return the problems with these ids, in the order of the benchmark; case is ignored."""
    known = {problem.id.lower(): problem for problem in problems}
    for each in ids:
        if each.lower() not in known:
            listed = [problem.id for problem in problems]
            hint = suggestion(each.upper(), listed) or f"; there are {', '.join(listed[:20])}"
            raise ProblemError(f"unknown problem {each!r}{hint}")
    wanted = {each.lower() for each in ids}
    return tuple(problem for problem in problems if problem.id.lower() in wanted)


def _made(row: dict[str, Any], where: str, folder: Path) -> BenchmarkProblem:
    """Return the problem of a row; its formula is parsed at once, so that errors come early."""
    data, place = row.pop("data", None), f"{where} ({row['id']})"
    if data is not None and not (folder / data).resolve().is_relative_to(folder.resolve()):
        raise ProblemError(f"{place}: the data {data!r} are not in the folder of {where}; put them there")
    problem = BenchmarkProblem(**row, file=None if data is None else folder / data)
    if problem.file is not None:
        problem = _with_columns(problem, problem.file)
    if problem.target in problem.names:
        raise ProblemError(f"{place}: {problem.target!r} is a variable and the target too; rename one")
    try:
        truth = problem.truth
    except EdhieError as error:
        raise ProblemError(f"{place}: the formula is over {', '.join(problem.names)}; {error}") from None
    if truth is not None and truth.constants:
        raise ProblemError(f"{place}: {truth.library.constant!r} in {problem.formula!r} has no value; write a number")
    return problem


def _with_columns(problem: BenchmarkProblem, file: Path) -> BenchmarkProblem:
    """Return a problem with the columns of its file as variables, and their ranges."""
    given = {variable.name: variable for variable in problem.variables}
    X, _, names = read_measurements(file, problem.target, tuple(given) or None)  # noqa: N806
    for name in names:
        check_name(name, f"{file}, column {name!r}")
    ends = zip(names, X.min(axis=0).tolist(), X.max(axis=0).tolist(), strict=True)
    found = tuple(given.get(name) or Variable(name, low, high) for name, low, high in ends)
    return replace(problem, variables=found)


def read_measurements(
    path: Path, target: str | None = None, variables: Sequence[str] | None = None
) -> tuple[Numbers, Numbers, tuple[str, ...]]:
    """Return X (rows, variables), y and the variables' names of a CSV file; a target by default, the last column."""
    names, table = read_table(path)
    target = names[-1] if target is None else target
    chosen = tuple(variables or (name for name in names if name != target))
    for name in (*chosen, target):
        if name not in names:
            hint = suggestion(name, names) or f"; it has {', '.join(names)}"
            raise ProblemError(f"{path} has no column {name!r}{hint}")
    return table[:, [names.index(name) for name in chosen]], table[:, names.index(target)], chosen


@lru_cache(maxsize=8)
def read_table(path: Path) -> tuple[tuple[str, ...], Numbers]:
    """Return the names of the columns of a CSV file with a header, and their numbers."""
    try:
        file = open_table(path)
        names, table = file.names, file.numbers(file.names)
    except DataError as error:
        raise ProblemError(str(error)) from error
    if len(names) < 2:
        raise ProblemError(f"{path}: the first row must name each column, one of them the target; it names one")
    if len(table) < LEAST_ROWS:
        raise ProblemError(f"{path} has {len(table)} rows below the header; at least {LEAST_ROWS} are needed")
    table.flags.writeable = False  # it is cached
    return names, table
