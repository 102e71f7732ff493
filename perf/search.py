"""How fast searches go, and how soon they find laws, beside symbolic-regression-toolkit, pyoperon, gplearn; one core.

python perf/search.py [--quick]

Rates are of one search for NG-5 on 5,000 rows, of processor time, which other work on the machine disturbs least, with
those of wall time beside them; the two take turns and each has its best round. The toolkit's own EDHiE counts every
call of its evaluator, an expression that it has seen before included, so what it counts stands against what edhie was
asked for; distinct expressions (by its text for the toolkit, by canonical form for edhie) against those executed.
Its model is trained beforehand, with a fifth of its default effort: that is not measured.

A law counts as found where RMSE < 1e-10·max(1, deviation of y). Single precision cannot get there, so R² > 1 − 1e-6 is
told apart. Answers of edhie are of the paper's Nguyen library alone, without constants.
"""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from report import Report, arguments, hold_one_core

hold_one_core()

import numpy as np  # noqa: E402 -- after the limits on threads

from edhie.bench.metrics import success_threshold  # noqa: E402
from edhie.bench.problem import BenchmarkProblem, chosen, load_problems  # noqa: E402
from edhie.bench.rivals import Question  # noqa: E402
from edhie.bench.rivals.srtoolkit import EPOCHS, EXPRESSIONS, library_of, seed_everything  # noqa: E402
from edhie.evaluate import Evaluator  # noqa: E402
from edhie.expr import SymbolLibrary  # noqa: E402
from edhie.generators import load  # noqa: E402
from edhie.search import Budget, run  # noqa: E402

SEED = 0
ROUNDS = 2
EVALUATIONS, PEER_EVALUATIONS = 100_000, 20_000
PEER_POPULATIONS = (40, 500)
"""Its default, and edhie's."""
LIMIT = 15.0
"""Seconds of wall time that a search for a law has."""
NEARLY = 1e-6
"""1 − R² below which a law counts as found in single precision."""
WARM_UP = Budget(evaluations=64, seconds=1.0)
NOT_THERE = "not installed (extra: peers)"


# -- rates ---------------------------------------------------------------------------------


class Rate(NamedTuple):
    """What one search did, and the seconds that it took."""

    counted: int
    """Expressions that were given to be scored, repetitions included."""
    distinct: int
    cpu: float
    wall: float


@contextlib.contextmanager
def clock() -> Iterator[list[float]]:
    """Gives a list that holds the seconds of processor and of wall time once it is left."""
    spent: list[float] = []
    cpu, wall = time.process_time(), time.perf_counter()
    yield spent
    spent += [time.process_time() - cpu, time.perf_counter() - wall]


def own_rate(problem: BenchmarkProblem, evaluations: int) -> Rate:
    """Plain EDHiE with its default settings."""
    generator = load("nguyen-1")
    evaluator = Evaluator(generator.library, *problem.data("train", SEED))
    with clock() as spent:
        counts = run(generator, evaluator, strategy="evolve", budget=Budget(evaluations), rng=SEED).counts
    return Rate(counts.asked, counts.executed, *spent)


class Toolkit:
    """The EDHiE of symbolic-regression-toolkit, through its public functions."""

    def __init__(self, library: SymbolLibrary, X: np.ndarray, *, quick: bool) -> None:  # noqa: N803
        from SRToolkit.approaches import EDHiE
        from SRToolkit.evaluation.sr_evaluator import SR_evaluator

        self.evaluator = SR_evaluator
        symbols = tuple(each.name for each in library.symbols if each.arity)
        self.symbols = library_of(Question(X, X[:, 0], symbols, False, Budget(), SEED))
        effort = {"num_expressions": 500, "epochs": 2} if quick else {}
        options = {"num_expressions": EXPRESSIONS, "epochs": EPOCHS, "verbose": False} | effort
        self.approaches = {n: EDHiE(population_size=n, **options) for n in PEER_POPULATIONS}
        seed_everything(SEED)
        first, *others = self.approaches.values()
        with contextlib.redirect_stderr(io.StringIO()), quiet():  # its progress bars
            first.adapt(X, self.symbols)
            with tempfile.TemporaryDirectory() as folder:
                first.save_adapted_state(f"{folder}/model.pt")
                for each in others:
                    each.load_adapted_state(f"{folder}/model.pt")

    def rate(self, problem: BenchmarkProblem, population: int, evaluations: int) -> Rate:
        """Its search loop alone."""
        X, y = problem.data("train", SEED)  # noqa: N806
        options = {"symbol_library": self.symbols, "max_evaluations": evaluations, "success_threshold": -1}
        evaluator = self.evaluator(X, y, seed=SEED, **options)
        approach = self.approaches[population]
        approach.prepare()
        seed_everything(SEED)
        with contextlib.redirect_stderr(io.StringIO()), quiet(), clock() as spent:
            approach.search(evaluator, seed=SEED)
        found = evaluator.get_results(top_k=1)[0]
        return Rate(found.evaluation_calls, found.num_evaluated, *spent)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without warnings: peers compute roots and logarithms of whatever comes."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def fastest(rates: list[Rate]) -> Rate:
    return min(rates, key=lambda rate: rate.cpu / rate.counted)


def add_rates(report: Report, what: str, rate: Rate, remark: str) -> None:
    wall = f"{rate.counted / rate.wall:,.0f}/s of wall time"
    distinct = f"{rate.distinct / rate.cpu:,.0f}/s distinct, {rate.distinct:,} of {rate.counted:,}"
    report.row(what, f"{rate.counted / rate.cpu:,.0f}/s", "; ".join(part for part in (remark, distinct, wall) if part))


def measure_rates(report: Report, quick: bool) -> None:
    problem = chosen(load_problems("nguyen"), ["NG-5"])[0]
    rounds, evaluations = (1, 10_000) if quick else (ROUNDS, EVALUATIONS)
    own_rate(problem, 2000)  # compiles
    peer = unless_missing(lambda: Toolkit(load("nguyen-1").library, problem.data("train", SEED)[0], quick=quick))
    own: list[Rate] = []
    its: dict[int, list[Rate]] = {population: [] for population in PEER_POPULATIONS}
    for _ in range(rounds):
        own.append(own_rate(problem, evaluations))
        for population, rates in its.items() if peer is not None else ():
            rates.append(peer.rate(problem, population, 1000 if quick else PEER_EVALUATIONS))
    best = fastest(own)
    add_rates(report, "plain EDHiE, evaluations", best, "")
    for name, rate in (("asked", best.counted / best.cpu), ("executed", best.distinct / best.cpu)):
        report.figure(f"{name}_per_s", rate)
    for population, rates in its.items():
        which = "" if population == PEER_POPULATIONS[0] else f"_population_{population}"
        what = f"… symbolic-regression-toolkit, population {population}"
        ratios: tuple[float, float] | None = None
        if rates:
            theirs = fastest(rates)
            times = theirs.cpu / best.cpu
            ratios = times * best.counted / theirs.counted, times * best.distinct / theirs.distinct
            add_rates(report, what, theirs, f"edhie {ratios[0]:.1f}×, of distinct ones {ratios[1]:.1f}×")
        else:
            report.row(what, "not measured", NOT_THERE)
        report.figure(f"ratio_srtoolkit_evals{which}", ratios and ratios[0])
        report.figure(f"ratio_srtoolkit_distinct{which}", ratios and ratios[1])


def unless_missing(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except ImportError:
        return None


# -- laws found -------------------------------------------------------------------------------


class Found(NamedTuple):
    """What a search for a law came to."""

    rmse: float
    cpu: float
    wall: float

    def is_exact(self, y: np.ndarray) -> bool:
        """Whether the law is found."""
        return self.rmse < success_threshold(y)

    def is_near(self, y: np.ndarray) -> bool:
        """Whether it is, as far as single precision can tell."""
        return self.rmse < math.sqrt(NEARLY) * float(np.std(y))


Solver = Callable[[np.ndarray, np.ndarray, float], float]
"""From rows, target and seconds to the best RMSE; it ends early where it is done."""


def by_edhie(strategy: str) -> Solver:
    def solve(X: np.ndarray, y: np.ndarray, seconds: float) -> float:  # noqa: N803
        generator = load(f"nguyen-{X.shape[1]}")
        budget = Budget(None, seconds, success_threshold(y))
        best = run(generator, Evaluator(generator.library, X, y), strategy=strategy, budget=budget, rng=SEED).best
        return math.inf if best is None else best.error

    return solve


def in_parts(advance: Callable[[int], np.ndarray], y: np.ndarray, seconds: float, enough: float) -> float:
    """The RMSE of an estimator that goes on part by part, each of which gives its predictions."""
    began, part, rmse = time.perf_counter(), 0, math.inf
    while rmse >= enough and time.perf_counter() - began < seconds:
        with quiet():
            part += 1
            rmse = min(rmse, float(np.sqrt(np.mean(np.square(advance(part) - y)))))
    return rmse


def by_pyoperon() -> Solver:
    """With constants, which it fits, as it has no other way to numbers; single precision, so near is enough."""
    from pyoperon.sklearn import SymbolicRegressor

    def solve(X: np.ndarray, y: np.ndarray, seconds: float) -> float:  # noqa: N803
        estimator = SymbolicRegressor(
            allowed_symbols="add,sub,mul,div,sin,cos,exp,log,sqrt,square,constant,variable", optimizer_iterations=5,
            generations=1, max_evaluations=10**9, max_length=30, model_selection_criterion="mean_squared_error",
            n_threads=1, warm_start=True, random_state=SEED,
        )  # fmt: skip
        enough = math.sqrt(NEARLY / 100) * float(np.std(y))
        return in_parts(lambda _: estimator.fit(X, y).predict(X), y, seconds, enough)

    return solve


def by_gplearn() -> Solver:
    """With all of its functions that the Nguyen library has."""
    from gplearn.genetic import SymbolicRegressor

    def solve(X: np.ndarray, y: np.ndarray, seconds: float) -> float:  # noqa: N803
        functions = ("add", "sub", "mul", "div", "sin", "cos", "log", "sqrt")
        estimator = SymbolicRegressor(
            function_set=functions, metric="rmse", const_range=None, generations=1, warm_start=True, random_state=SEED
        )

        def advance(part: int) -> np.ndarray:
            return estimator.set_params(generations=part).fit(X, y).predict(X)

        return in_parts(advance, y, seconds, success_threshold(y))

    return solve


SOLVERS: dict[str, tuple[str, Callable[[], Solver]]] = {
    "default": ("edhie, default", lambda: by_edhie("mosaic")),
    "edhie": ("plain EDHiE", lambda: by_edhie("evolve")),
    "pyoperon": ("pyoperon", by_pyoperon),
    "gplearn": ("gplearn", by_gplearn),
}


def warm_up(strategy: str) -> None:
    """A first call may compile, which is no part of a search's time."""
    for variables in (1, 2):
        generator = load(f"nguyen-{variables}")
        noise = np.random.default_rng(0).uniform(1, 2, (32, variables + 1))
        run(generator, Evaluator(generator.library, noise[:, :-1], noise[:, -1]), strategy=strategy, budget=WARM_UP)


def measure_laws(report: Report, quick: bool) -> None:
    limit, problems = (2.0, load_problems("nguyen")[:2]) if quick else (LIMIT, load_problems("nguyen"))
    warm_up("mosaic")
    warm_up("evolve")
    found: dict[str, list[Found]] = {}
    targets = [problem.data("train", SEED) for problem in problems]
    for name, (_, make) in SOLVERS.items():
        solve = unless_missing(make)
        for X, y in targets if solve is not None else ():  # noqa: N806
            with clock() as spent:
                rmse = solve(X, y, limit)
            found.setdefault(name, []).append(Found(rmse, *spent))
    columns = ["law", *(title for title, _ in SOLVERS.values())]
    shown = [
        [problem.id, *(cell(found[name][k], y) if name in found else "not there" for name in SOLVERS)]
        for k, (problem, (_, y)) in enumerate(zip(problems, targets, strict=True))
    ]
    for title, test in (("found", Found.is_exact), ("R² > 1 − 1e-6", Found.is_near)):
        counts: list[str] = []
        for name in SOLVERS:
            count = None
            if name in found:
                count = sum(test(each, y) for each, (_, y) in zip(found[name], targets, strict=True))
            report.figure(f"{'solved' if test is Found.is_exact else 'near'}_{name}", count)
            counts.append("not there" if count is None else f"{count} of {len(problems)}")
        shown.append([title, *counts])
    own = [each.cpu if each.is_exact(y) else math.inf for each, (_, y) in zip(found["default"], targets, strict=True)]
    middle = float(np.median(own))
    report.figure("median_seconds_default", middle if math.isfinite(middle) else None)
    title = f"seconds of processor time until a law is found, at most {limit:g} of wall time; ≈: only R² > 1 − 1e-6"
    report.table(title, columns, shown)


def cell(found: Found, y: np.ndarray) -> str:
    if found.is_exact(y):
        return f"{found.cpu:.2f}"
    return f"≈ {found.cpu:.2f}" if found.is_near(y) else "—"


def main() -> None:
    quick = arguments(__doc__ or "").quick
    report = Report("searches, one core")
    measure_rates(report, quick)
    measure_laws(report, quick)
    report.close()


if __name__ == "__main__":
    main()
