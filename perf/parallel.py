"""How much two cores gain: threads inside of one search, and islands, beside two independent processes.

python perf/parallel.py [--quick] [--laws]

Shared machines seldom give twice the speed for twice the cores, so each gain is compared with that of two independent
searches at the same time, measured in the same run. Speeds are of evaluations per second of wall time, on a table with
noise that no search explains before its budget ends; modes take turns, and each has its best round.

Inside of a round, the same work is done by threads and by processes: weighing pieces, which is products of matrices,
and writing expressions, which holds the interpreter lock.

--laws measures the time to solution instead: Feynman equations that one core needs more than 5 s for, ten seeds, 60 s
each, with one core, with two threads, and with two islands. Times are kept in results/parallel_laws.csv, and a run that
was stopped goes on from there; it takes two hours. The ratios of these times are printed in any case.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from report import Report

EVALUATIONS = 30_000
ROUNDS, REPEATS = 2, 5
SEEDS = 10
SECONDS = 60.0
LAWS = (
    "I.15.3t", "I.30.3", "I.37.4", "I.40.1", "I.41.16", "II.11.17", "II.35.18", "II.35.21", "II.36.38", "III.4.32",
    "III.4.33", "III.9.52", "III.14.14", "B1", "B2", "B6", "B13", "B17", "B19", "B20",
)  # fmt: skip
"""Feynman equations that were found with both seeds of feynman120-default.csv and took longer than 5 s with each."""
MODES: dict[str, dict[str, int | None]] = {
    "one": {"jobs": 1, "islands": None},
    "threads": {"jobs": 2, "islands": None},
    "islands": {"jobs": 2, "islands": 2},
}
TIMES = Path(__file__).parent / "results" / "parallel_laws.csv"


# -- one search, in a process of its own --------------------------------------------------


def search(order: dict[str, Any]) -> dict[str, Any]:
    """Do one search, warmed up, and return its seconds and whether it ended with an exact equation."""
    from edhie.evaluate import read_data
    from edhie.fit.discover import Workers, discover
    from edhie.fit.settings import Settings

    if order["law"] is None:
        X, y = _noisy_table()  # noqa: N806
    else:
        from edhie.bench.problem import chosen, load_problems

        X, y = chosen(load_problems("feynman120"), [order["law"]])[0].data("train", order["seed"])  # noqa: N806
    data, workers = read_data(X, y), Workers(order["jobs"])
    warm_up(order["jobs"], order["islands"])
    settings = Settings(
        max_time=order["seconds"], max_evaluations=order["evaluations"], islands=order["islands"], seed=order["seed"]
    )
    found = discover(data, settings, workers=workers).result
    return {"seconds": found.seconds, "executed": found.counts.executed, "is_solved": found.stopped == "finished"}


@cache
def warm_up(jobs: int, islands: int | None) -> None:
    """Compile and start what a search needs."""
    import numpy as np

    from edhie.evaluate import read_data
    from edhie.fit.discover import Workers, discover
    from edhie.fit.settings import Settings

    x = np.linspace(1, 5, 200)[:, np.newaxis]
    few = Settings(max_time=None, max_evaluations=2_000, islands=islands, seed=1)
    discover(read_data(x, np.sin(x[:, 0]) + x[:, 0] ** 0.3), few, workers=Workers(jobs))


def full(order: dict[str, Any]) -> dict[str, Any]:
    """Return an order with defaults for what it leaves open."""
    return {"law": None, "seconds": None, "evaluations": None, "seed": 0, "jobs": 1, "islands": None} | order


def started(**order: Any) -> subprocess.Popen[str]:
    """Start a search in a new process."""
    command = [sys.executable, __file__, "--search", json.dumps(full(order))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a search prints."""
    out, _ = process.communicate()
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


# -- speed --------------------------------------------------------------------------------


def speed(*processes: subprocess.Popen[str]) -> float:
    """Return the evaluations per second of searches that run at the same time."""
    found = [result(each) for each in processes]
    return sum(each["executed"] / each["seconds"] for each in found)


def measure_speed(report: Report, *, quick: bool) -> None:
    """Compare two cores with one."""
    n = EVALUATIONS // 5 if quick else EVALUATIONS
    ways = {
        "one": lambda: speed(started(evaluations=n)),
        "one island": lambda: speed(started(evaluations=n, islands=1)),
        "independent": lambda: speed(started(evaluations=n), started(evaluations=n, seed=1)),
        "threads": lambda: speed(started(evaluations=n, jobs=2)),
        "islands": lambda: speed(started(evaluations=2 * n, jobs=2, islands=2)),
        "islands on one core": lambda: speed(started(evaluations=2 * n, jobs=1, islands=2)),
    }
    best = dict.fromkeys(ways, 0.0)
    for _ in range(1 if quick else ROUNDS):
        for name, way in ways.items():
            best[name] = max(best[name], way())
    possible, threads = best["independent"] / best["one"], best["threads"] / best["one"]
    islands, lost = best["islands"] / best["islands on one core"], 1 - best["one island"] / best["one"]
    report.row("one search, one core", f"{best['one']:,.0f}/s", "evaluations")
    report.row("two independent searches", f"{possible:.2f}×", "what two cores of this machine give")
    report.row("one search, two threads", f"{threads:.2f}×", f"{threads / possible:.2f} of that")
    report.row(
        "two islands, one core", f"{best['islands on one core']:,.0f}/s", "each weighs in its share of the frames"
    )
    report.row("two islands, two processes", f"{islands:.2f}×", f"{islands / possible:.2f} of what is possible")
    report.row("one island instead of none", f"{100 * lost:.1f} % slower", "states are kept after each epoch")
    report.figure("independent_2", possible)
    report.figure("scaling_2", islands / possible)
    report.figure("scaling_2_threads", threads / possible)
    report.figure("overhead_1", lost)


# -- inside of a round --------------------------------------------------------------------


def measure_parts(report: Report) -> None:
    """Compare threads with processes on the two kinds of work of a round."""
    import joblib

    from edhie.evaluate.parallel import parallel_map, using_threads

    for name, work, items in _parts_of_a_round():
        run = joblib.Parallel(2, backend="loky")
        ways = {
            "one": lambda work=work, items=items: [work(*each) for each in items],
            "threads": lambda work=work, items=items: parallel_map(lambda each: work(*each), items),
            "processes": lambda work=work, items=items, run=run: run(joblib.delayed(work)(*each) for each in items),
        }
        seconds = dict.fromkeys(ways, math.inf)
        for _ in range(1 + REPEATS):  # once to warm up
            for mode, way in ways.items():
                with using_threads(2 if mode == "threads" else 1):
                    seconds[mode] = min(seconds[mode], timed(way))
        gains = {mode: seconds["one"] / seconds[mode] for mode in ("threads", "processes")}
        report.row(f"{name}, two threads", f"{gains['threads']:.2f}×", f"{1000 * seconds['one']:.0f} ms on one core")
        report.row(f"{name}, two processes", f"{gains['processes']:.2f}×", "arguments and results are sent")
        for mode, gain in gains.items():
            report.figure(f"{name}_{mode}", gain)


def _parts_of_a_round() -> Iterator[tuple[str, Callable[..., Any], list[tuple[Any, ...]]]]:
    """Yield pieces in groups of frames, and good pieces to be written, as they are after ten rounds of a search."""
    from edhie.evaluate import Evaluator, read_data
    from edhie.expr.standard_libraries import feynman
    from edhie.generators import load
    from edhie.search import Budget, run
    from edhie.search.mosaic.frames.frame import screen
    from edhie.search.mosaic.search import Mosaic
    from edhie.search.mosaic.writing.frame_writer import FrameWriter

    data, search = read_data(*_noisy_table(), names=feynman(5).variables), Mosaic()
    run(load("General-5"), Evaluator(feynman(5), data), strategy=search, budget=Budget(evaluations=10_000), rng=0)
    pool, pieces = search._pool, search._pieces
    yield (
        "weighing",
        screen,
        [(pieces.values, free, [each.frame for each in group]) for free, group in pool.by_columns()],
    )
    every = [each.elite(k) for each in pool.frames for k in range(min(5, len(each.elites)))]
    yield "writing", FrameWriter(pieces.library, data).write, [(each.pooled.frame, each.extra) for each in every]


def _noisy_table() -> tuple[Any, Any]:
    """Return columns and a target with noise."""
    import numpy as np

    rng = np.random.default_rng(1)
    X = rng.uniform(1, 5, (1000, 5))  # noqa: N806
    y = X[:, 0] * np.exp(-X[:, 1] / X[:, 2]) * np.hypot(X[:, 3], X[:, 4]) / (X[:, 2] + np.sin(X[:, 3]))
    return X, y * (1 + 0.01 * rng.normal(size=len(y)))


def timed(way: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    way()
    return time.perf_counter() - start


# -- time to solution ---------------------------------------------------------------------


def measure_laws() -> None:
    """Measure the times to solution that are missing."""
    known = _times()
    first = [(mode, seed, law) for seed, law, mode in product(range(SEEDS), LAWS, ("one", "threads"))]
    for mode, seed, law in [*first, *product(("islands",), range(SEEDS), LAWS)]:
        if (law, mode, seed) not in known:
            found = search(full({"law": law, "seed": seed, "seconds": SECONDS, **MODES[mode]}))
            _keep(law, mode, seed, found["seconds"] if found["is_solved"] else math.nan)


def report_laws(report: Report) -> None:
    """Compare the times to solution with two cores with those with one."""
    import numpy as np

    known = _times()
    for mode in ("threads", "islands"):
        seeds = [
            seed for seed in range(SEEDS) if all((law, each, seed) in known for law in LAWS for each in ("one", mode))
        ]
        if not seeds:
            continue
        one, two = (np.array([[known[law, each, seed] for seed in seeds] for law in LAWS]) for each in ("one", mode))
        report.row(
            f"equations found, {mode}", f"{np.isfinite(two).sum()} of {two.size}",
            f"on one core {np.isfinite(one).sum()}; {len(LAWS)} equations, {len(seeds)} seeds, {SECONDS:.0f} s each",
        )  # fmt: skip
        # a search that did not solve its equation took all of its time at least
        ratios = [
            np.nan_to_num(b, nan=SECONDS).sum() / np.nan_to_num(a, nan=SECONDS).sum()
            for a, b in zip(one, two, strict=True)
        ]
        mean = math.exp(float(np.mean(np.log(ratios))))
        spread = f"from {min(ratios):.2f} to {max(ratios):.2f}"
        report.row(f"time to solution, {mode}", f"{mean:.2f}", f"of that on one core; mean over equations, {spread}")
        report.figure("time_to_solution_ratio_2" if mode == "threads" else "time_to_solution_ratio_2_islands", mean)


def _times() -> dict[tuple[str, str, int], float]:
    if not TIMES.exists():
        return {}
    with TIMES.open(newline="") as file:
        return {(row["law"], row["mode"], int(row["seed"])): float(row["seconds"]) for row in csv.DictReader(file)}


def _keep(law: str, mode: str, seed: int, seconds: float) -> None:
    is_new = not TIMES.exists()
    with TIMES.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(["law", "mode", "seed", "seconds"])
        writer.writerow([law, mode, seed, f"{seconds:.3f}"])


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    parser.add_argument("--laws", action="store_true", help="time to solution instead of speed")
    parser.add_argument("--search", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.search is not None:
        print(json.dumps(search(given.search)))
        return
    report = Report("two cores")
    if given.laws:
        measure_laws()
    else:
        measure_speed(report, quick=given.quick)
        measure_parts(report)
    report_laws(report)
    report.close()


if __name__ == "__main__":
    main()
