"""`edhie fit`: from a table to equations; `edhie revise`: the least change to a formula after which it explains one."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from edhie.cli.options import print_json, with_options
from edhie.cli.outputs import RUN, check_new_run, own_folder
from edhie.cli.search_options import OPTIONS, Asked
from edhie.cli.show import document, print_front
from edhie.cli.terminal import INTERRUPTED, LOGGER, exit_on_interrupt
from edhie.console import error_console, say
from edhie.errors import EdhieError, shortened
from edhie.evaluate.parallel import core_count
from edhie.event_log import EventLog
from edhie.events import Event, Improved
from edhie.expr import SymbolLibrary
from edhie.fit import Discovery, Problem, discover
from edhie.fit.discover import Workers
from edhie.fit.measured import Measured
from edhie.fit.revision import Revision
from edhie.fit.revision import revise as revised
from edhie.fit.run_folder import save, save_revision
from edhie.fit.settings import Settings
from edhie.results import SearchResult
from edhie.safe_text import printable
from edhie.search.checkpoint import ARRAYS as CHECKPOINT
from edhie.view import SearchView

FRONT, FIT, REPORT, DIFFERENCE = "front.png", "fit.png", "report.html", "difference.png"
NOT_REVISE = "sample selection guess template corpus patience search strict islands cluster report".split()
"""Options of `edhie fit` alone."""
CONSTANT = "c"  # an unknown constant in formulas
MOST_TOLD = 20  # columns that have another name in equations
WIDEST = 60  # letters of an equation in the table of revisions
RESUME = "resume with the same command and --resume"


@with_options(OPTIONS)
def fit(**given: Any) -> None:
    """Find equations that explain a column of a table by others. Ctrl-C shows what was found so far."""
    asked = Asked(**given)
    settings, out, quiet = asked.settings(), asked.out, asked.quiet
    found: Discovery | None = None

    def when_stopped() -> str:
        if found is not None:
            return f"stopped while {out} was written; the same command with --resume writes it again"
        kept = f"{out} keeps the search; {RESUME}"
        return f"stopped; {kept}" if has_checkpoint(out) else "stopped before anything was found"

    with own_folder(out, RUN):
        with exit_on_interrupt(when_stopped):
            workers = Workers(asked.jobs or core_count(), "local" if asked.cluster is None else "dask", asked.cluster)
            with searching(asked, settings) as (problem, settings, watch):
                found = discover(problem, settings, on_event=watch, folder=out, resume=asked.resume, workers=workers)
            try:
                if out is not None:
                    save(found, out)
            finally:  # equations are shown even if they cannot be saved
                _print_equations(found, out, quiet=quiet, as_json=asked.as_json)
        if out is not None:
            _draw(found, out, report=asked.report)
    if out is not None and not quiet and not asked.as_json:
        kept = "1 equation is kept" if len(found.equations) == 1 else f"{len(found.equations)} equations are kept"
        again = "" if found.is_empty else f"; look at them again with: edhie show {shlex.quote(str(out))}"
        say(f"{out}: {kept}{again}")
    exit_if_interrupted(found.result, out, is_empty=found.is_empty)
    found.index  # noqa: B018 -- raises an error if nothing was found


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
    from edhie.plots import plot_fit, plot_front
    from edhie.plots import save as save_plot
    from edhie.report import write_report

    command = shlex.join(["edhie", *sys.argv[1:]])
    with exit_on_interrupt(lambda: f"stopped before all pictures were drawn; {folder} keeps the equations"):
        attempt(folder / FRONT, lambda path: save_plot(plot_front(found), path))
        attempt(folder / FIT, lambda path: save_plot(plot_fit(found), path))
        attempt(folder / REPORT, lambda path: write_report(found, path, command=command))


# -- revisions ------------------------------------------------------------------------------


@with_options([each for each in OPTIONS if each.name not in NOT_REVISE])
def revise(
    formula: Annotated[str, typer.Argument(help="The formula, such as `c*a*exp(-c*b)`; c for unknown constants.")],
    **given: Any,
) -> None:
    """Revise a formula: the least change after which it explains the data. Ctrl-C shows what was found so far."""
    asked = Asked(**given)
    settings, out = asked.settings(), asked.out
    with own_folder(out, RUN), exit_on_interrupt(lambda: "stopped before anything was found"):
        with searching(asked, settings) as (problem, settings, watch):
            jobs = asked.jobs or core_count()
            found = revised(formula, problem, settings, on_event=watch, folder=out, resume=asked.resume, jobs=jobs)
        try:
            if out is not None:
                save_revision(found, out)
                attempt(out / DIFFERENCE, lambda path: _draw_difference(found, path))
        finally:  # revisions are shown even if they cannot be saved
            _print_revision(found, out, quiet=asked.quiet, as_json=asked.as_json)
    exit_if_interrupted(found.result, out)


def _draw_difference(found: Revision, path: Path) -> None:
    from edhie.plots import plot_difference, save

    save(plot_difference(found.original.expr, found.best.expr), path)


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


# -- both -----------------------------------------------------------------------------------


@contextmanager
def searching(asked: Asked, settings: Settings) -> Iterator[tuple[Problem, Settings, Callable[[Event], None]]]:
    """Read the data and tell the user about them; yield them, the settings with the constraints, and a listener.

    It shows the search and writes its events. If the search fails, print the best expression and the folder to resume.
    """
    if asked.out is not None and not asked.resume:
        check_new_run(asked.out)
    measured = asked.measured()
    problem, target = measured.problem, measured.problem.target
    settings = replace(settings, constraints=asked.constraints(problem.columns))
    tell(measured, quiet=asked.quiet)
    improved: list[Improved] = []
    with EventLog(asked.events, resume=asked.resume) as log, SearchView(target=target, is_quiet=asked.quiet) as view:

        def watch(event: Event) -> None:
            if isinstance(event, Improved):
                improved.append(event)
            log(event)
            view(event)

        try:
            yield problem, settings, watch
        except (EdhieError, OSError):  # such as a full disk
            if improved:
                best = improved[-1].chosen or improved[-1]
                say(f"the best until then: {target} = {best.expr}", to=error_console)
                if has_checkpoint(asked.out):
                    say(f"{asked.out} keeps the search; {RESUME}", to=error_console)
            raise


def has_checkpoint(folder: Path | None) -> bool:
    """Return whether a folder holds a search to resume."""
    return folder is not None and (folder / CHECKPOINT).exists()


def attempt(path: Path, make: Callable[[Path], object]) -> None:
    """Make a file of what was found; warn if it cannot be made."""
    try:
        make(path)
    except Exception as error:  # whatever it is: the equations are saved already
        with suppress(OSError):  # half a file, if the disk is full
            path.unlink(missing_ok=True)
        say(f"warning: {path} was not written: {error or repr(error)}", to=error_console)


def exit_if_interrupted(result: SearchResult, out: Path | None, *, is_empty: bool = False) -> None:
    """Tell the user and exit if the search was interrupted."""
    if result.stopped == "interrupted":
        so_far = "nothing was found yet" if is_empty else "this was found so far"
        say(f"stopped: {so_far}" + (f"; {out} keeps it; {RESUME}" if out else ""), to=error_console)
        raise typer.Exit(INTERRUPTED)


def tell(measured: Measured, *, quiet: bool = False) -> None:
    """Print a summary of the data; if `quiet`, print nothing, and from here on only warnings."""
    if quiet:
        LOGGER.setLevel(logging.WARNING)
        return
    if measured.notes:
        say(f"{measured.path} {' and '.join(measured.notes)}", to=error_console)
    problem, columns = measured.problem, measured.problem.columns
    apart = 0 if problem.validation is None else problem.validation.n_rows
    held_out = 0 if measured.validation_path else apart
    rows = measured.n_rows
    by = f"{columns[0]!r}" if len(columns) == 1 else f"{len(columns)} others ({shortened(', '.join(columns))})"
    say(f"{measured.path}: {rows:,} rows; {problem.target!r} is to be explained by {by}", to=error_console)
    if problem.whole is not None:
        sampled = f"a sample of {problem.train.n_rows:,} rows is searched"
        say(f"{sampled}; it was taken in {measured.seconds:.1f} s", to=error_console)
    if held_out:
        say(f"{held_out:,} of {rows:,} rows are held out for validation", to=error_console)
    if measured.validation_path is not None:
        say(f"{measured.validation_path}: {apart:,} rows for validation", to=error_console)
    renamed = [each for each in zip(columns, problem.train.names, strict=True) if each[0] != each[1]]
    for column, name in renamed[:MOST_TOLD]:
        say(f"column {column!r} is called {name} in equations", to=error_console)
    if len(renamed) > MOST_TOLD:
        say(f"{len(renamed) - MOST_TOLD:,} other columns have other names in equations too", to=error_console)
    if CONSTANT in problem.train.names:
        stands = SymbolLibrary.of([], list(problem.train.names), constant=True).constant
        say(f"{CONSTANT} is a column here; in formulas write {stands} for an unknown constant", to=error_console)
