"""`edhie fit`: from a table of measurements to equations; stopped, it goes on with --resume."""

from __future__ import annotations

import math
import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from edhie.cli.fit_data import Measured, read_measured
from edhie.cli.fit_folder import check_folder, draw, forget_pictures
from edhie.cli.found import document, print_equation, print_front
from edhie.cli.options import Json, MaxTime, Quiet, Seed, complete_model, print_json
from edhie.cli.stopping import INTERRUPTED, is_interruption
from edhie.console import error_console, help_of, say
from edhie.discovery import Discovery, Settings, discover
from edhie.discovery.folder import save
from edhie.discovery.settings import SECONDS, Selection
from edhie.errors import EdhieError, SymbolError, suggestion
from edhie.events import Event, Improved
from edhie.expr.symbols import OPERATORS
from edhie.view import SearchView

StrategyName = Literal["mosaic", "evolve", "draw"]


def fit(
    data: Annotated[
        Path, typer.Argument(help="A table, CSV, TSV or Parquet: a row of names, then one row a measurement.")
    ],
    target: Annotated[str, typer.Option(help="The column to explain.")],
    features: Annotated[
        str, typer.Option(help="The columns to explain it with, such as a,b.", show_default="all others")
    ] = "",
    max_time: MaxTime = None,
    evaluations: Annotated[
        int | None, typer.Option(min=1, help="Distinct expressions executed at most.", show_default="no limit")
    ] = None,
    target_error: Annotated[
        float | None, typer.Option(min=0.0, help="An error (RMSE) that is good enough to stop.", show_default="none")
    ] = None,
    operators: Annotated[
        str, typer.Option(help='What equations are made of, such as "+,-,*,exp".', show_default="all of the model's")
    ] = "",
    selection: Annotated[Selection, typer.Option(help=help_of(Settings, "selection"))] = "mdl",
    model: Annotated[
        str | None,
        typer.Option(
            help="What gives expressions: a model folder, or a name from `edhie model list`.",
            autocompletion=complete_model,
            show_default="general-N for N columns",
        ),
    ] = None,
    strategy: Annotated[StrategyName, typer.Option(help="How to search.")] = "mosaic",
    strict: Annotated[
        bool, typer.Option("--strict", help="Answer with the model's own symbols only, without others and constants.")
    ] = False,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="The folder to keep everything in.", show_default="nothing is kept")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the search in the folder; where there is none, begin.")
    ] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Draw pictures and write report.html.")] = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find equations that explain a column of a table by others. Ctrl-C shows what was found so far."""
    if resume and out is None:
        raise typer.BadParameter("--resume needs the folder of the search that is to go on; give it with --out")
    settings = Settings(
        max_time=_seconds(max_time, evaluations), max_evaluations=evaluations, target_error=target_error,
        operators=_operators(operators),
        generator=model, strict=strict, selection=selection, strategy=strategy, seed=seed,
    )  # fmt: skip
    found: Discovery | None = None
    try:
        if out is not None:
            check_folder(out, resume=resume)
        measured = read_measured(data, target, features)
        if not quiet:
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


def _operators(texts: str) -> list[str] | None:
    """The operators that are named; None for all."""
    names = [each.strip() for each in texts.split(",") if each.strip()]
    for name in names:
        if name not in OPERATORS:
            hint = suggestion(name, OPERATORS) or f"; there are {' '.join(OPERATORS)}"
            raise SymbolError(f"unknown operator {name!r} in --operators{hint}")
    return names or None


def _seconds(given: float | None, evaluations: int | None) -> float | None:
    """The limit in seconds; a number of evaluations alone has none, so that it gives the same on every machine."""
    if given is None:
        return SECONDS if evaluations is None else None
    return given if 0 < given < math.inf else None


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
    with SearchView(target=measured.target, is_quiet=quiet) as view:
        watched = _Watched(view)
        try:
            return discover(
                measured.train, settings, target=measured.target, validation=measured.validation, on_event=watched,
                folder=out, resume=resume,
            )  # fmt: skip
        except (EdhieError, OSError):  # such as a full disk
            if watched.best is not None:
                say(f"the best until then: {measured.target} = {watched.best.expr}", to=error_console)
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
    """Pictures and the report, which no equation waits for."""
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
    """How the command ends, where it was stopped or found nothing."""
    if found.result.stopped == "interrupted":
        so_far = "nothing was found yet" if found.is_empty else "this was found so far"
        kept = f"; {out} keeps it: the same command with --resume goes on from there" if out else ""
        say(f"stopped: {so_far}{kept}", to=error_console)
        raise typer.Exit(INTERRUPTED)
    found.index  # noqa: B018 -- raises where nothing was found
