"""Run a method on a benchmark, each problem several times; finished runs are not repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from edhie.bench.methods import Baseline, Method, generator_for, has_generator, needed_training
from edhie.bench.own_methods import Given, resolve_method
from edhie.bench.problem import BenchmarkProblem, chosen, load_problems
from edhie.bench.problem_files import ProblemError
from edhie.bench.records import Records, Row, key_of, unwritable
from edhie.bench.rivals.isolated import check_installed, prepare_rival
from edhie.bench.trial import Outcome, Shard, Trial, TrialSettings
from edhie.bench.workers import Failure, cluster_outcomes, is_on_worker, process_outcomes
from edhie.files import locked

RUNS = 10  # as in the paper


@dataclass(frozen=True)
class Plan:
    """The runs of a benchmark."""

    benchmark: str
    """nguyen, feynman16, feynman120 (or feynman), or the path of a TOML file of problems or a CSV file of data."""
    method: Given
    """Name of a method, or your own: a `Method`, a class of strategies, a function that makes a strategy, or a function
    of X, y, budget and rng that returns a formula. Texts such as module:Climb or path/to/file.py:Climb name one."""
    runs: int = RUNS
    """Runs of each problem; run k uses the seed k for data and search."""
    ids: tuple[str, ...] = ()
    """Ids of problems; all if empty."""
    noise: float = 0.0
    """The target is multiplied by 1 + noise·ε, with ε from the standard normal distribution."""
    settings: TrialSettings = field(default_factory=TrialSettings)
    shard: Shard | None = None
    """Part of the runs, such as 2/8 for the second of eight jobs. Without it, all runs, including those of shards."""

    @cached_property
    def resolved(self) -> Method:
        """The method itself, with its name in tables."""
        return resolve_method(self.method)

    def problems(self) -> tuple[BenchmarkProblem, ...]:
        """Return the problems to run, in order: those asked for, or all that the method has a generator for."""
        found, method, model = load_problems(self.benchmark), self.resolved, self.settings.model
        if self.ids:
            return chosen(found, list(self.ids))
        return tuple(problem for problem in found if has_generator(method, problem, model))

    def trials(self) -> list[Trial]:
        """Return all trials, or those of the shard; those of the first problem first."""
        every = [
            Trial(self.benchmark, problem.id, self.resolved, number, float(self.noise), self.settings)
            for problem in self.problems()
            for number in range(self.runs)
        ]
        return every if self.shard is None else self.shard.of(every)


@dataclass(frozen=True)
class Ended:
    """The outcome of a benchmark."""

    rows: list[Row]
    """Rows of this plan, including those of earlier calls."""
    path: Path
    """File of the table."""
    failures: list[Failure]
    left_out: list[str]
    """Problems for which the method has no generator."""


def run_benchmark(
    plan: Plan,
    out: Path,
    *,
    workers: int = 1,
    cluster: str | None = None,
    with_curves: bool = False,
    train: Callable[[Baseline], None] | None = None,
    on_row: Callable[[int, int, str], None] = lambda done, total, note: None,
) -> Ended:
    """Run the trials that are missing from the table in `out`; each is saved as soon as it ends.

    `on_row` gets the number of finished runs, the total, and a note on the last run. After an interruption no finished
    run is lost, and the same call resumes with the rest. A run that fails does not stop the others. A shard has a
    table of its own; without a shard, the tables of shards in the folder are merged first.

    Runs are distributed over `workers` processes. With `cluster`, the address of a Dask scheduler, each run is a task
    there; "local" starts a cluster of `workers` processes on this machine.

    `with_curves` repeats runs whose learning curve is not in the folder. `train` is called for each model that has to
    be trained before the missing runs; without it, such a model is an error.
    """
    _check(plan, workers)
    problems = plan.problems()
    method = plan.resolved
    records = Records(out, plan.benchmark, method.name, plan.shard)
    all_trials, every = plan.trials(), load_problems(plan.benchmark)
    with locked(out, records.stem, unwritable=unwritable):  # other tables of the folder may be written meanwhile
        records.check(plan.settings, problems, method if method.is_own else None)
        done = records.done(with_curves=with_curves)
        waiting = [trial for trial in all_trials if trial.key not in done]
        _make_ready(plan, [each for each in problems if each.id in {trial.problem for trial in waiting}], train)
        records.open(again={trial.key for trial in waiting})
        if method.package and waiting:
            on_row(len(all_trials) - len(waiting), len(all_trials), f"preparing {method.package}")
            prepare_rival(method, problems)
        with closing(
            process_outcomes(waiting, workers) if cluster is None else cluster_outcomes(waiting, cluster, workers)
        ) as outcomes:
            failures = _saved(outcomes, waiting, records, len(all_trials), on_row)
        wanted = {trial.key for trial in all_trials}
        rows = [row for row in records.sort(every) if key_of(row) in wanted]
    left_out = [] if plan.ids else [problem.id for problem in every if problem not in problems]
    return Ended(rows, records.path, failures, left_out)


def _saved(
    outcomes: Iterable[Outcome | Failure],
    waiting: Sequence[Trial],
    records: Records,
    total: int,
    on_row: Callable[[int, int, str], None],
) -> list[Failure]:
    """Save the outcomes of trials as they come; return the failures, in the order of the trials."""
    failures: list[Failure] = []
    on_row(total - len(waiting), total, "")
    by_key = {trial.key: trial for trial in waiting}
    for finished, outcome in enumerate(outcomes, start=total - len(waiting) + 1):
        if isinstance(outcome, Failure):
            failures.append(outcome)
            on_row(finished, total, f"{outcome.trial.problem} run {outcome.trial.run} failed")
            continue
        row = outcome.row
        records.add(by_key[key_of(row)], outcome)
        word = "found" if row["success"] else f"rmse {row['rmse']:.3g}"
        after = "" if row["evaluated"] is None else f" after {row['evaluated']:,}"
        on_row(finished, total, f"{row['problem']} run {row['run']}: {word}{after}")
    places = {key: place for place, key in enumerate(by_key)}
    return sorted(failures, key=lambda failure: places[failure.trial.key])


def _check(plan: Plan, workers: int) -> None:
    """Raise an error before the first run if every run would fail."""
    if plan.runs < 1 or workers < 1:
        raise ProblemError(f"there must be at least one run and one worker, not {plan.runs} and {workers}")
    if is_on_worker():
        raise ProblemError(
            "every worker imports the file of the method, and this file starts a benchmark when it is imported; "
            "put that under: if __name__ == '__main__'"
        )
    method, settings = plan.resolved, plan.settings
    if not settings.evaluations and settings.seconds is None:
        raise ProblemError("a run without limit would not end: give a number of evaluations or of seconds")
    problems = plan.problems()
    for problem in problems:
        problem.data("train", 0, plan.noise)  # raises where the formula has no finite value
        if not has_generator(method, problem, settings.model):
            generator_for(method, problem, settings.model)  # raises, and says why
    if not problems:
        raise ProblemError(f"{method.name} has no generator for any problem of {plan.benchmark}")


def _make_ready(plan: Plan, problems: Sequence[BenchmarkProblem], train: Callable[[Baseline], None] | None) -> None:
    """Check the package and train the models that the runs of these problems need."""
    if not problems:
        return
    check_installed(plan.resolved)
    for baseline in [] if plan.settings.model else needed_training(plan.resolved, problems):
        if train is None:
            what = f"{baseline.kind} on {baseline.corpus}"
            raise ProblemError(f"a model has to be trained first ({what}): call train() of each in needed_training()")
        train(baseline)
