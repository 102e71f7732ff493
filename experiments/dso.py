"""DSO on the Nguyen equations: the effects of learning, and of counting distinct expressions only.

python experiments/dso.py --workers 2
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from edhie.bench.methods import METHODS, generator_for
from edhie.bench.metrics import success_threshold
from edhie.bench.problem import chosen, load_problems
from edhie.bench.runner import RUNS
from edhie.evaluate import Evaluator
from edhie.search import Budget, run
from edhie.search.dso import DSO, DSOConfig
from rows import Row, run_missing
from runs import RESULTS, markdown
from significance import p_value, verdict

BUDGET = 100_000
VARIANTS = {"all": DSOConfig(), "no learning": DSOConfig(learning_rate=0)}
FIELDS = ("variant", "problem", "run", "success", "executed", "asked", "seconds")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    jobs = [
        {"variant": variant, "problem": problem.id, "run": str(number)}
        for variant in options.variants
        for problem in load_problems("nguyen")
        for number in range(options.runs)
    ]
    path = options.results / "dso.csv"
    rows = run_missing(run_variant, jobs, path, FIELDS, workers=options.workers)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")


def run_variant(job: Row) -> Row:
    """Run one variant as `edhie bench nguyen --method dso` runs DSO."""
    problem, seed = chosen(load_problems("nguyen"), [job["problem"]])[0], int(job["run"])
    generator = generator_for(METHODS["dso"], problem)
    X, y = problem.data("train", seed)  # noqa: N806
    budget = Budget(BUDGET, target_error=success_threshold(y))
    strategy = DSO(VARIANTS[job["variant"]])
    result = run(generator, Evaluator(generator.library, X, y), strategy=strategy, budget=budget, rng=seed)
    return {
        "success": str(result.stopped == "target"), "executed": str(result.counts.executed),
        "asked": str(result.counts.asked), "seconds": f"{result.seconds:.1f}",
    }  # fmt: skip


def summary(rows: Sequence[Row]) -> str:
    """Return the runs that found each equation, by variant and by how expressions are counted."""
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    table = []
    for variant in dict.fromkeys(row["variant"] for row in rows):
        for column, count in (("executed", "distinct"), ("asked", "all")):
            found = [
                sum(
                    row["success"] == "True" and int(row[column]) <= BUDGET
                    for row in rows
                    if (row["variant"], row["problem"]) == (variant, problem)
                )
                for problem in problems
            ]
            table.append([variant, count, *map(str, found), str(sum(found))])
    n_runs = len({row["run"] for row in rows})
    return f"""# DSO on the Nguyen equations

Runs that found the equation, of {n_runs}, within {BUDGET:,} expressions: distinct ones that were executed, or all that
the policy and genetic programming wrote, repetitions and equivalent ones included.

{markdown(["", "counted", *problems, "total"], table)}

`all` is the whole method; `no learning` has a policy that is not trained, and the same genetic programming. The whole
method against the one without learning, by distinct expressions: {difference(rows)}, by an exact test stratified by
equation.
"""


def difference(rows: Sequence[Row]) -> str:
    """Return whether the method finds more with learning."""
    first, second = (
        {
            problem: (sum(row["success"] == "True" for row in its), len(its))
            for problem in dict.fromkeys(row["problem"] for row in rows)
            if (its := [row for row in rows if (row["variant"], row["problem"]) == (variant, problem)])
        }
        for variant in VARIANTS
    )
    return verdict(first, second, p_value(first, second))


if __name__ == "__main__":
    main()
