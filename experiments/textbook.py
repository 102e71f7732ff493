"""Twenty textbook formulas that are in no benchmark: how many come back with defaults from 200 noisy rows.

python experiments/textbook.py --workers 2

Noise is a share of each measurement. A formula is found where the chosen equation, with its constants fitted to data
without noise, is equivalent to it; it is listed where that holds for one of the equations shown.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from edhie.bench.metrics import bounded_r2
from edhie.bench.problem import Problem, load_problems
from edhie.bench.sameness import is_equivalent
from rows import one_thread, read_rows, write_rows

PROBLEMS = Path(__file__).with_suffix(".toml")
RESULTS = Path(__file__).parent / "results"
LEVELS = (0.01, 0.05)
FIELDS = ("problem", "noise", "seed", "found", "listed", "r2_test", "seconds", "formula", "equation")
Job = tuple[str, float, int, float]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the table lacks, and write it with its summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="*", default=[], help="which problems; all where none is named")
    parser.add_argument("--levels", nargs="*", type=float, default=list(LEVELS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--max-time", type=float, default=60.0, help="seconds for a run")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    options.results.mkdir(parents=True, exist_ok=True)
    path = options.results / "textbook.csv"
    rows = read_rows(path)
    done = {(row["problem"], float(row["noise"]), int(row["seed"])) for row in rows}
    jobs: list[Job] = [
        (problem.id, level, seed, options.max_time)
        for seed in range(options.seeds)
        for level in options.levels
        for problem in load_problems(PROBLEMS)
        if (problem.id, level, seed) not in done and (not options.problems or problem.id in options.problems)
    ]
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn"), initializer=one_thread) as pool:
        for row in pool.map(_run, jobs):
            rows.append(row)
            write_rows(rows, path, FIELDS)
    (options.results / "textbook.md").write_text(_table(rows), encoding="utf-8")


def _run(job: Job) -> dict[str, str]:
    from edhie import EDHiERegressor

    name, noise, seed, max_time = job
    problem = next(each for each in load_problems(PROBLEMS) if each.id == name)
    X, y = problem.data("train", seed, noise)  # noqa: N806
    names = list(problem.names)
    import pandas

    model = EDHiERegressor(max_time=max_time, random_state=seed).fit(pandas.DataFrame(X, columns=names), y)
    found = model.discoveries_[0]
    verdicts = [_verdict(each.expr, problem, seed) for each in found.equations]
    X_test, y_test = problem.data("test", seed)  # noqa: N806
    predicted = found.best.predict(np.ascontiguousarray(X_test.T))
    return {
        "problem": name, "noise": f"{noise:g}", "seed": str(seed), "found": verdicts[found.index],
        "listed": max(verdicts, key=("no", "undecided", "yes").index),
        "r2_test": f"{bounded_r2(y_test, predicted, float(y_test.mean())):.6f}",
        "seconds": f"{found.result.seconds:.1f}", "formula": str(problem.formula),
        "equation": f"{found.best.expr:.6g}",
    }  # fmt: skip


def _verdict(expr: object, problem: Problem, seed: int) -> str:
    """Over the problem's names: columns that are named like operators have others in an equation."""
    from edhie.expr import Expr

    assert isinstance(expr, Expr)
    return is_equivalent(expr, problem, seed=seed, refit=True) or "undecided"


def _table(rows: Sequence[dict[str, str]]) -> str:
    """By formula and level: in how many of the runs it was chosen, and listed."""
    levels = sorted({row["noise"] for row in rows}, key=float)
    heads = "".join(f" chosen, {float(level):.0%} noise | listed |" for level in levels)
    lines = [
        "# Twenty textbook formulas, 200 rows, defaults",
        "",
        f"| | formula |{heads}",
        "|---|---|" + "---|---|" * len(levels),
    ]
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    for problem in [*problems, "total"]:
        its = [row for row in rows if problem in ("total", row["problem"])]
        cells = [f"`{its[0]['formula']}`" if problem != "total" else ""]
        for level in levels:
            of_level = [row for row in its if row["noise"] == level]
            cells += [
                f"{sum(row[what] == 'yes' for row in of_level)} of {len(of_level)}" for what in ("found", "listed")
            ]
        lines.append(f"| {problem} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
