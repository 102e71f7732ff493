"""All 120 Feynman equations under noise: how often the form is right, and at which stage it is lost.

python experiments/feynman_noise.py --workers 2

1,000 rows; noise is normal, with a share of the target's root mean square as its standard deviation, as SRBench adds
it. A form is right if, with its constants fitted to the target without noise, its RMSE is below 1e-6 of the target's
standard deviation, and if it has at most twice the symbols of the formula. If it is not, the reason is one of these:

- `chosen otherwise`: a right form was shown, or was scored with an error within 1.3 times the least;
- `ranked low`: a right form was scored, with a larger error;
- `never built`: no right form was scored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache, partial

import numpy as np

from edhie.bench.problem import BenchmarkProblem, load_problems
from edhie.fit import Discovery
from forms import forest_of, places_of, right_forms, where_lost
from rows import Row
from runs import (
    CHOSEN,
    Numbers,
    fit,
    half_of_position,
    markdown,
    parser,
    run_fits,
    sections,
    share,
    version_p,
    versions_of,
)

LEVELS = (0.0, 0.001, 0.01, 0.1)
FIELDS = ("version", "problem", "noise", "seed", "right", "on_front", "lost", "scored", *CHOSEN)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    options = parser(__doc__, max_time=30.0)
    options.add_argument("--problems", nargs="*", default=[], help="which problems; all if none is named")
    options.add_argument("--levels", nargs="*", type=float, default=list(LEVELS), help="noise, as a share")
    options.add_argument("--seeds", nargs="*", type=int, default=[0], help="which seeds")
    given = options.parse_args(arguments)
    jobs = [
        {"version": given.label, "problem": name, "noise": f"{noise:g}", "seed": str(seed)}
        for seed in given.seeds
        for noise in given.levels
        for name in problem_names(given.half)
        if not given.problems or name in given.problems
    ]
    run = partial(run_problem, max_time=given.max_time)
    path = given.results / "feynman-noise.csv"
    rows = run_fits(run, jobs, path, FIELDS, given)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")


@cache
def problems() -> dict[str, BenchmarkProblem]:
    """Return the problems by id, in the order of their file."""
    return {each.id: each for each in load_problems("feynman120")}


def problem_names(half: str | None) -> list[str]:
    """Return the ids of one half of the problems, every other one of the file, or of all."""
    return [name for k, name in enumerate(problems()) if half in (None, half_of_position(k))]


# -- one run ----------------------------------------------------------------------------


def run_problem(job: Row, *, max_time: float) -> Row:
    """Fit one table, and judge the chosen form, those shown, and those scored."""
    problem, seed = problems()[job["problem"]], int(job["seed"])
    X, y = problem.data("train", seed)  # noqa: N806
    done = fit(X, with_noise(y, problem.id, float(job["noise"]), seed), problem.names, max_time=max_time, seed=seed)
    return verdicts(done.found, problem, X, y) | done.columns()


def with_noise(y: Numbers, name: str, level: float, seed: int) -> Numbers:
    """Return the target with noise of a share of its root mean square, which depends on name and seed alone."""
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    noise = np.random.default_rng([seed, digest, 1]).standard_normal(len(y))
    return y + level * np.sqrt(np.mean(np.square(y))) * noise


def verdicts(found: Discovery, problem: BenchmarkProblem, X: Numbers, y: Numbers) -> Row:  # noqa: N803
    """Return the columns that say whether the form was found; `y` is without noise."""
    assert problem.truth is not None
    columns, size = np.ascontiguousarray(X.T), problem.truth.size
    shown = right_forms(forest_of([each.expr for each in found.equations]), columns, y, size=size)
    is_chosen = bool(shown[found.index])
    scored = np.zeros(len(found.explored), np.bool_)
    if not is_chosen:
        scored = right_forms(found.explored.forest, columns, y, size=size)
    return {
        "right": "yes" if is_chosen else "no", "on_front": "yes" if shown.any() else "no",
        "lost": where_lost(scored, found.explored.errors, chosen=is_chosen, shown=bool(shown.any())),
        "scored": str(len(scored)),
    }  # fmt: skip


# -- tables -----------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results."""
    first = set(problem_names("develop"))
    return sections(
        "Feynman equations under noise: right forms, and where they are lost",
        rows,
        key,
        lambda row: "develop" if row["problem"] in first else "report",
        table,
        __doc__,
    )


def key(row: Row) -> tuple[str, str, str]:
    """Return the columns that identify a run of a version."""
    return row["problem"], row["noise"], row["seed"]


def table(rows: Sequence[Row]) -> str:
    """Return by noise and version how often the form was right and shown, and where it was lost."""
    lines, versions = [], versions_of(rows)
    for noise in sorted({row["noise"] for row in rows}, key=float):
        for version in versions:
            its = [row for row in rows if (row["noise"], row["version"]) == (noise, version)]
            places = places_of([row["lost"] for row in its])
            lines.append([noise, version, share(its, "right"), share(its, "on_front"), *map(str, places.values())])
        if len(versions) == 2:
            p = version_p([row for row in rows if row["noise"] == noise], key, "right")
            lines[-1][2] += f" ({p})"
    note = "\n\np: McNemar's exact test of the two versions on the same problems." if len(versions) == 2 else ""
    return markdown(["noise", "version", "right", "on the front", *places_of([])], lines) + note


if __name__ == "__main__":
    main()
