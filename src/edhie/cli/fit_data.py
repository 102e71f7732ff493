"""What `edhie fit` and `edhie revise` tell the user: about the data, during the search, and when it is interrupted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import typer

from edhie.cli.outputs import check_new_run
from edhie.cli.search_options import Asked
from edhie.cli.terminal import INTERRUPTED, LOGGER
from edhie.console import error_console, say
from edhie.errors import EdhieError, shortened
from edhie.event_log import EventLog
from edhie.events import Event, Improved
from edhie.expr import SymbolLibrary
from edhie.fit import Problem
from edhie.fit.measured import Measured
from edhie.fit.settings import Settings
from edhie.results import SearchResult
from edhie.search.checkpoint import ARRAYS as CHECKPOINT
from edhie.view import SearchView

CONSTANT = "c"  # an unknown constant in formulas
MOST_TOLD = 20  # columns that have another name in equations
RESUME = "resume with the same command and --resume"


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
