"""`edhie fit`: from a table of measurements to equations."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import typer

from edhie.cli import search_options as options
from edhie.cli.fit_data import listed, read_measured, tell
from edhie.cli.options import print_json
from edhie.cli.outputs import RUN, check_new_run, own_folder
from edhie.cli.show import document, print_front
from edhie.cli.terminal import INTERRUPTED, exit_on_interrupt
from edhie.console import error_console, say
from edhie.errors import EdhieError
from edhie.evaluate.parallel import core_count
from edhie.event_log import EventLog
from edhie.events import Event, Improved
from edhie.fit import Discovery, Settings, discover
from edhie.fit.measured import Measured
from edhie.fit.run_folder import save
from edhie.fit.workers import Workers
from edhie.search.checkpoint import ARRAYS as CHECKPOINT
from edhie.search.strategies import DEFAULT
from edhie.view import SearchView

FRONT, FIT, REPORT = "front.png", "fit.png", "report.html"


def fit(
    data: options.DataFile,
    target: options.Target,
    features: options.Features = "",
    exclude: options.Exclude = "",
    missing: options.Missing = "",
    drop_missing: options.DropMissing = False,
    sigma: options.Sigma = None,
    validation: options.Validation = None,
    decimal: options.Decimal = None,
    header: options.HeaderRow = None,
    sample: options.SampledRows = None,
    noise: options.NoiseName = Settings.noise,
    loss: options.LossName = Settings.loss,
    selection: options.SelectionName = Settings.selection,
    operators: options.Operators = "",
    guess: options.Guesses = None,
    template: options.TemplateText = None,
    corpus: options.Corpus = None,
    max_size: options.LargestSize = None,
    forbid_nesting: options.ForbidNesting = None,
    only: options.Only = None,
    all_variables: options.AllVariables = False,
    max_time: options.MaxTime = None,
    evaluations: options.Evaluations = None,
    target_error: options.TargetError = None,
    patience: options.Patience = Settings.patience or 0,
    generator: options.Generator = None,
    search: options.SearchName = DEFAULT,
    strict: options.Strict = False,
    seed: options.RandomSeed = Settings.seed,
    jobs: options.Jobs = None,
    islands: options.Islands = None,
    cluster: options.Cluster = None,
    out: options.Out = None,
    resume: options.Resume = False,
    events: options.Events = None,
    report: options.Report = True,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Find equations that explain a column of a table by others. Ctrl-C shows what was found so far."""
    if resume and out is None:
        raise typer.BadParameter("--resume needs the folder of the search; give it with --out")
    if template is not None and search != DEFAULT:
        raise typer.BadParameter(f"a --template has a search of its own; leave out --search {search}")
    settings = Settings(
        max_time=options.seconds_of(max_time, evaluations), max_evaluations=evaluations, target_error=target_error,
        operators=options.operators_of(operators), guesses=guess or (), template=template, corpus=corpus,
        generator=generator, strict=strict, selection=selection, search=search, seed=seed,
        noise=noise, loss=loss, patience=patience or None, islands=islands,
    )  # fmt: skip
    found: Discovery | None = None

    def when_stopped() -> str:
        if found is not None:
            return f"stopped while {out} was written; the same command with --resume writes it again"
        if out is not None and (out / CHECKPOINT).exists():
            return f"stopped; {out} keeps the search; resume with the same command and --resume"
        return "stopped before anything was found"

    with own_folder(out, RUN):
        with exit_on_interrupt(when_stopped):
            if out is not None and not resume:
                check_new_run(out)
            measured = read_measured(
                data, target, features, validation, sigma=sigma, decimal=decimal, exclude=exclude,
                missing=listed(missing), drop_missing=drop_missing, header=header, sample=sample,
            )  # fmt: skip
            columns = measured.problem.columns
            constraints = options.constraints_of(max_size, forbid_nesting, only, all_variables, columns=columns)
            settings = replace(settings, constraints=constraints)
            tell(measured, quiet=quiet)
            workers = Workers(jobs or core_count(), "local" if cluster is None else "dask", cluster)
            with EventLog(events, resume=resume) as log:
                found = _search(measured, settings, workers, out, log, resume=resume, quiet=quiet)
            try:
                if out is not None:
                    save(found, out)
            finally:  # equations are shown even if they cannot be saved
                _print_equations(found, out, quiet=quiet, as_json=as_json)
        if out is not None:
            _draw(found, out, report=report)
    if out is not None and not quiet and not as_json:
        kept = "1 equation is kept" if len(found.equations) == 1 else f"{len(found.equations)} equations are kept"
        again = "" if found.is_empty else f"; look at them again with: edhie show {shlex.quote(str(out))}"
        say(f"{out}: {kept}{again}")
    if found.result.stopped == "interrupted":
        so_far = "nothing was found yet" if found.is_empty else "this was found so far"
        kept = f"; {out} keeps it; resume with the same command and --resume" if out else ""
        say(f"stopped: {so_far}{kept}", to=error_console)
        raise typer.Exit(INTERRUPTED)
    found.index  # noqa: B018 -- raises an error if nothing was found


def _search(
    measured: Measured,
    settings: Settings,
    workers: Workers,
    out: Path | None,
    log: EventLog,
    *,
    resume: bool,
    quiet: bool,
) -> Discovery:
    """Search; if that fails, print the best expression and the folder to resume before the error is raised."""
    improved: list[Improved] = []
    with SearchView(target=measured.problem.target, is_quiet=quiet) as view:

        def watch(event: Event) -> None:
            if isinstance(event, Improved):
                improved.append(event)
            log(event)
            view(event)

        try:
            return discover(measured.problem, settings, on_event=watch, folder=out, resume=resume, workers=workers)
        except (EdhieError, OSError):  # such as a full disk
            if improved:
                best = improved[-1].chosen or improved[-1]
                say(f"the best until then: {measured.problem.target} = {best.expr}", to=error_console)
                if out is not None and (out / CHECKPOINT).exists():
                    say(f"{out} keeps the search; resume with the same command and --resume", to=error_console)
            raise


def _print_equations(found: Discovery, out: Path | None, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        print_json(document(found) | {"folder": None if out is None else str(out)})
    elif not found.is_empty:
        if not quiet:
            print_front(found)
            say("")
        say(found.best.text())


def _draw(found: Discovery, folder: Path, *, report: bool) -> None:
    """Draw the front, the fit and the report, in place of those of an earlier state; warn if one cannot be made."""
    with suppress(OSError):
        for name in (FRONT, FIT, REPORT):
            (folder / name).unlink(missing_ok=True)
    if not report or found.is_empty:
        return
    from edhie.plots import plot_fit, plot_front, save
    from edhie.report import write_report

    command = shlex.join(["edhie", *sys.argv[1:]])
    with exit_on_interrupt(lambda: f"stopped before all pictures were drawn; {folder} keeps the equations"):
        _attempt(folder / FRONT, lambda path: save(plot_front(found), path))
        _attempt(folder / FIT, lambda path: save(plot_fit(found), path))
        _attempt(folder / REPORT, lambda path: write_report(found, path, command=command))


def _attempt(path: Path, make: Callable[[Path], object]) -> None:
    try:
        make(path)
    except Exception as error:  # whatever it is: the equations are saved already
        with suppress(OSError):  # half a file, if the disk is full
            path.unlink(missing_ok=True)
        say(f"warning: {path} was not written: {error or repr(error)}", to=error_console)
