"""Options that `fit` and `revise` share, and their conversion to settings.

The help of an option is the first sentence of the field that it sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from edhie.cli.fit_data import listed
from edhie.cli.options import complete_model
from edhie.console import help_of
from edhie.errors import SymbolError, shortened, suggestion
from edhie.evaluate.constraints import Constraints
from edhie.evaluate.tables import Header
from edhie.expr.symbols import ALIASES, OPERATORS
from edhie.fit.settings import Noise, Selection, Settings

DATA, GOAL, FORM, LIMITS = "Data", "What a good equation is", "What is known of the equation", "Limits"
SEARCH, OUTPUT = "Search", "Output"


def option(panel: str, help: str, *names: str, metavar: str = "", **more: Any) -> Any:
    """Return an option with one line of help; `metavar` is shown for its value."""
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=panel, **{"show_default": False} | more)


def setting(panel: str, field: str, *names: str, config: type = Settings, more: str = "", **options: Any) -> Any:
    """Return an option for a field of the settings; its help is the field's first sentence, then `more`."""
    first = help_of(config, field).partition("\n")[0].partition(". ")[0].rstrip(".")
    return option(panel, f"{first}.{more}", *names, **options)


def within(least: float, most: float = math.inf) -> Callable[[Any], Any]:
    """Return a check that a number is within limits."""

    def check(given: Any) -> Any:
        if given is not None and not least <= given <= most:
            limits = f"{least} or more" if most == math.inf else f"{least} to {most}"
            raise typer.BadParameter(f"{given} is out of range; give {limits}")
        return given

    return check


DataFile = Annotated[
    Path,
    typer.Argument(help="A table: CSV, TSV, Excel, JSON lines, Parquet, NumPy; - for standard input."),
]
Target = Annotated[str, option(DATA, "Column to explain.", metavar="COLUMN")]
Features = Annotated[str, option(DATA, "Columns to use; all others by default.", metavar="COLUMNS")]
Exclude = Annotated[str, option(DATA, "Columns to leave out.", metavar="COLUMNS")]
Missing = Annotated[str, option(DATA, "Values that mean missing, such as -999,n/a.", metavar="VALUES")]
DropMissing = Annotated[bool, option(DATA, "Leave out rows with missing values.", "--drop-missing")]
Sigma = Annotated[str | None, option(DATA, "Column of the target's standard errors.", metavar="COLUMN")]
Validation = Annotated[Path | None, option(DATA, "Table of held-out rows for choosing the equation.", metavar="FILE")]
Decimal = Annotated[Literal[",", "."] | None, option(DATA, "Decimal mark, if it is not recognised.", metavar="MARK")]
HeaderRow = Annotated[
    Header | None, option(DATA, "no if row 1 has no names, mend if it lacks some.", "--header", metavar="no|mend")
]
SampledRows = Annotated[
    int | None,
    option(
        DATA,
        "Rows to sample for the search; final fits use all (Parquet, NumPy).",
        "--sample",
        metavar="ROWS",
        callback=within(100),
    ),
]

LossName = Annotated[
    Literal["rmse", "mse", "mae", "nrmse", "max", "student"], setting(GOAL, "loss", "--loss", metavar="LOSS")
]
NoiseName = Annotated[Noise, setting(GOAL, "noise", "--noise", metavar="MODEL")]
SelectionName = Annotated[Selection, setting(GOAL, "selection", "--selection", "--select", metavar="RULE")]

Operators = Annotated[str, option(FORM, 'Operators to use: "+,-,*,exp"; all by default.', metavar="LIST")]
Guesses = Annotated[list[str] | None, option(FORM, "Formula near the truth; repeatable.", "--guess", metavar="FORMULA")]
TemplateText = Annotated[str | None, setting(FORM, "template", "--template", metavar="FORM")]
Corpus = Annotated[Path | None, setting(FORM, "corpus", metavar="FILE")]
LargestSize = Annotated[
    int | None, setting(FORM, "max_size", "--max-size", config=Constraints, metavar="N", callback=within(1))
]
ForbidNesting = Annotated[
    list[str] | None, option(FORM, 'Operators forbidden within OP: "exp:exp,log"; repeatable.', metavar="OP:LIST")
]
Only = Annotated[
    list[str] | None, option(FORM, 'Only columns allowed within OP: "sin:angle"; repeatable.', metavar="OP:LIST")
]
AllVariables = Annotated[bool, setting(FORM, "all_variables", "--all-variables", config=Constraints)]

MaxTime = Annotated[
    float | None, setting(LIMITS, "max_time", metavar="SECONDS", callback=within(0), more=" 60 by default, 0 for none.")
]
Evaluations = Annotated[
    int | None, option(LIMITS, "Limit on distinct expressions executed.", metavar="N", callback=within(1))
]
TargetError = Annotated[float | None, setting(LIMITS, "target_error", metavar="LOSS", callback=within(0))]
Patience = Annotated[int, setting(LIMITS, "patience", metavar="ROUNDS", callback=within(0), more=" 0 for never.")]

SearchName = Annotated[Literal["mosaic", "evolve", "draw"], setting(SEARCH, "search", metavar="NAME")]
Generator = Annotated[
    str | None, setting(SEARCH, "generator", "--generator", "--model", metavar="NAME", autocompletion=complete_model)
]
Strict = Annotated[bool, setting(SEARCH, "strict", "--strict")]
RandomSeed = Annotated[int, setting(SEARCH, "seed", metavar="N", callback=within(0, 2**63 - 1))]
Jobs = Annotated[
    int | None,
    option(SEARCH, "Cores to use; all by default. Results do not depend on it.", metavar="N", callback=within(1)),
]
Islands = Annotated[int | None, setting(SEARCH, "islands", metavar="N", callback=within(1))]
Cluster = Annotated[
    str | None, option(SEARCH, "Dask scheduler to search on; local starts a cluster here.", metavar="ADDRESS")
]
Out = Annotated[Path | None, option(OUTPUT, "Folder for the results and checkpoints.", metavar="FOLDER")]
Resume = Annotated[bool, option(OUTPUT, "Resume the search in the folder.", "--resume")]
Events = Annotated[Path | None, option(OUTPUT, "Write events as JSON lines to a file.", metavar="FILE")]
Report = Annotated[bool, option(OUTPUT, "Draw pictures and write report.html.", "--report/--no-report")]
Quiet = Annotated[bool, option(OUTPUT, "Print the equation only.", "--quiet")]
Json = Annotated[bool, option(OUTPUT, "Print JSON.", "--json")]


def seconds_of(given: float | None, evaluations: int | None) -> float | None:
    """Return the time limit; with a limit on evaluations alone there is none, so that results can be repeated."""
    if given is None:
        return Settings.max_time if evaluations is None else None
    return given if 0 < given < math.inf else None


def operators_of(texts: str) -> list[str] | None:
    """Return the operators named; None for all."""
    names = listed(texts)
    _check_known(names, OPERATORS, "operator", "--operators")
    return list(names) or None


def constraints_of(
    max_size: int | None,
    forbid_nesting: Sequence[str] | None,
    only: Sequence[str] | None,
    all_variables: bool,
    *,
    columns: Sequence[str],
) -> Constraints | None:
    """Return the constraints; None if there are none. `columns` are the names that may be used."""
    nested = _lists("--forbid-nesting", forbid_nesting or ())
    only_on = _lists("--only", only or ())
    _check_known(chain(*nested.values()), (*OPERATORS, *ALIASES), "operator", "--forbid-nesting")
    _check_known(chain(*only_on.values()), columns, "column", "--only")
    found = Constraints(max_size=max_size, nested=nested, only_on=only_on, all_variables=all_variables)
    return None if found == Constraints() else found


def _lists(option: str, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return by operator the names after its colon; those given for the same operator are joined."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        operator, colon, names = (part.strip() for part in text.partition(":"))
        if not colon or not operator:
            raise typer.BadParameter(f"{option} is an operator, a colon and names, such as exp:exp,log; not {text!r}")
        found[operator] = found.get(operator, ()) + listed(names)
    _check_known(found, (*OPERATORS, *ALIASES), "operator", option)
    return found


def _check_known(names: Iterable[str], known: Collection[str], what: str, option: str) -> None:
    for name in names:
        if name not in known:
            there = " ".join(OPERATORS) if what == "operator" else shortened(", ".join(known))
            hint = suggestion(name, known) or f"; there are {there}"
            raise SymbolError(f"unknown {what} {shortened(name)!r} in {option}{hint}")
