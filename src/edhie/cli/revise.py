"""`edhie revise`: the least change to a formula after which it explains a table of measurements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from edhie.cli import search_options as options
from edhie.cli.fit_data import listed, read_measured, tell
from edhie.cli.options import print_json
from edhie.cli.outputs import RUN, check_new_run, own_folder
from edhie.cli.terminal import INTERRUPTED, exit_on_interrupt
from edhie.console import error_console, say
from edhie.errors import EdhieError, shortened
from edhie.evaluate.parallel import core_count
from edhie.event_log import EventLog
from edhie.events import Event
from edhie.fit.revision import Revision
from edhie.fit.revision import revise as revised
from edhie.fit.revision.saving import save as save_revision
from edhie.fit.settings import Settings
from edhie.plots import save
from edhie.plots.trees import plot_difference
from edhie.safe_text import printable
from edhie.view import SearchView

PICTURE = "difference.png"
WIDEST = 60  # letters of an equation in the table


def revise(
    formula: Annotated[str, typer.Argument(help="The formula, such as `c*a*exp(-c*b)`; c for unknown constants.")],
    data: options.DataFile,
    target: options.Target,
    features: options.Features = "",
    exclude: options.Exclude = "",
    missing: options.Missing = "",
    drop_missing: options.DropMissing = False,
    sigma: options.Sigma = None,
    noise: options.NoiseName = Settings.noise,
    loss: options.LossName = Settings.loss,
    validation: options.Validation = None,
    decimal: options.Decimal = None,
    header: options.HeaderRow = None,
    max_time: options.MaxTime = None,
    evaluations: options.Evaluations = None,
    target_error: options.TargetError = None,
    operators: options.Operators = "",
    max_size: options.LargestSize = None,
    forbid_nesting: options.ForbidNesting = None,
    only: options.Only = None,
    all_variables: options.AllVariables = False,
    generator: options.Generator = None,
    seed: options.RandomSeed = Settings.seed,
    jobs: options.Jobs = None,
    out: options.Out = None,
    resume: options.Resume = False,
    events: options.Events = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Revise a formula: the least change after which it explains the data. Ctrl-C shows what was found so far."""
    if resume and out is None:
        raise typer.BadParameter("--resume needs the folder of the revision; give it with --out")
    settings = Settings(
        max_time=options.seconds_of(max_time, evaluations), max_evaluations=evaluations, target_error=target_error,
        operators=options.operators_of(operators), generator=generator, seed=seed, noise=noise, loss=loss,
    )  # fmt: skip
    with own_folder(out, RUN), exit_on_interrupt(lambda: "stopped before anything was found"):
        if out is not None and not resume:
            check_new_run(out)
        measured = read_measured(
            data, target, features, validation, sigma=sigma, decimal=decimal, exclude=exclude,
            missing=listed(missing), drop_missing=drop_missing, header=header,
        )  # fmt: skip
        columns = measured.problem.columns
        constraints = options.constraints_of(max_size, forbid_nesting, only, all_variables, columns=columns)
        settings = replace(settings, constraints=constraints)
        tell(measured, quiet=quiet)
        with SearchView(target=measured.problem.target, is_quiet=quiet) as view, EventLog(events, resume=resume) as log:

            def watch(event: Event) -> None:
                log(event)
                view(event)

            found = revised(
                formula, measured.problem, settings, on_event=watch, folder=out, resume=resume,
                jobs=jobs or core_count(),
            )  # fmt: skip
        try:
            if out is not None:
                _save(found, out)
        finally:  # revisions are shown even if they cannot be saved
            _print_revision(found, out, quiet=quiet, as_json=as_json)
    if found.result.stopped == "interrupted":
        kept = f"; {out} keeps it; resume with the same command and --resume" if out else ""
        say(f"stopped: this was found so far{kept}", to=error_console)
        raise typer.Exit(INTERRUPTED)


def _print_revision(found: Revision, out: Path | None, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json() | {"folder": None if out is None else str(out)})
        return
    if not quiet:
        say(found.verdict)
        if found.original.error is not None:
            say(f"as given, its loss is {found.original.error:.4g}")
        _print_steps(found)
        say("")
    say(found.best.text())


def _print_steps(found: Revision) -> None:
    """Print one line for each step, with a star before the chosen one."""
    texts = [shortened(step.equation.right_side(), WIDEST) for step in found.steps]
    title = f"{printable(found.target)} ="
    width = max(len(text) for text in [*texts, title])
    say(f"  distance  {'loss':>10}  {'R²':>9}  {title:<{width}}  what changed")
    for step, text in zip(found.steps, texts, strict=True):
        r2 = step.equation.r2
        share = f"{r2:>9.6f}" if r2 > -10 else f"{r2:>9.2g}"
        star = "*" if step is found.chosen else " "
        say(f"{star} {step.distance:>8}  {step.equation.loss:>10.4g}  {share}  {text:<{width}}  {step.changes}")


def _save(found: Revision, out: Path) -> None:
    """Save the revision, and draw a picture of its changes."""
    save_revision(found, out)
    try:
        save(plot_difference(found.original.expr, found.best.expr), out / PICTURE)
    except (EdhieError, ValueError) as error:  # the equations are saved already
        say(f"warning: {out / PICTURE} was not written: {error}", to=error_console)
