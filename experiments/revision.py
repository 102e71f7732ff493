"""Twenty-four textbook formulas with their textbook corrections: how often revising the one finds the other.

python experiments/revision.py --workers 2

200 rows, noise of 1 % of each measurement, 5,000 evaluations, three seeds. A correction is chosen if the recommended
step, with its constants fitted to data without noise, is equivalent to the truth and has no more constants; it is
listed if that holds for a step of the front. Revising was developed on one half of the pairs; the other was held out.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from edhie.bench.metrics import is_equivalent
from edhie.bench.problem import BenchmarkProblem
from edhie.bench.problem_files import Variable
from edhie.expr import Expr
from rows import Row, run_missing
from runs import notes

PAIRS = Path(__file__).with_suffix(".toml")
RESULTS = Path(__file__).parent / "results"
HALVES = ("developed", "held out")
ROWS, NOISE = 200, 0.01
FIELDS = ("pair", "half", "seed", "chosen", "listed", "steps", "found_at", "seconds", "given", "truth", "equation")


@dataclass(frozen=True)
class Pair:
    """A given formula, and the problem with the true one."""

    half: str
    given: str
    constants: int
    """Number of constants of the true formula."""
    problem: BenchmarkProblem


def read_pairs(path: Path = PAIRS) -> dict[str, Pair]:
    """Return the pairs of a file, by id."""
    found = {}
    for row in tomllib.loads(path.read_text(encoding="utf-8"))["pair"]:
        variables = tuple(Variable(name, float(low), float(high)) for name, (low, high) in row["variables"].items())
        truth = BenchmarkProblem(
            row["id"], "y", variables, name=row["name"], formula=row["truth"], n_train=ROWS, n_test=ROWS
        )
        found[row["id"]] = Pair(row["half"], row["given"], row["constants"], truth)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs="*", default=[], help="which pairs; all if none is named")
    parser.add_argument("--halves", nargs="*", default=list(HALVES), choices=HALVES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--evaluations", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    path = options.results / "revision.csv"
    jobs = [
        {"pair": name, "half": pair.half, "seed": str(seed)}
        for name, pair in read_pairs().items()
        for seed in range(options.seeds)
        if pair.half in options.halves and (not options.pairs or name in options.pairs)
    ]
    rows = run_missing(partial(_run, evaluations=options.evaluations), jobs, path, FIELDS, workers=options.workers)
    (options.results / "revision.md").write_text(table(rows), encoding="utf-8")


def _run(job: Row, evaluations: int) -> Row:
    from edhie.evaluate import read_data
    from edhie.fit import Settings
    from edhie.fit.revision import revise

    pair, seed = read_pairs()[job["pair"]], int(job["seed"])
    X, y = pair.problem.data("train", seed, NOISE)  # noqa: N806
    data = read_data(X, y, names=pair.problem.names)
    found = revise(pair.given, data, Settings(max_time=None, max_evaluations=evaluations, seed=seed))
    verdicts = [verdict(step.equation.expr, pair, seed) for step in found.steps]
    where = verdicts.index("yes") if "yes" in verdicts else None
    return {
        "chosen": verdicts[found.steps.index(found.chosen)],
        "listed": max(verdicts, key=("no", "undecided", "yes").index), "steps": str(len(found.steps)),
        "found_at": "" if where is None else str(found.steps[where].equation.candidate.executed_at),
        "seconds": f"{found.result.seconds:.1f}", "given": pair.given, "truth": str(pair.problem.formula),
        "equation": f"{found.best.expr:.6g}",
    }  # fmt: skip


def verdict(expr: Expr, pair: Pair, seed: int) -> str:
    """Return whether an equation is equivalent to the truth and has no more constants."""
    if len(expr.constants) > pair.constants:
        return "no"
    return is_equivalent(expr, pair.problem, seed=seed, refit=True) or "undecided"


def table(rows: Sequence[dict[str, str]]) -> str:
    """Return, by half and pair, in how many runs the truth was chosen, and listed."""
    lines = [
        f"# Textbook formulas revised, {ROWS} rows, {NOISE:.0%} noise, 5,000 evaluations",
        "",
        notes(__doc__ or ""),
    ]
    for half in HALVES:
        its = [row for row in rows if row["half"] == half]
        lines += ["", f"## {half.capitalize()}", "", "| | given | truth | chosen | listed |", "|---|---|---|---|---|"]
        for name in dict.fromkeys(row["pair"] for row in its):
            runs = [row for row in its if row["pair"] == name]
            lines.append(f"| {name} | `{runs[0]['given']}` | `{runs[0]['truth']}` | {_counts(runs)} |")
        lines.append(f"| total | | | {_counts(its)} |")
    return "\n".join(lines) + "\n"


def _counts(rows: Sequence[dict[str, str]]) -> str:
    return " | ".join(f"{sum(row[what] == 'yes' for row in rows)} of {len(rows)}" for what in ("chosen", "listed"))


if __name__ == "__main__":
    main()
