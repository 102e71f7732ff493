"""How fast expressions are evaluated on data, beside NumPy, symbolic-regression-toolkit and pyoperon; one core.

python perf/evaluate.py [--quick]

What all are asked for is the sum of squared errors (or a figure made of it) of every expression. The
expressions are distinct, have at least 5 nodes and are finite on all rows, so that nobody ends
early. Rates are of processor time, which other work on the machine disturbs least; the contenders
take turns and each has its best round. Only the scaling over two cores, and starts, are of wall time.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from report import Report, arguments, hold_one_core

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
hold_one_core()

import numpy as np  # noqa: E402 -- after the limits on threads

from edhie.evaluate.data import Data  # noqa: E402
from edhie.evaluate.parallel import using_threads  # noqa: E402
from edhie.evaluate.reading import read_data  # noqa: E402
from edhie.evaluate.values import squared_errors  # noqa: E402
from edhie.expr import Expr, Forest, from_prefix  # noqa: E402
from edhie.grammar import SHIPPED, load  # noqa: E402
from edhie.grammar.pcfg import PCFG  # noqa: E402

COUNT, LEAST_NODES, MOST_NODES = 2000, 5, 50
ENORMOUS = 1e300  # a bound that nothing passes; under one, expressions share no subtrees
MANY_ROWS = 20_000  # where threads are worth having: one forest is some 50 ms of work
ROWS = (200, 5000)
ROUNDS = 7
SHORTEST = 0.05
"""Seconds that a contender is kept busy for in a round: what takes less is done several times."""
PICTURE = Path(__file__).parent / "results" / "evaluate.png"
BIG_ROWS, BIG_COLUMNS, BIG_COUNT = 1_000_000, 10, 1000

START = """
import sys, time
began = time.perf_counter()
import numpy as np
from edhie.evaluate.reading import read_data
from edhie.evaluate.values import squared_errors
from edhie.expr import Forest, parse
imported = time.perf_counter()
forest = Forest.from_exprs([parse("sin(x0)^2 + exp(x1/x0)"), parse("log(x0)*x1")])
X = np.linspace(1, 2, 200).reshape(100, 2)
squared_errors(forest, read_data(X, X[:, 0]))
print(imported - began, flush=True)
"""


# -- what is evaluated ----------------------------------------------------------------


def table(rows: int, columns: int = 2) -> Data:
    """Variables between 1 and 5; fewer rows are the first of more."""
    X = np.random.default_rng(1).uniform(1.0, 5.0, (rows, columns))  # noqa: N806 -- as scikit-learn calls it
    return read_data(X, np.sin(X[:, 0]) + X[:, 1] ** 3)


def expressions(count: int, data: Data, grammar: PCFG | None = None, least: int = LEAST_NODES) -> Forest:
    """Distinct expressions of the Nguyen grammar that are finite on all rows of the data."""
    drawn = (grammar or load("nguyen-2")).sample(30 * count, np.random.default_rng(0), max_size=MOST_NODES).unique()
    drawn = drawn[drawn.sizes >= least][: 2 * count]
    return drawn[np.isfinite(squared_errors(drawn, data))][:count]


def nodes(forest: Forest) -> int:
    """All of them: operators and leaves."""
    return int(forest.sizes.sum())


# -- who evaluates ---------------------------------------------------------------------


def by_edhie(forest: Forest, data: Data) -> np.ndarray:
    """From tokens to errors: planning is part of it."""
    return squared_errors(forest, data)


UFUNCS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide,
    "sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "^2": np.square,
    # np.power would take many times as long
    "^3": lambda a: a * a * a, "^4": lambda a: np.square(np.square(a)), "^5": lambda a: np.square(np.square(a)) * a,
}  # fmt: skip
PYOPERON_NAMES = {"square": "^2"}
TOOLKIT_NAMES = {"log": "ln", "x0": "X_0", "x1": "X_1"}


class ByNumPy:
    """An interpreter: tokens from the right, one call of a ufunc for each operator, operands on a stack."""

    def __init__(self, forest: Forest) -> None:
        library = forest.library
        self.functions = [UFUNCS.get(name) for name in library.names]
        self.arities = library.arities.tolist()
        self.variables = [library.variables.index(name) if name in library.variables else -1 for name in library.names]
        bounds = forest.offsets.tolist()
        tokens = forest.tokens.tolist()
        self.reversed = [tokens[start:stop][::-1] for start, stop in pairwise(bounds)]

    def errors(self, data: Data) -> np.ndarray:
        """The sum of squared errors of each."""
        functions, arities, variables = self.functions, self.arities, self.variables
        columns, y, found = list(data.columns), data.y, np.empty(len(self.reversed))
        with np.errstate(all="ignore"):
            for k, tokens in enumerate(self.reversed):
                stack: list[Any] = []
                for token in tokens:
                    arity = arities[token]
                    if arity == 0:
                        stack.append(columns[variables[token]])
                    elif arity == 1:
                        stack.append(functions[token](stack.pop()))  # type: ignore[misc]
                    else:
                        stack.append(functions[token](stack.pop(), stack.pop()))  # type: ignore[misc]
                left_over = stack[0] - y
                found[k] = left_over @ left_over
        return found


class BySRToolkit:
    """symbolic-regression-toolkit: a tree is compiled by its default, and called once; trees are made beforehand."""

    def __init__(self, forest: Forest) -> None:
        from SRToolkit import utils

        self.compile = utils.compile_expr_rmse
        names = [TOOLKIT_NAMES.get(name, name) for name in forest.library.names]
        operators = [name for name in names if not name.startswith("X_")]
        self.symbols = utils.SymbolLibrary.from_symbol_list(operators, num_variables=2)
        spelled = ([TOOLKIT_NAMES.get(token, token) for token in expr.tokens] for expr in forest)
        self.trees = [utils.tokens_to_tree(tokens, self.symbols, notation="prefix") for tokens in spelled]

    def errors(self, data: Data) -> np.ndarray:
        """The sum of squared errors of each, from its root of their mean."""
        X, constants = np.ascontiguousarray(data.columns.T), np.empty(0)  # noqa: N806
        with np.errstate(all="ignore"):
            errors = [self.compile(tree, self.symbols)(X, constants, data.y) for tree in self.trees]
        return data.n_rows * np.square(errors)


class ByPyoperon:
    """pyoperon: genetic programming without fitting of constants, so that evaluations are nearly all it does.

    The estimator's rate: every node of every tree that it evaluates, times rows, over processor time
    of a run less that of a run that ends with the first population. Its trees are its own, as
    its parser is unreliable: operators of the Nguyen grammar as far as it has them (no ^3, ^4, ^5),
    sizes like ours; which of them a run comes to favour decides what its nodes cost. So its engine
    alone is measured as well, and edhie beside it on the same trees. Its variables carry a factor
    that is not counted as a node and that edhie's have not. Single precision.
    """

    OPERATORS = "add,sub,mul,div,sin,cos,exp,log,sqrt,square,variable"
    GENERATIONS = 8

    def __init__(self, data: Data) -> None:
        import pyoperon
        from pyoperon.sklearn import SymbolicRegressor

        self.its, self.estimator = pyoperon, SymbolicRegressor
        self.X, self.y = data.columns.T.copy(), data.y
        self.evaluated = self._nodes()
        self.trees, self.forest = self._first_trees(data)

    def fit(self, generations: int) -> Any:
        """A run of so many generations."""
        return self.estimator(
            allowed_symbols=self.OPERATORS, population_size=COUNT, generations=generations, max_evaluations=10**9,
            optimizer_iterations=0, initialization_max_length=20, max_length=MOST_NODES, epsilon=0.0, n_threads=1,
            random_state=0,
        ).fit(self.X, self.y)  # fmt: skip

    def _nodes(self) -> int:
        """Nodes evaluated after the first population; the same seed runs through the same generations.

        An estimator keeps parents and offspring after they were sorted together: what one
        generation evaluates is all of that less the parents before.
        """
        total, parents = 0, 0
        for generation in range(self.GENERATIONS + 1):
            sizes = [each.Genotype.Length for each in self.fit(generation).individuals_]
            total += sum(sizes) - parents if generation else 0
            parents = sum(sizes[:COUNT])
        return total

    def _first_trees(self, data: Data) -> tuple[list[Any], Forest]:
        """Its first population, drawn at random, and the same for edhie; distinct and finite."""
        first = self.fit(0)
        library, places = load("nguyen-2").library, list(first.variables_)
        own: dict[Expr, Any] = {}
        for each in first.individuals_[:COUNT]:
            # an operator stands after its operands, the first of them the nearest: backwards that is prefix order
            tokens = [
                f"x{places.index(node.HashValue)}" if node.IsVariable else PYOPERON_NAMES.get(node.Name, node.Name)
                for node in reversed(each.Genotype.Nodes)
            ]
            own[from_prefix(" ".join(tokens), library)] = each.Genotype
        forest = Forest.from_exprs(own)
        finite = np.isfinite(squared_errors(forest, data))
        return [tree for tree, is_finite in zip(own.values(), finite, strict=True) if is_finite], forest[finite]

    def engine(self) -> None:
        """Its engine alone on these trees: values, without errors."""
        columns = np.asfortranarray(np.column_stack((self.X, self.y)))
        dataset, dispatch = self.its.Dataset(columns), self.its.DispatchTable()
        rows = self.its.Range(0, len(self.y))
        for tree in self.trees:
            self.its.Evaluate(dispatch, tree, dataset, rows)


def unless_missing(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except ImportError:
        return None


# -- measures ---------------------------------------------------------------------------


def timed(run: Callable[[], Any]) -> float:
    """Seconds of processor time for one run, the mean of as many as fill `SHORTEST`."""
    count, began = 0, time.process_time()
    while True:
        run()
        count += 1
        seconds = time.process_time() - began
        if seconds >= SHORTEST:
            return seconds / count


def in_turns(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The best of several rounds for each."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], timed(run))
    return best


def measure_peers(report: Report, forest: Forest, quick: bool) -> None:
    numpy, toolkit = ByNumPy(forest), unless_missing(lambda: BySRToolkit(forest))
    size = f"{len(forest):,} expressions, mean size {forest.sizes.mean():.1f}"
    for rows in ROWS:
        data = table(rows)
        runs: dict[str, Callable[[], Any]] = {
            "edhie": lambda data=data: by_edhie(forest, data),
            "alone": lambda data=data: squared_errors(forest, data, bounds=ENORMOUS),
            "numpy": lambda data=data: numpy.errors(data),
        }
        if toolkit is not None:
            runs["srtoolkit"] = lambda data=data: toolkit.errors(data)
        found = {name: run() for name, run in runs.items()}
        for name, errors in found.items():  # all but such as sin(exp(exp(x))), which rounding decides
            assert np.isclose(errors, found["edhie"], rtol=1e-6).mean() > 0.995, f"{name} has other errors"
        seconds = in_turns(runs, 2 if quick else ROUNDS)
        rate = nodes(forest) * rows / seconds["edhie"]
        report.row(f"edhie, {rows:,} rows", f"{len(forest) / seconds['edhie']:,.0f}/s", size)
        report.row("…", f"{rate:.3g} nodes × rows/s", "double precision, from tokens to errors")
        titles = {"alone": "edhie, each alone: no subtrees shared", "numpy": "NumPy interpreter"}
        for name, title in (titles | {"srtoolkit": "symbolic-regression-toolkit"}).items():
            ratio = seconds[name] / seconds["edhie"] if name in seconds else None
            speed = "not measured" if ratio is None else f"{len(forest) / seconds[name]:,.0f}/s"
            remark = "not installed (extra: peers)" if ratio is None else f"edhie {ratio:,.1f}×"
            report.row(f"… {title}", speed, remark)
            report.figure(f"ratio_{name}_{rows}", ratio)
        if rows == max(ROWS):
            report.figure("node_evals_per_s", rate)


def measure_pyoperon(report: Report, forest: Forest, quick: bool) -> None:
    data = table(max(ROWS))
    peer = unless_missing(lambda: ByPyoperon(data))
    report.figure("ratio_pyoperon", None)
    if peer is None:
        report.row("pyoperon", "not measured", "not installed (extra: peers)")
        return
    runs = {
        "edhie": lambda: by_edhie(forest, data),
        "short": lambda: peer.fit(0),
        "long": lambda: peer.fit(peer.GENERATIONS),
        "same": lambda: by_edhie(peer.forest, data),
        "engine": peer.engine,
    }
    seconds = in_turns(runs, 2 if quick else ROUNDS)
    rate = peer.evaluated / (seconds["long"] - seconds["short"])
    ratio = nodes(forest) / seconds["edhie"] / rate
    remark = f"single precision, {data.n_rows:,} rows; edhie {ratio:.2f}×"
    report.row("pyoperon's estimator", f"{rate * data.n_rows:.3g} nodes × rows/s", remark)
    report.figure("ratio_pyoperon", ratio)
    rate, ratio = nodes(peer.forest) / seconds["engine"], seconds["engine"] / seconds["same"]
    remark = f"{len(peer.forest):,} of its first trees; edhie on the same {ratio:.2f}×"
    report.row("… its engine alone, values only", f"{rate * data.n_rows:.3g} nodes × rows/s", remark)
    report.figure("ratio_pyoperon_same_trees", ratio)


def in_new_process(work: Callable[..., Any], *given: Any) -> Any:
    """What `work` gives in a process of its own, which begins with nothing in memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, given)


def scaling(cores: list[int], rounds: int, rows: int) -> float:
    """How many times faster two threads are than one, of wall time, each at its best; threads take turns."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    data = table(rows)
    forest = expressions(COUNT, data)
    best = {1: float("inf"), 2: float("inf")}
    for _ in range(rounds):
        for threads in best:
            began = time.perf_counter()
            with using_threads(threads):
                squared_errors(forest, data)
            best[threads] = min(best[threads], time.perf_counter() - began)
    return best[1] / best[2]


def measure_scaling(report: Report, quick: bool) -> None:
    for rows, name in ((MANY_ROWS, "scaling_2"), (max(ROWS), f"scaling_2_{max(ROWS)}")):
        rounds = 20 if quick else 60
        ratio = in_new_process(scaling, CORES[:2], rounds, rows) if len(CORES) > 1 else None
        figure = "not measured" if ratio is None else f"{ratio:.2f}×"
        report.row("two threads on two cores", figure, f"{rows:,} rows, wall time; only where nothing else runs")
        report.figure(name, ratio)


def memory_growth() -> tuple[float, float]:
    """Megabytes that evaluating takes beyond the data at its highest, and the seconds."""
    text = (SHIPPED / "nguyen-2.pcfg").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("V ->")]
    leaves = " | ".join(f"'x{j}' [{1 / BIG_COLUMNS:g}]" for j in range(BIG_COLUMNS))
    forest = expressions(BIG_COUNT, table(1000, BIG_COLUMNS), PCFG.parse("\n".join([*lines, f"V -> {leaves}"])))
    data = table(BIG_ROWS, BIG_COLUMNS)
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak: what making the data took
    before, began = resident("VmRSS"), time.perf_counter()
    squared_errors(forest, data)
    return resident("VmHWM") - before, time.perf_counter() - began


def resident(field: str) -> float:
    """Megabytes now (VmRSS) or at the most (VmHWM); getrusage() would start from the parent's peak."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return float(lines[field].split()[0]) / 1024


def measure_memory(report: Report) -> None:
    what = f"peak memory beyond the data, {BIG_ROWS:,} × {BIG_COLUMNS}"
    if not Path("/proc/self/clear_refs").exists():
        report.row(what, "not measured", "there is no /proc")
        report.figure("peak_memory_mb", None)
        return
    growth, seconds = in_new_process(memory_growth)
    report.row(what, f"{growth:,.1f} MB", f"{BIG_COUNT:,} expressions in {seconds:.1f} s")
    report.figure("peak_memory_mb", growth)


def measure_starts(report: Report, quick: bool) -> None:
    """From the start of a process to its first result: with nothing compiled yet, and afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        first, _ = started(folder)
        again = [started(folder) for _ in range(2 if quick else 5)]
    second, imports = (min(times) for times in zip(*again, strict=True))
    report.row("first start to first result", f"{first:.1f} s", "compiles")
    report.row("… every other start", f"{second:.2f} s", f"of which imports {imports:.2f} s")
    report.figure("first_start_s", first)
    report.figure("second_start_s", second)


def started(folder: str) -> tuple[float, float]:
    """Seconds of wall time to the first result, and of them for imports."""
    began = time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    with subprocess.Popen([sys.executable, "-c", START], stdout=subprocess.PIPE, env=environment, text=True) as child:
        assert child.stdout is not None
        imports = float(child.stdout.readline())
        return time.perf_counter() - began, imports


# -- growth -------------------------------------------------------------------------------


def by_rows(quick: bool) -> tuple[list[int], dict[str, list[float]]]:
    """Node evaluations a second over rows; fewer expressions where there are more rows."""
    rows = [10**k for k in range(2, 6 if quick else 7)]
    every = expressions(COUNT, table(max(rows)) if quick else table(100_000))
    rates: dict[str, list[float]] = {"edhie": [], "NumPy interpreter": []}
    for n in rows:
        data = table(n)
        some = every[: max(30, min(COUNT, 10_000_000 // n))]
        add_rates(rates, some, data, 2 if quick else 5)
    return rows, rates


def by_size(quick: bool) -> tuple[list[float], dict[str, list[float]]]:
    """Node evaluations a second over the size of expressions, at 1,000 rows."""
    data = table(1000)
    drawn = load("nguyen-2").sample(400_000, np.random.default_rng(3), max_size=120).unique()
    edges = [3, 5, 8, 12, 18, 27, 40, 60, 90]
    sizes: list[float] = []
    rates: dict[str, list[float]] = {"edhie": [], "NumPy interpreter": []}
    for low, high in pairwise(edges):
        some = drawn[np.flatnonzero((drawn.sizes >= low) & (drawn.sizes < high))[: 4 * COUNT]]
        some = some[np.isfinite(squared_errors(some, data))][: 200 if quick else 1000]
        sizes.append(float(some.sizes.mean()))
        add_rates(rates, some, data, 2 if quick else 5)
    return sizes, rates


def add_rates(rates: dict[str, list[float]], forest: Forest, data: Data, rounds: int) -> None:
    numpy = ByNumPy(forest)
    runs = {"edhie": lambda: by_edhie(forest, data), "NumPy interpreter": lambda: numpy.errors(data)}
    for name, seconds in in_turns(runs, rounds).items():
        rates[name].append(nodes(forest) * data.n_rows / seconds)


def draw_growth(report: Report, quick: bool) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    labels = ("rows", "nodes of an expression (1,000 rows)")
    for axis, label, (places, rates) in zip(axes, labels, (by_rows(quick), by_size(quick)), strict=True):
        for (name, line), color in zip(rates.items(), ("#1b6ca8", "#b0603a"), strict=True):
            axis.plot(places, np.array(line) / 1e9, "o-", color=color, label=name, markersize=4)
        axis.set(xscale="log", ylim=(0, None), xlabel=label)
        axis.grid(alpha=0.3, which="major")
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    plain = [5, 10, 20, 40, 80]
    axes[1].set_xlim(3.4, 90)
    axes[1].set_xticks(plain, [str(each) for each in plain])
    for axis in axes:
        axis.minorticks_off()
    axes[0].set_ylabel("billions of nodes × rows per second")
    axes[0].legend(frameon=False, loc="center right")
    figure.suptitle(
        "Evaluation on one core, double precision, from tokens to squared errors; shared subtrees count each time",
        fontsize=10,
    )
    if not quick:
        PICTURE.parent.mkdir(exist_ok=True)
        figure.savefig(PICTURE, dpi=150)
    report.row("growth with rows and size", "plotted" if not quick else "not kept", PICTURE.name)


def main() -> None:
    quick = arguments(__doc__ or "").quick
    report = Report("evaluation, one core")
    forest = expressions(COUNT, table(20_000))
    measure_peers(report, forest, quick)
    measure_pyoperon(report, forest, quick)
    measure_scaling(report, quick)
    measure_memory(report)
    measure_starts(report, quick)
    draw_growth(report, quick)
    report.close()


if __name__ == "__main__":
    main()
