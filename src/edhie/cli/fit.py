"""`edhie search`: from a table of measurements to equations; stopped, it goes on with --resume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

from edhie.cli.options import Json, Seed, complete_model, print_json
from edhie.cli.search_folder import check_folder, write_best
from edhie.cli.search_report import Report
from edhie.cli.stopping import INTERRUPTED, is_interruption
from edhie.console import error_console, say
from edhie.errors import DataError, SearchError, SymbolError
from edhie.evaluate import Data, Evaluator, read_data
from edhie.evaluate.tables import column_names, read_numbers
from edhie.expr import SymbolLibrary
from edhie.generators import Generator, load
from edhie.generators.answers import answer_library, over
from edhie.generators.base import Model
from edhie.generators.renamed import Renamed
from edhie.generators.shipped import general_for
from edhie.results import SearchResult
from edhie.results.validation import split
from edhie.search import Budget, run
from edhie.view import SearchView

StrategyName = Literal["mosaic", "evolve", "draw"]
SECONDS = 60.0
LEAST_ROWS = 2
WARM_UP = Budget(evaluations=64, seconds=1.0)
SPLIT_SEED = 0  # the same rows are held out whatever the seed of the search: results can be compared


@dataclass(frozen=True, eq=False)
class _Job:
    """All that makes a search."""

    target: str
    evaluator: Evaluator
    validation: Data | None
    generator: Generator
    strategy: StrategyName
    budget: Budget
    seed: int


def search(
    data: Annotated[Path, typer.Argument(help="A CSV file: a row of names, then one row a measurement.")],
    target: Annotated[str, typer.Option(help="The column to explain.")],
    features: Annotated[
        str, typer.Option(help="The columns to explain it with, such as a,b.", show_default="all others")
    ] = "",
    model: Annotated[
        str | None,
        typer.Option(
            help="What gives expressions: a model folder, or a name from `edhie model list`.",
            autocompletion=complete_model,
            show_default="general-N for N columns",
        ),
    ] = None,
    strategy: Annotated[StrategyName, typer.Option(help="How to search.")] = "mosaic",
    evaluations: Annotated[
        int | None, typer.Option(min=1, help="Distinct expressions executed at most.", show_default="no limit")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="How long it may take, what was spent before --resume included; 0 for no limit.",
            show_default=f"{SECONDS:g}; with --evaluations no limit",
        ),
    ] = None,
    target_error: Annotated[
        float | None, typer.Option(min=0.0, help="An error (RMSE) that is good enough to stop.", show_default="none")
    ] = None,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="The folder to keep everything in.", show_default="nothing is kept")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the search in the folder; where there is none, begin.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Answer with the model's own symbols only, without others and constants.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the selected equation and nothing else.")] = False,
    as_json: Json = False,
) -> None:
    """Find equations that explain a column of a table by others. Ctrl-C shows what was found so far."""
    if resume and out is None:
        raise typer.BadParameter("--resume needs the folder of the search that is to go on; give it with --out")
    budget = Budget(evaluations, _seconds(seconds, evaluations), target_error)
    try:
        if out is not None:
            check_folder(out, resume=resume)
        table = _read(data, target, features)
        train, validation = split(table, np.random.default_rng(SPLIT_SEED))
        generator, library = _sources(data, table.names, model, strategy, strict=strict)
        evaluator = Evaluator(library, train.columns.T, train.y)
        job = _Job(target, evaluator, validation, generator, strategy, budget, seed)
        result = _run(job, out, resume=resume, quiet=quiet)
        report = Report.of(result, target, evaluator.data, validation)
        _tell(report, out, quiet=quiet, as_json=as_json)
    except BaseException as error:
        if not is_interruption(error):
            raise
        say("stopped before anything was found", to=error_console)
        raise typer.Exit(INTERRUPTED) from None
    if result.stopped == "interrupted":
        found = "this was found so far" if report.selected else "nothing was found yet"
        kept = f"; {out} keeps it: the same command with --resume goes on from there" if out else ""
        say(f"stopped: {found}{kept}", to=error_console)
        raise typer.Exit(INTERRUPTED)
    if report.selected is None:
        executed = f"none of {result.counts.executed:,} expressions has a value in every row"
        raise SearchError(f"nothing was found: {executed}; search longer, or with another --model")


def _seconds(given: float | None, evaluations: int | None) -> float | None:
    """The limit in seconds; a number of evaluations alone has none, so that it gives the same on every machine."""
    if given is None:
        return SECONDS if evaluations is None else None
    return given if 0 < given < np.inf else None


# -- what goes in ---------------------------------------------------------------------


def _read(path: Path, target: str, features: str) -> Data:
    """The chosen columns, as data that can be searched."""
    given = [each.strip() for each in features.split(",") if each.strip()]
    names = tuple(given) or tuple(name for name in column_names(path) if name != target)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"--features names {twice!r} twice; name it once")
    if target in names:
        raise DataError(f"{target!r} is the --target and among the --features too; leave it out of one")
    table = read_numbers(path, (target, *names))
    if not names:
        raise DataError(f"{path} has no column besides {target!r}; give at least one to explain it with")
    if len(table) < LEAST_ROWS:
        count = "1 row" if len(table) == 1 else "no rows"
        raise DataError(f"{path} has {count} of numbers; give at least {LEAST_ROWS}, and better hundreds")
    if len(names) > len(table):
        more = "give more rows, or choose fewer columns with --features"
        raise DataError(f"{path} has more variables ({len(names)}) than rows ({len(table)}); {more}")
    y = table[:, 0]
    if (y == y[0]).all():
        raise DataError(f"{path}: column {target!r} is {y[0]:g} in every row, so there is nothing to explain")
    return read_data(table[:, 1:], y, names=names)


def _sources(
    path: Path, names: Sequence[str], model: str | None, strategy: StrategyName, *, strict: bool
) -> tuple[Generator, SymbolLibrary]:
    """What gives expressions, and the symbols of an answer: over the data's columns."""
    loaded = load(general_for(len(names)) if model is None else model)
    _check_fits(loaded, names, strategy)
    library = answer_library(loaded, strict=strict, undoing=strategy == "mosaic")
    try:
        answers = over(library, names)
        # mosaic itself places a model's variables on those of the data, where they are not as many
        return Renamed(loaded, names) if len(names) == len(loaded.library.variables) else loaded, answers
    except SymbolError as error:
        raise DataError(f"{path}, names of columns: {error}; or leave it out with --features") from error


def _check_fits(model: Model, names: Sequence[str], strategy: StrategyName) -> None:
    own = len(model.library.variables)
    if own == 0:
        raise SearchError("the model has no variables, so it explains nothing; choose another --model")
    if strategy != "mosaic" and own != len(names):
        raise SearchError(
            f"the strategy {strategy!r} needs a model for {len(names)} variables, and this one has {own}; "
            "use --strategy mosaic, other --features or another --model"
        )


# -- the search, and what comes out ---------------------------------------------------


def _run(job: _Job, out: Path | None, *, resume: bool, quiet: bool) -> SearchResult:
    if job.validation is not None and not quiet:
        rows = job.evaluator.data.n_rows + job.validation.n_rows
        say(f"{job.validation.n_rows:,} of {rows:,} rows are held out for validation", to=error_console)
    if job.budget.seconds is not None:
        _warm_up(job)
    with SearchView() as view:
        return run(
            job.generator, job.evaluator, strategy=job.strategy, budget=job.budget, rng=job.seed,
            on_event=None if quiet else view, folder=out, resume=resume,
        )  # fmt: skip


def _warm_up(job: _Job) -> None:
    """A small search on numbers that mean nothing: a first one compiles, which is no part of the time asked for."""
    library = job.evaluator.library
    noise = np.random.default_rng(0).uniform(1, 2, (32, len(library.variables) + 1))
    evaluator = Evaluator(library, noise[:, :-1], noise[:, -1])
    if run(job.generator, evaluator, strategy=job.strategy, budget=WARM_UP).stopped == "interrupted":
        raise KeyboardInterrupt


def _tell(report: Report, out: Path | None, *, quiet: bool, as_json: bool) -> None:
    if out is not None and report.selected is not None:
        write_best(out, report.equation(report.selected.candidate.expr))
    if as_json:
        print_json(report.as_json())
    elif quiet or report.selected is None:
        report.print_selected()
    else:
        report.print()
        if out is not None:
            say(f"{out}: {len(report.result.candidates):,} expressions are kept")
