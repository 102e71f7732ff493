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
from edhie.bench.report import paper_figures
from edhie.bench.runner import RUNS
from edhie.evaluate import Evaluator
from edhie.search import Budget, run
from edhie.search.dso import DSO, DSOConfig
from rows import Row, run_missing
from runs import RESULTS, markdown
from significance import Counts, Outcomes, holm, p_value, shown_interval, verdict

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


COUNTED = {"distinct": "executed", "all": "asked"}
"""How expressions are counted: the column of the table."""


def summary(rows: Sequence[Row]) -> str:
    """Return the runs that found each equation, by variant and by how expressions are counted, and tests."""
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    found = {(variant, how): outcomes(rows, variant, how) for variant in VARIANTS for how in COUNTED}
    table = []
    for (variant, how), by_problem in found.items():
        successes = [sum(by_problem.get(each, [])) for each in problems]
        table.append([variant, how, *map(str, successes), str(sum(successes))])
    with_learning, without = ([found[variant, how] for how in COUNTED] for variant in VARIANTS)
    theirs = {name: (figures["successes"], RUNS) for name, figures in paper_figures("nguyen", "dso")[1].items()}
    beside_paper = tested([(counts(each), theirs) for each in with_learning])
    learning = tested([(counts(first), counts(second)) for first, second in zip(with_learning, without, strict=True)])
    gains = [
        shown_interval(first, second) if first and second else "not run"
        for first, second in zip(with_learning, without, strict=True)
    ]
    return PAGE.format(
        runs=len({row["run"] for row in rows}), budget=BUDGET,
        table=markdown(["", "counted", *problems, "total"], table), paper=sum(each for each, _ in theirs.values()),
        distinct=beside_paper[0], every=beside_paper[1], gain=f"{gains[0]}, {learning[0]}",
        every_gain=f"{gains[1]}, {learning[1]}",
    )  # fmt: skip


PAGE = """\
# DSO on the Nguyen equations

Runs that found the equation, of {runs}, within {budget:,} expressions: distinct ones that were executed, or all that
the policy and genetic programming wrote, repetitions and equivalent ones included.

{table}

`all` is the whole method; `no learning` has a policy that is not trained, and the same genetic programming. The tests
are exact and stratified by equation; p is corrected by Holm's method for the two ways of counting. Intervals are
bootstraps over equations and runs.

| | distinct expressions counted | all expressions counted |
| --- | --- | --- |
| the whole method against the paper's DSO, {paper} of 100 | {distinct} | {every} |
| with learning against without: difference of the success rates | {gain} | {every_gain} |

The paper evaluates "at most 100,000 sampled expressions" in a run. Its limit on the error is 10⁻¹⁰ for all targets,
and ours is multiplied by the target's standard deviation where that is above 1;
[The paper, reproduced](../../docs/reproduced.md#table-6-edhie-dso-and-pysr-and-edhies-own-search) has the counts by the
printed limit.

Most of what the method finds, it also finds without learning. What genetic programming adds was not measured, since
there is no variant without it.
"""


def tested(pairs: Sequence[tuple[Counts, Counts]]) -> list[str]:
    """Return whether the first of each pair found more, corrected for the number of pairs."""
    p = holm([p_value(first, second) for first, second in pairs])
    return [verdict(first, second, each) for (first, second), each in zip(pairs, p, strict=True)]


def outcomes(rows: Sequence[Row], variant: str, how: str) -> dict[str, list[bool]]:
    """Return whether each run found its equation within the budget, by equation."""
    found: dict[str, list[bool]] = {}
    for row in rows:
        if row["variant"] == variant:
            is_found = row["success"] == "True" and int(row[COUNTED[how]]) <= BUDGET
            found.setdefault(row["problem"], []).append(is_found)
    return found


def counts(found: Outcomes) -> Counts:
    """Return successes and runs, by equation."""
    return {problem: (sum(each), len(each)) for problem, each in found.items()}


if __name__ == "__main__":
    main()
