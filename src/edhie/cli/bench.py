"""`edhie bench`: a method on a benchmark, beside the paper's figures."""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from edhie.bench.figures import curves_figure, mean_curve, read_curves, success_figure
from edhie.bench.methods import METHODS, Baseline
from edhie.bench.own_methods import resolve_method
from edhie.bench.problem import benchmark_names
from edhie.bench.records import results_name, table_name
from edhie.bench.report import notes_on, table_of
from edhie.bench.runner import RUNS, Ended, Plan, run_benchmark
from edhie.bench.trial import Shard, TrialSettings
from edhie.bench.workers import Failure
from edhie.cli.options import complete_model, completing, option_of
from edhie.cli.outputs import benchmark as benchmark_folder
from edhie.cli.outputs import own_folder, save_figure
from edhie.cli.terminal import exit_on_interrupt, noted_bar
from edhie.console import console, error_console, help_of, say
from edhie.evaluate.parallel import core_count

OWN = "or a search of your own, as my_module:Climb or path/to/file.py:Climb"
WORKERS = "1; all cores with --cluster local"
MOST_PANELS = 18  # of learning curves in one picture


complete_benchmark = completing(benchmark_names)


def complete_method(incomplete: str) -> list[tuple[str, str]]:
    """Return the names of methods with this beginning, and their descriptions."""
    return [(name, method.about) for name, method in METHODS.items() if name.startswith(incomplete)]


def bench(
    benchmark: Annotated[str, typer.Argument(help=help_of(Plan, "benchmark"), autocompletion=complete_benchmark)],
    method: Annotated[
        str, typer.Option(help=f"How to search: {', '.join(METHODS)}; {OWN}.", autocompletion=complete_method)
    ] = "default",
    runs: Annotated[int, option_of(Plan, "runs", min=1)] = RUNS,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "--jobs", min=1, help="Runs at a time, each on one core.", show_default=WORKERS),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Dask scheduler to run on; local starts a cluster here.", metavar="ADDRESS")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder of the tables and the learning curves.")] = Path("results"),
    problems: Annotated[str, typer.Option(help="Only these problems, such as NG-1,NG-5.", show_default="all")] = "",
    noise: Annotated[float, option_of(Plan, "noise", min=0.0)] = Plan.noise,
    evaluations: Annotated[int, option_of(TrialSettings, "evaluations", min=0)] = TrialSettings.evaluations,
    seconds: Annotated[float | None, option_of(TrialSettings, "seconds", "--max-time", "--seconds", min=0.0)] = None,
    strict: Annotated[bool | None, option_of(TrialSettings, "strict", "--strict/--free", show_default=False)] = None,
    model: Annotated[str | None, option_of(TrialSettings, "model", autocompletion=complete_model)] = None,
    latent: Annotated[
        int | None,
        typer.Option(min=1, help="Latent dimensions of the method's autoencoder, such as 64: trained once and kept."),
    ] = None,
    shard: Annotated[str | None, option_of(Plan, "shard", metavar="I/N")] = None,
    figures: Annotated[bool, typer.Option("--figures", help="Draw successes and learning curves too.")] = False,
) -> None:
    """Run a method on a benchmark. Finished runs in the folder are not repeated, and Ctrl-C keeps them."""
    ids = tuple(filter(None, (each.strip() for each in problems.split(","))))
    settings, part = TrialSettings(evaluations, seconds, strict, model), None if shard is None else Shard.parse(shard)
    how = method if latent is None else resolve_method(method).with_latent(latent)
    plan = Plan(benchmark, how, runs, ids, noise, settings, part)
    with (
        own_folder(out, benchmark_folder(results_name(benchmark, plan.resolved.name, part))),
        exit_on_interrupt(lambda: f"stopped; finished runs are kept in {out}; the same command resumes"),
        noted_bar() as progress,
    ):
        task = progress.add_task("run", total=None, note="")
        ended = run_benchmark(
            plan, out, workers=workers or (core_count() if cluster else 1), cluster=cluster,
            train=partial(_train, progress=progress),
            on_row=lambda done, total, note: progress.update(task, completed=done, total=total, note=note),
        )  # fmt: skip
    _print_results(ended, plan)
    if figures and ended.rows:
        _draw(ended, plan, out)
    if ended.failures:
        raise typer.Exit(1)


def _train(baseline: Baseline, progress: Progress) -> None:
    once = f"training a {baseline.kind} of {baseline.latent} dimensions on {baseline.corpus}, once"
    say(f"{once}; it is kept in {baseline.folder}", to=error_console)
    task = progress.add_task("epoch", total=baseline.config.epochs, note="")
    baseline.train(lambda epoch, total: progress.update(task, completed=epoch, total=total))
    progress.remove_task(task)


def _print_results(ended: Ended, plan: Plan) -> None:
    if ended.rows:
        console.print(table_of(ended.rows, table_name(plan.benchmark), plan.resolved.name, plan.noise))
        for line in notes_on(ended.rows, plan.noise):
            say(line)
    say(f"{ended.path}: {len(ended.rows)} {'run' if len(ended.rows) == 1 else 'runs'}")
    if ended.left_out:
        say(f"left out, since no model of {plan.resolved.name} has as many variables: {', '.join(ended.left_out)}")
    # a user's own method fails in all problems for the same reason, so it is reported once
    groups: dict[str, list[Failure]] = {}
    for failure in ended.failures:
        groups.setdefault(failure.reason if plan.resolved.is_own else failure.trial.problem, []).append(failure)
    for first, *others in groups.values():
        which = f"run {first.trial.run}" + (f" and {len(others)} more" if others else "")
        say(f"error: {first.trial.problem}, {which}: {first.reason}", to=error_console)


def _draw(ended: Ended, plan: Plan, out: Path) -> None:
    """Draw both figures beside the table."""
    name, method = ended.path.stem, plan.resolved.name
    runs = dict(islice(read_curves(out, name, ended.rows).items(), MOST_PANELS))
    last = max((run[-1, 0] for some in runs.values() for run in some if len(run)), default=1.0)
    curves = {problem: mean_curve(some, last) for problem, some in runs.items()}
    successes = success_figure({method: ended.rows}, table_name(plan.benchmark))
    for figure, path in ((successes, f"{name}.png"), (curves_figure({method: curves}), f"{name}-curves.png")):
        say(str(save_figure(figure, out / path)))
