"""How often the constants of expressions are found again, and how fast, beside SciPy; one core.

python perf/constants.py [--quick]

Expressions are distinct canonical forms drawn from the Feynman grammar, with 1 to 4 constants. Each
has a target of its own: its values, without noise, on 200 rows of two variables between 1 and 5,
with constants whose magnitude is uniform between 0.5 and 5 and whose sign is a coin's. A fit is
right where R² > 1 − 1e-9. Rates are of processor time, which other work on the machine disturbs
least; the contenders take turns and each has its best round.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from report import Report, arguments, hold_one_core

hold_one_core()

import numpy as np  # noqa: E402 -- after the limits on threads

from edhie.evaluate.constants.fitting import (  # noqa: E402
    CHEAP,
    THOROUGH,
    FitConfig,
    fit_constants,
)
from edhie.evaluate.data import Data, squares_about_mean  # noqa: E402
from edhie.evaluate.reading import read_data  # noqa: E402
from edhie.expr import Expr, Forest, operator  # noqa: E402
from edhie.expr.canonical import canonical  # noqa: E402
from edhie.grammar import load  # noqa: E402

COUNT, ROWS, MOST_NODES = 300, 200, 30
SEEDS = (0, 1000, 2000, 3000, 4000)
"""Of five sets, since the shares of single ones differ by some percent; speeds are of the first."""
ATTEMPTS = 20
"""Draws of constants until an expression has finite values."""
LEAST_EFFECT = 1e-6
RIGHT = 1e-9
ONE_START = FitConfig(points=1, starts=1, iterations=100, tolerance=1e-8, rows=None)
"""One descent from all ones; tolerance and, for one constant, steps are SciPy's defaults."""
ROUNDS = 5

BINARY = {"+": "({0} + {1})", "-": "({0} - {1})", "*": "({0} * {1})", "/": "({0} / {1})", "^": "({0} ** {1})"}
UNARY = {"neg": "(-{0})", "^2": "{0} ** 2", "^3": "({0} ** 3)", "^4": "({0} ** 4)", "^5": "({0} ** 5)"}


@dataclass(frozen=True, eq=False)
class Problem:
    """An expression with unfitted constants, and the data that it is to explain."""

    forest: Forest
    """That expression alone."""
    data: Data
    function: Callable[[np.ndarray], np.ndarray]
    """Its values by its constants, in NumPy."""
    n_constants: int

    def is_right(self, squared_error: float) -> bool:
        """Whether R² > 1 − 1e-9."""
        return squared_error < RIGHT * self.data.squares_about_mean


# -- problems -----------------------------------------------------------------------------


def source(expr: Expr) -> str:
    """The expression in Python: constants are c[0], c[1], …, variables x[0], x[1]."""
    tokens, counts = iter(expr.tokens), iter(range(len(expr.tokens)))

    def written() -> str:
        token = next(tokens)
        if token == expr.library.constant:
            return f"c[{next(counts)}]"
        if token in expr.library.variables:
            return f"x[{expr.library.variables.index(token)}]"
        if token in BINARY:
            return BINARY[token].format(written(), written())
        if token in UNARY:
            return UNARY[token].format(written())
        if token in ("sin", "cos", "exp", "sqrt"):
            return f"np.{token}({written()})"
        return f"({float(token)!r})"

    return written()


def compiled(expr: Expr, columns: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A NumPy function of the constants, as one would write it by hand."""
    x = tuple(columns)
    return eval(f"lambda c: {source(expr)}", {"np": np, "x": x})  # of our own tokens


def problems(wanted: int, seed: int = 0) -> tuple[list[Problem], dict[str, int]]:
    """The first so many identifiable ones, and how many were passed over on the way, by reason.

    Identifiable are all but three kinds. Without finite values: none of 20 draws of constants
    gives a finite value in all rows. Constant: values do not vary by more than a millionth of their
    magnitude, so that rounding decides R². Without effect: moving any one of the constants by a
    hundredth changes no value by more than a millionth of the values' spread.
    """
    rng = np.random.default_rng(seed)
    columns = read_data(rng.uniform(1.0, 5.0, (ROWS, 2)), rng.uniform(size=ROWS)).columns
    drawn = load("feynman-2").sample(40 * COUNT, np.random.default_rng(seed + 1), max_size=MOST_NODES)
    forest = canonical(drawn).unique()
    library = forest.library
    is_constant = forest.tokens == library.ids[library.constant]
    counts = np.add.reduceat(is_constant.astype(np.int64), forest.offsets[:-1])
    found: list[Problem] = []
    passed = {"without finite values": 0, "constant": 0, "without effect": 0}
    for k in np.flatnonzero((counts >= 1) & (counts <= 4)):
        if len(found) == wanted:
            break
        function = compiled(forest[int(k)], columns)
        c, y = drawn_values(function, int(counts[k]), rng)
        if y is None:
            passed["without finite values"] += 1
        elif not np.ptp(y) > LEAST_EFFECT * np.abs(y).max():
            passed["constant"] += 1
        elif not effect(function, c, y) > LEAST_EFFECT * np.ptp(y):
            passed["without effect"] += 1
        elif 0 < squares_about_mean(y, None) < np.inf:
            found.append(Problem(forest[[int(k)]], read_data(columns.T, y), function, len(c)))
    return found, passed


def drawn_values(
    function: Callable[[np.ndarray], np.ndarray], count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | None]:
    """Constants and, where they are finite, the values."""
    for _ in range(ATTEMPTS):
        c = rng.uniform(0.5, 5.0, count) * rng.choice((-1.0, 1.0), count)
        with np.errstate(all="ignore"):
            y = np.broadcast_to(function(c), ROWS)
        if np.isfinite(y).all():
            return c, y
    return c, None


def effect(function: Callable[[np.ndarray], np.ndarray], c: np.ndarray, y: np.ndarray) -> float:
    """The most that a hundredth of a constant changes a value; infinite where a value is then not finite."""
    with np.errstate(all="ignore"):
        moved = [np.abs(function(c * (1 + 0.01 * unit)) - y).max() for unit in np.eye(len(c))]
    return float(np.nan_to_num(moved, nan=np.inf).max())


# -- contenders ----------------------------------------------------------------------------


def by_edhie(found: list[Problem], config: FitConfig) -> list[bool]:
    """One call for each problem, as each has a target of its own."""
    return [
        each.is_right(float(fit_constants(each.forest, each.data, config=config).squared_errors[0])) for each in found
    ]


def by_scipy(found: list[Problem], method: str) -> list[bool]:
    from scipy.optimize import least_squares

    right = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in found:
            function, y = each.function, each.data.y
            try:
                fitted = least_squares(lambda c, f=function, y=y: f(c) - y, np.ones(each.n_constants), method=method)
            except ValueError:  # values at the start are not finite
                right.append(False)
            else:
                right.append(each.is_right(2 * float(fitted.cost)))
    return right


def batches(found: list[Problem], targets: int) -> Iterator[tuple[Data, Forest]]:
    """All expressions on the targets of a few of them: what a search does."""
    forest = Forest.concatenate([each.forest for each in found])
    for each in found[:: len(found) // targets][:targets]:
        yield each.data, forest


def batched_by_edhie(found: list[Problem], targets: int) -> None:
    for data, forest in batches(found, targets):
        fit_constants(forest, data, config=ONE_START)


def batched_by_scipy(found: list[Problem], targets: int, method: str) -> None:
    for data, _ in batches(found, targets):
        by_scipy([Problem(each.forest, data, each.function, each.n_constants) for each in found], method)


# -- measures ----------------------------------------------------------------------------------


def in_turns(runs: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], dict[str, Any]]:
    """The best seconds of processor time of several rounds for each, and the results."""
    best, results = dict.fromkeys(runs, float("inf")), {}
    for _ in range(rounds):
        for name, run in runs.items():
            began = time.process_time()
            results[name] = run()
            best[name] = min(best[name], time.process_time() - began)
    return best, results


def has_scipy() -> bool:
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        return False
    return True


def measure_recovery(report: Report, sets: list[list[Problem]], passed: dict[str, int]) -> None:
    found = [problem for each in sets for problem in each]
    by_edhie(found[:3], THOROUGH)  # compiles
    for name, config in (("cheap", CHEAP), ("thorough", THOROUGH)):
        began = time.process_time()
        right = by_edhie(found, config)
        speed = len(found) / (time.process_time() - began)
        share = float(np.mean(right))
        remark = f"of {len(found)} identifiable ones; {speed:,.0f} fits/s"
        report.row(f"found again, {name}", f"{share:.1%}", remark)
        report.figure("recovered" if name == "thorough" else f"recovered_{name}", share)
        report.figure(f"{name}_fits_per_s", speed)
    for n in range(1, 5):
        counts = [each.n_constants == n for each in found]
        share = float(np.mean([is_right for is_right, counted in zip(right, counts, strict=True) if counted]))
        report.row(f"… thorough, {n} constant{'s' if n > 1 else ''}", f"{share:.1%}", f"of {sum(counts)}")
    by_set = np.array(right).reshape(len(sets), -1).mean(1)
    report.row("… thorough, set by set", " ".join(f"{share:.1%}" for share in by_set), f"of {len(sets[0])} each")
    report.figure("recovered_worst_set", float(by_set.min()))
    report.row("passed over", str(sum(passed.values())), ", ".join(f"{n} {why}" for why, n in passed.items()))


def measure_speed(report: Report, found: list[Problem], quick: bool) -> None:
    """One descent from all ones."""
    targets = 1 if quick else 5
    methods = ("lm", "trf") if has_scipy() else ()
    single: dict[str, Callable[[], Any]] = {"edhie": lambda: by_edhie(found, ONE_START)}
    batched: dict[str, Callable[[], Any]] = {"edhie": lambda: batched_by_edhie(found, targets)}
    for method in methods:
        single[method] = lambda method=method: by_scipy(found, method)
        batched[method] = lambda method=method: batched_by_scipy(found, targets, method)
    report.figure("ratio_scipy", None)
    for runs, fits, what, name in (
        (single, len(found), "own target, one call each", "ratio_scipy"),
        (batched, targets * len(found), "one target for all, one call", "ratio_scipy_batched"),
    ):
        seconds, right = in_turns(runs, 1 if quick else ROUNDS)
        recovered = f"; {sum(right['edhie'])} right" if right["edhie"] else ""
        report.row(f"one start, {what}", f"{fits / seconds['edhie']:,.0f} fits/s", f"edhie{recovered}")
        for method in methods:
            recovered = f"; {sum(right[method])} right" if right[method] else ""
            remark = f"edhie {seconds[method] / seconds['edhie']:,.1f}×{recovered}"
            report.row(f"… SciPy's least_squares, {method}", f"{fits / seconds[method]:,.0f} fits/s", remark)
        if not methods:
            report.row("… SciPy's least_squares", "not measured", "not installed (extra: peers)")
        fastest = min((seconds[method] for method in methods), default=None)
        report.figure(name, None if fastest is None else fastest / seconds["edhie"])


def measure_own_operators(report: Report, found: list[Problem]) -> None:
    """The same fits where sin, cos, exp and sqrt are operators of a user's, which have no compiled code."""
    of_a_user = {name: operator(f"own_{name}", 1, numpy=getattr(np, name)) for name in ("sin", "cos", "exp", "sqrt")}
    library = found[0].forest.library.extended(*of_a_user.values())
    with_one = [each for each in found if any(token in of_a_user for token in each.forest[0].tokens)]
    renamed = []
    for each in with_one:
        tokens = [of_a_user[token].name if token in of_a_user else token for token in each.forest[0].tokens]
        renamed.append(Problem(Forest.from_exprs([Expr(library, tokens)]), each.data, each.function, each.n_constants))
    runs = {"own": lambda: by_edhie(renamed, CHEAP), "compiled": lambda: by_edhie(with_one, CHEAP)}
    seconds, right = in_turns(runs, 2)
    speed, times = len(renamed) / seconds["own"], seconds["own"] / seconds["compiled"]
    remark = f"{np.mean(right['own']):.1%} right; compiled: {np.mean(right['compiled']):.1%}, {times:,.0f} times faster"
    report.row("a user's operators, cheap", f"{speed:,.0f} fits/s", remark)
    report.figure("own_operators_fits_per_s", speed)
    report.figure("own_operators_recovered", float(np.mean(right["own"])))


def main() -> None:
    quick = arguments(__doc__ or "").quick
    report = Report("constants, one core")
    drawn = [problems(60 if quick else COUNT, seed) for seed in SEEDS]
    passed = {why: sum(each[why] for _, each in drawn) for why in drawn[0][1]}
    measure_recovery(report, [found for found, _ in drawn], passed)
    measure_speed(report, drawn[0][0], quick)
    measure_own_operators(report, drawn[0][0])
    report.close()


if __name__ == "__main__":
    main()
