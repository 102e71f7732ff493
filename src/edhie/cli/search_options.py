"""What `fit` and `revise` can be told of a search: each option once, and what becomes of it."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from edhie.cli.options import complete_model
from edhie.console import help_of
from edhie.errors import SymbolError, shortened, suggestion
from edhie.evaluate.constraints import ANY_FUNCTION, Constraints
from edhie.expr.symbols import ALIASES, OPERATORS
from edhie.fit.settings import Noise, Settings

EACH = "Give it once for each."
LIMITS, FORM, KEEPING = "When it stops", "What is known of the equation", "What is kept"


def _help(config: type, field: str) -> str:
    """Return the help text of a field, without what only Python can pass."""
    return help_of(config, field).partition("\n")[0].partition(" None: ")[0]


# -- data, limits, folder -------------------------------------------------------------

DataFile = Annotated[
    Path, typer.Argument(help="A table, CSV, TSV or Parquet: a row of names, then one row a measurement.")
]
Target = Annotated[str, typer.Option(help="The column to explain.")]
Sigma = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of the target's standard errors: rows count by 1/sigma², and it is no feature.",
        show_default="all rows count the same",
    ),
]
Decimal = Annotated[
    Literal[",", "."] | None,
    typer.Option(help="The decimal mark of the table, if it is not recognised.", show_default="recognised"),
]
Features = Annotated[str, typer.Option(help="The columns to explain it with, such as a,b.", show_default="all others")]
Validation = Annotated[
    Path | None,
    typer.Option(
        help="A table of rows that are only looked at when an equation is chosen.",
        show_default="some rows of a thousand and more",
    ),
]
Evaluations = Annotated[
    int | None,
    typer.Option(min=1, help="Distinct expressions executed at most.", show_default="no limit", rich_help_panel=LIMITS),
]
TargetError = Annotated[
    float | None,
    typer.Option(min=0.0, help="An error that is good enough to stop.", show_default="none", rich_help_panel=LIMITS),
]
MaxTime = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="Seconds that it may take, those before --resume included; 0 for no limit.",
        show_default="60; with --evaluations no limit",
        rich_help_panel=LIMITS,
    ),
]
Patience = Annotated[
    int,
    typer.Option(
        min=0,
        help="Stop early after so many rounds without a better equation, if the best took no longer to find; 0: never.",
        rich_help_panel=LIMITS,
    ),
]
LossName = Annotated[
    Literal["rmse", "mse", "mae", "nrmse", "max", "student"], typer.Option("--loss", help=_help(Settings, "loss"))
]
NoiseName = Annotated[Noise, typer.Option("--noise", help=_help(Settings, "noise"))]
Out = Annotated[
    Path | None,
    typer.Option(help="The folder to keep everything in.", show_default="nothing is kept", rich_help_panel=KEEPING),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Go on with the search in the folder; where there is none, begin.", rich_help_panel=KEEPING
    ),
]

# -- what equations are made of, and look like ----------------------------------------

Operators = Annotated[
    str,
    typer.Option(
        help='What equations are made of, such as "+,-,*,exp".',
        show_default="all of the generator's",
        rich_help_panel=FORM,
    ),
]
Generator = Annotated[
    str | None,
    typer.Option(
        "--generator",
        "--model",
        help="What gives expressions: a model folder, or a name from `edhie model list`.",
        autocompletion=complete_model,
        show_default="general-N for N columns",
    ),
]
Corpus = Annotated[Path | None, typer.Option(help=_help(Settings, "corpus"), rich_help_panel=FORM)]
Guesses = Annotated[
    list[str] | None, typer.Option("--guess", help=f"{_help(Settings, 'guesses')} {EACH}", rich_help_panel=FORM)
]
TemplateText = Annotated[str | None, typer.Option("--template", help=_help(Settings, "template"), rich_help_panel=FORM)]
LargestSize = Annotated[
    int | None, typer.Option("--max-size", min=1, help=_help(Constraints, "max_size"), rich_help_panel=FORM)
]
ForbidNesting = Annotated[
    list[str] | None,
    typer.Option(
        help=f'{_help(Constraints, "nested")} Such as "exp:exp,log"; * is any function. {EACH}', rich_help_panel=FORM
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(help=f'{_help(Constraints, "only_on")} Such as "sin:angle,phase". {EACH}', rich_help_panel=FORM),
]
AllVariables = Annotated[
    bool, typer.Option("--all-variables", help=_help(Constraints, "all_variables"), rich_help_panel=FORM)
]


def seconds_of(given: float | None, evaluations: int | None) -> float | None:
    """Return the time limit; with a limit on evaluations alone there is none, so that results can be repeated."""
    if given is None:
        return Settings.max_time if evaluations is None else None
    return given if 0 < given < math.inf else None


def operators_of(texts: str) -> list[str] | None:
    """Return the operators named; None for all."""
    names = [each.strip() for each in texts.split(",") if each.strip()]
    for name in names:
        if name not in OPERATORS:
            hint = suggestion(name, OPERATORS) or f"; there are {' '.join(OPERATORS)}"
            raise SymbolError(f"unknown operator {name!r} in --operators{hint}")
    return names or None


def constraints_of(
    max_size: int | None,
    forbid_nesting: Sequence[str] | None,
    only: Sequence[str] | None,
    all_variables: bool,
    *,
    columns: Sequence[str],
) -> Constraints | None:
    """Return the constraints; None if there are none. `columns` are the names that may be used."""
    nested = _lists("--forbid-nesting", forbid_nesting or (), _operator)
    only_on = _lists("--only", only or (), _column(columns))
    found = Constraints(max_size=max_size, nested=nested, only_on=only_on, all_variables=all_variables)
    return None if found == Constraints() else found


def _lists(option: str, texts: Iterable[str], named: Callable[[str, str], str]) -> dict[str, tuple[str, ...]]:
    """Return by operator the names behind its colon, joined for the same operator; names with commas are quoted."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        operator, colon, rest = text.partition(":")
        if not colon or not operator.strip():
            raise typer.BadParameter(f"{option} is an operator, a colon and names, such as exp:exp,log; not {text!r}")
        key = _operator(operator.strip(), option)
        names = (each.strip() for each in next(csv.reader([rest], skipinitialspace=True), []))
        found[key] = found.get(key, ()) + tuple(named(name, option) for name in names if name)
    return found


def _operator(name: str, option: str) -> str:
    if name != ANY_FUNCTION and name not in OPERATORS and name not in ALIASES:
        hint = suggestion(name, [*OPERATORS, *ALIASES]) or f"; there are {' '.join(OPERATORS)}"
        raise SymbolError(f"unknown operator {shortened(name)!r} in {option}{hint}")
    return name


def _column(columns: Sequence[str]) -> Callable[[str, str], str]:
    def named(name: str, option: str) -> str:
        if name not in columns:
            hint = suggestion(name, columns) or f"; there are {shortened(', '.join(columns))}"
            raise SymbolError(f"unknown column {shortened(name)!r} in {option}{hint}")
        return name

    return named
