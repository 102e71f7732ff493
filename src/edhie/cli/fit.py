"""`edhie fit`: from a table of measurements to equations."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import typer

from edhie.cli.fit_data import Measured, listed, read_measured
from edhie.cli.options import print_json
from edhie.cli.outputs import check_folder
from edhie.cli.search_options import (
    AllVariables,
    Corpus,
    DataFile,
    Decimal,
    DropMissing,
    Evaluations,
    Exclude,
    Features,
    ForbidNesting,
    Generator,
    Guesses,
    Json,
    LargestSize,
    LossName,
    MaxTime,
    Missing,
    NoiseName,
    Only,
    Operators,
    Out,
    Patience,
    Quiet,
    RandomSeed,
    Report,
    Resume,
    SearchName,
    SelectionName,
    Sigma,
    Strict,
    Target,
    TargetError,
    TemplateText,
    Validation,
    constraints_of,
    operators_of,
    seconds_of,
)
from edhie.cli.show import document, print_equation, print_front
from edhie.cli.terminal import INTERRUPTED, is_interruption, only_warnings
from edhie.console import error_console, say
from edhie.errors import EdhieError
from edhie.events import Event, Improved
from edhie.fit import Discovery, Settings, discover
from edhie.fit.run_folder import save
from edhie.view import SearchView

FRONT, FIT, REPORT = "front.png", "fit.png", "report.html"


def fit(
    data: DataFile,
    target: Target,
    features: Features = "",
    exclude: Exclude = "",
    missing: Missing = "",
    drop_missing: DropMissing = False,
    sigma: Sigma = None,
    validation: Validation = None,
    decimal: Decimal = None,
    noise: NoiseName = Settings.noise,
    loss: LossName = Settings.loss,
    selection: SelectionName = Settings.selection,
    operators: Operators = "",
    guess: Guesses = None,
    template: TemplateText = None,
    corpus: Corpus = None,
    max_size: LargestSize = None,
    forbid_nesting: ForbidNesting = None,
    only: Only = None,
    all_variables: AllVariables = False,
    max_time: MaxTime = None,
    evaluations: Evaluations = None,
    target_error: TargetError = None,
    patience: Patience = Settings.patience or 0,
    generator: Generator = None,
    search: SearchName = "mosaic",
    strict: Strict = False,
    seed: RandomSeed = Settings.seed,
    out: Out = None,
    resume: Resume = False,
    report: Report = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find equations that explain a column of a table by others. Ctrl-C shows what was found so far."""
    if resume and out is None:
        raise typer.BadParameter("--resume needs the folder of the search; give it with --out")
    if template is not None and search != "mosaic":
        raise typer.BadParameter(f"a --template has a search of its own; leave out --search {search}")
    settings = Settings(
        max_time=seconds_of(max_time, evaluations), max_evaluations=evaluations, target_error=target_error,
        operators=operators_of(operators), guesses=guess or (), template=template, corpus=corpus,
        generator=generator, strict=strict, selection=selection, search=search, seed=seed,
        noise=noise, loss=loss, patience=patience or None,
    )  # fmt: skip
    found: Discovery | None = None
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
        found = _discovered(measured, settings, out, resume=resume, quiet=quiet)
        try:
            if out is not None:
                save(found, out)
        finally:  # equations that cannot be kept are shown all the same
            _tell(found, out, quiet=quiet, as_json=as_json)
    except BaseException as error:
        if not is_interruption(error):
            raise
        unkept = f"stopped while {out} was written; the same command with --resume writes it again"
        say(unkept if found else "stopped before anything was found", to=error_console)
        raise typer.Exit(INTERRUPTED) from None
    if out is not None:
        _finish(found, out, report=report, quiet=quiet or as_json)
    _end(found, out)


class _Watched:
    """Passes events on, and remembers the best: it can be told where a search fails."""

    def __init__(self, view: SearchView) -> None:
        self._view = view
        self.best: Improved | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, Improved):
            self.best = event
        self._view(event)


def _discovered(measured: Measured, settings: Settings, out: Path | None, *, resume: bool, quiet: bool) -> Discovery:
    with SearchView(target=measured.problem.target, is_quiet=quiet) as view:
        watched = _Watched(view)
        try:
            return discover(measured.problem, settings, on_event=watched, folder=out, resume=resume)
        except (EdhieError, OSError):  # such as a full disk
            if watched.best is not None:
                say(f"the best until then: {measured.problem.target} = {watched.best.expr}", to=error_console)
            raise


def _tell(found: Discovery, out: Path | None, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        print_json(document(found) | {"folder": None if out is None else str(out)})
    elif not found.is_empty:
        if not quiet:
            print_front(found)
            say("")
        print_equation(found.best)


def _finish(found: Discovery, out: Path, *, report: bool, quiet: bool) -> None:
    """Draw pictures and the report, after the equations were printed."""
    forget_pictures(out)
    if report and not found.is_empty:
        try:
            draw(found, out, command=shlex.join(["edhie", *sys.argv[1:]]))
        except BaseException as error:
            if not is_interruption(error):
                raise
            say(f"stopped before all pictures were drawn; {out} keeps the equations", to=error_console)
            raise typer.Exit(INTERRUPTED) from None
    if not quiet:
        kept = "1 equation is kept" if len(found.equations) == 1 else f"{len(found.equations)} equations are kept"
        again = "" if found.is_empty else f"; look at them again with: edhie show {shlex.quote(str(out))}"
        say(f"{out}: {kept}{again}")


def _end(found: Discovery, out: Path | None) -> None:
    """Exit with the right code if the search was stopped or found nothing."""
    if found.result.stopped == "interrupted":
        so_far = "nothing was found yet" if found.is_empty else "this was found so far"
        kept = f"; {out} keeps it; resume with the same command and --resume" if out else ""
        say(f"stopped: {so_far}{kept}", to=error_console)
        raise typer.Exit(INTERRUPTED)
    found.index  # noqa: B018 -- raises where nothing was found


def forget_pictures(folder: Path) -> None:
    """Remove pictures of an earlier state of the search."""
    with suppress(OSError):
        for name in (FRONT, FIT, REPORT):
            (folder / name).unlink(missing_ok=True)


def draw(found: Discovery, folder: Path, *, command: str) -> None:
    """Draw the front, the fit and the report; warn of one that cannot be made."""
    from edhie.plots import plot_fit, plot_front, save
    from edhie.report import write_report

    _attempt(folder / FRONT, lambda path: save(plot_front(found), path))
    _attempt(folder / FIT, lambda path: save(plot_fit(found), path))
    _attempt(folder / REPORT, lambda path: write_report(found, path, command=command))


def _attempt(path: Path, make: Callable[[Path], object]) -> None:
    try:
        make(path)
    except Exception as error:  # whatever it is: the equations are kept already, and a picture is not worth more
        with suppress(OSError):  # half of one, where the disk is full
            path.unlink(missing_ok=True)
        say(f"warning: {path} is not there: {error or repr(error)}", to=error_console)
