"""`edhie revise`: what a formula has to change to explain a table of measurements."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from edhie.cli.fit_data import Measured, listed, read_measured
from edhie.cli.options import print_json
from edhie.cli.outputs import check_folder
from edhie.cli.search_options import (
    AllVariables,
    DataFile,
    Decimal,
    DropMissing,
    Evaluations,
    Exclude,
    Features,
    ForbidNesting,
    Generator,
    Json,
    LargestSize,
    MaxTime,
    Missing,
    NoiseName,
    Only,
    Operators,
    Out,
    Quiet,
    RandomSeed,
    Resume,
    Sigma,
    Target,
    TargetError,
    Validation,
    constraints_of,
    operators_of,
    seconds_of,
)
from edhie.cli.terminal import INTERRUPTED, is_interruption, only_warnings
from edhie.console import error_console, say
from edhie.errors import EdhieError, SearchError, shortened
from edhie.fit.revision import Revision
from edhie.fit.revision import revise as revised
from edhie.fit.settings import Settings
from edhie.plots import save
from edhie.plots.trees import plot_difference
from edhie.view import SearchView

REVISIONS, BEST, PICTURE = "revisions.csv", "best.txt", "difference.png"
WIDEST = 60  # letters of an equation in the table


def revise(
    formula: Annotated[str, typer.Argument(help="The formula, such as `c*a*exp(-c*b)`; c for unknown constants.")],
    data: DataFile,
    target: Target,
    features: Features = "",
    exclude: Exclude = "",
    missing: Missing = "",
    drop_missing: DropMissing = False,
    sigma: Sigma = None,
    noise: NoiseName = Settings.noise,
    validation: Validation = None,
    decimal: Decimal = None,
    max_time: MaxTime = None,
    evaluations: Evaluations = None,
    target_error: TargetError = None,
    operators: Operators = "",
    max_size: LargestSize = None,
    forbid_nesting: ForbidNesting = None,
    only: Only = None,
    all_variables: AllVariables = False,
    generator: Generator = None,
    seed: RandomSeed = Settings.seed,
    out: Out = None,
    resume: Resume = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Revise a formula: the least change after which it explains the data. Ctrl-C shows what was found so far."""
    if resume and out is None:
        raise typer.BadParameter("--resume needs the folder of the revision; give it with --out")
    settings = Settings(
        max_time=seconds_of(max_time, evaluations), max_evaluations=evaluations, target_error=target_error,
        operators=operators_of(operators), generator=generator, seed=seed,
        noise=noise,
    )  # fmt: skip
    try:
        if out is not None:
            check_folder(out, resume=resume)
        measured = read_measured(
            data, target, features, validation, sigma=sigma, decimal=decimal, exclude=exclude,
            missing=listed(missing), drop_missing=drop_missing,
        )  # fmt: skip
        constraints = constraints_of(max_size, forbid_nesting, only, all_variables, columns=measured.problem.columns)
        settings = replace(settings, constraints=constraints)
        if quiet:
            only_warnings()
        else:
            measured.tell()
        found = _found(formula, measured, settings, out, resume=resume, quiet=quiet)
        _tell(found, out, quiet=quiet, as_json=as_json)
        if out is not None:
            _keep(found, out)
    except BaseException as error:
        if not is_interruption(error):
            raise
        say("stopped before anything was found", to=error_console)
        raise typer.Exit(INTERRUPTED) from None
    if found.result.stopped == "interrupted":
        kept = f"; {out} keeps it; resume with the same command and --resume" if out else ""
        say(f"stopped: this was found so far{kept}", to=error_console)
        raise typer.Exit(INTERRUPTED)


def _found(
    formula: str, measured: Measured, settings: Settings, out: Path | None, *, resume: bool, quiet: bool
) -> Revision:
    with SearchView(target=measured.problem.target, is_quiet=quiet) as view:
        return revised(formula, measured.problem, settings, on_event=view, folder=out, resume=resume)


def _tell(found: Revision, out: Path | None, *, quiet: bool, as_json: bool) -> None:
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
    width = max(len(text) for text in [*texts, f"{found.target} ="])
    say(f"  distance  {'loss':>10}  {'R²':>9}  {f'{found.target} =':<{width}}  what changed")
    for step, text in zip(found.steps, texts, strict=True):
        r2 = step.equation.r2
        share = f"{r2:>9.6f}" if r2 > -10 else f"{r2:>9.2g}"
        star = "*" if step is found.chosen else " "
        say(f"{star} {step.distance:>8}  {step.equation.loss:>10.4g}  {share}  {text:<{width}}  {step.changes}")


def _keep(found: Revision, out: Path) -> None:
    """Write the steps as a table, the chosen equation, and a picture of the changes."""
    try:
        with (out / REVISIONS).open("w", encoding="utf-8", newline="") as file:
            rows = [step.as_json() for step in found.steps]
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        (out / BEST).write_text(f"{found.best.text(None)}\n", encoding="utf-8")
    except OSError as error:
        raise SearchError(f"cannot write to {out}: {error.strerror or error}") from error
    try:
        save(plot_difference(found.original.expr, found.best.expr), out / PICTURE)
    except (EdhieError, ValueError) as error:  # the equations are kept already
        say(f"warning: {out / PICTURE} is not there: {error}", to=error_console)
