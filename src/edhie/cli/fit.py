"""`edhie fit`: from a table of measurements to equations."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from edhie.cli.fit_data import RESUME, attempt, exit_if_interrupted, has_checkpoint, searching
from edhie.cli.options import print_json, with_options
from edhie.cli.outputs import RUN, own_folder
from edhie.cli.search_options import OPTIONS, Asked
from edhie.cli.show import document, print_front
from edhie.cli.terminal import exit_on_interrupt
from edhie.console import say
from edhie.evaluate.parallel import core_count
from edhie.fit import Discovery, discover
from edhie.fit.run_folder import save
from edhie.fit.workers import Workers

FRONT, FIT, REPORT = "front.png", "fit.png", "report.html"


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
    from edhie.plots import plot_fit, plot_front, save
    from edhie.report import write_report

    command = shlex.join(["edhie", *sys.argv[1:]])
    with exit_on_interrupt(lambda: f"stopped before all pictures were drawn; {folder} keeps the equations"):
        attempt(folder / FRONT, lambda path: save(plot_front(found), path))
        attempt(folder / FIT, lambda path: save(plot_fit(found), path))
        attempt(folder / REPORT, lambda path: write_report(found, path, command=command))
