"""Options that `fit` and `revise` share: one table, `Asked`, and its conversion to data and settings.

The help of an option is the first sentence of the field that it sets.
"""
# ruff: noqa: RUF009 -- the calls make fields

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import typer

from edhie.cli.options import OPTION, complete_model, parameters_of
from edhie.console import help_of
from edhie.errors import SymbolError, shortened, suggestion
from edhie.evaluate.constraints import Constraints
from edhie.evaluate.tables import Header
from edhie.expr.symbols import ALIASES, OPERATORS
from edhie.fit.measured import Measured, read_file
from edhie.fit.settings import Noise, Selection, Settings
from edhie.safe_text import from_line
from edhie.search.strategies import DEFAULT

DATA, GOAL, FORM, LIMITS = "Data", "What a good equation is", "What is known of the equation", "Limits"
SEARCH, OUTPUT = "Search", "Output"
DATA_FILE = "A table: CSV, TSV, Excel, JSON lines, Parquet, NumPy; - for standard input."
DECIMAL_MARK = "Decimal mark, if it is not recognised."
SAMPLED_ROWS = "Rows to sample for the search; final fits use all (Parquet, NumPy)."
FORBIDDEN_NESTING = 'Operators forbidden within OP: "exp:exp,log"; repeatable.'
ONLY = 'Only columns allowed within OP: "sin:angle"; repeatable.'
JOBS = "Cores to use; all by default. Results do not depend on it."
Mark = Literal[",", "."]


def option(panel: str, help: str, *names: str, default: Any = None, metavar: str = "", **more: Any) -> Any:
    """Return a field with an option, which has one line of help; `metavar` is shown for its value."""
    made = typer.Option(*names, help=help, metavar=metavar, rich_help_panel=panel, show_default=False, **more)
    return field(default=default, metadata={OPTION: made})


def setting(panel: str, name: str, *names: str, config: type = Settings, more: str = "", **options: Any) -> Any:
    """Return the option for a field of the settings; its help is the field's first sentence, then `more`."""
    first = help_of(config, name).partition("\n")[0].partition(". ")[0].rstrip(".")
    return option(panel, f"{first}.{more}", *names, **{"default": getattr(config, name)} | options)


def within(least: float, most: float = math.inf) -> Callable[[Any], Any]:
    """Return a check that a number is within limits."""

    def check(given: Any) -> Any:
        if given is not None and not least <= given <= most:
            limits = f"{least} or more" if most == math.inf else f"{least} to {most}"
            raise typer.BadParameter(f"{given} is out of range; give {limits}")
        return given

    return check


@dataclass(frozen=True)
class Asked:
    """What `edhie fit` and `edhie revise` are asked: one field for each option."""

    data: Path = field(metadata={OPTION: typer.Argument(help=DATA_FILE)})
    target: str = option(DATA, "Column to explain.", default=MISSING, metavar="COLUMN")
    features: str = option(DATA, "Columns to use; all others by default.", default="", metavar="COLUMNS")
    exclude: str = option(DATA, "Columns to leave out.", default="", metavar="COLUMNS")
    missing: str = option(DATA, "Values that mean missing, such as -999,n/a.", default="", metavar="VALUES")
    drop_missing: bool = option(DATA, "Leave out rows with missing values.", "--drop-missing", default=False)
    sigma: str | None = option(DATA, "Column of the target's standard errors.", metavar="COLUMN")
    validation: Path | None = option(DATA, "Table of held-out rows for choosing the equation.", metavar="FILE")
    decimal: Mark | None = option(DATA, DECIMAL_MARK, metavar="MARK")
    header: Header | None = option(DATA, "no if row 1 has no names, mend if it lacks some.", metavar="no|mend")
    sample: int | None = option(DATA, SAMPLED_ROWS, metavar="ROWS", callback=within(100))

    noise: Noise = setting(GOAL, "noise", metavar="MODEL")
    loss: Literal["rmse", "mse", "mae", "nrmse", "max", "student"] = setting(GOAL, "loss", metavar="LOSS")
    selection: Selection = setting(GOAL, "selection", "--selection", "--select", metavar="RULE")

    operators: str = option(FORM, 'Operators to use: "+,-,*,exp"; all by default.', default="", metavar="LIST")
    guess: list[str] | None = option(FORM, "Formula near the truth; repeatable.", metavar="FORMULA")
    template: str | None = setting(FORM, "template", metavar="FORM")
    corpus: Path | None = setting(FORM, "corpus", metavar="FILE")
    max_size: int | None = setting(FORM, "max_size", config=Constraints, metavar="N", callback=within(1))
    forbid_nesting: list[str] | None = option(FORM, FORBIDDEN_NESTING, metavar="OP:LIST")
    only: list[str] | None = option(FORM, ONLY, metavar="OP:LIST")
    all_variables: bool = setting(FORM, "all_variables", "--all-variables", config=Constraints)

    max_time: float | None = setting(
        LIMITS, "max_time", default=None, metavar="SECONDS", callback=within(0), more=" 60 by default, 0 for none."
    )
    evaluations: int | None = option(LIMITS, "Limit on distinct expressions executed.", metavar="N", callback=within(1))
    target_error: float | None = setting(LIMITS, "target_error", metavar="LOSS", callback=within(0))
    patience: int = setting(LIMITS, "patience", metavar="ROUNDS", callback=within(0), more=" 0 for never.")

    generator: str | None = setting(
        SEARCH, "generator", "--generator", "--model", metavar="NAME", autocompletion=complete_model
    )
    search: Literal["mosaic", "evolve", "draw"] = setting(SEARCH, "search", metavar="NAME")
    strict: bool = setting(SEARCH, "strict", "--strict")
    seed: int = setting(SEARCH, "seed", metavar="N", callback=within(0, 2**63 - 1))
    jobs: int | None = option(SEARCH, JOBS, metavar="N", callback=within(1))
    islands: int | None = setting(SEARCH, "islands", metavar="N", callback=within(1))
    cluster: str | None = option(SEARCH, "Dask scheduler to search on; local starts a cluster here.", metavar="ADDRESS")
    out: Path | None = option(OUTPUT, "Folder for the results and checkpoints.", metavar="FOLDER")
    resume: bool = option(OUTPUT, "Resume the search in the folder.", "--resume", default=False)
    events: Path | None = option(OUTPUT, "Write events as JSON lines to a file.", metavar="FILE")
    report: bool = option(OUTPUT, "Draw pictures and write report.html.", "--report/--no-report", default=True)
    quiet: bool = option(OUTPUT, "Print the equation only.", "--quiet", default=False)
    as_json: bool = option(OUTPUT, "Print JSON.", "--json", default=False)

    def measured(self) -> Measured:
        """Read the data."""
        return read_file(
            self.data, self.target, features=from_line(self.features), exclude=from_line(self.exclude),
            validation=self.validation, sigma=self.sigma, decimal=self.decimal, missing=from_line(self.missing),
            drop_missing=self.drop_missing, header=self.header, sample=self.sample,
        )  # fmt: skip

    def settings(self) -> Settings:
        """Return the settings, but for the constraints, which need the columns."""
        if self.resume and self.out is None:
            raise typer.BadParameter("--resume needs the folder of the search; give it with --out")
        if self.template is not None and self.search != DEFAULT:
            raise typer.BadParameter(f"the default search fills a --template; leave out --search {self.search}")
        operators = from_line(self.operators)
        _check_known(operators, OPERATORS, "operator", "--operators")
        seconds = self.max_time
        if seconds is None and self.evaluations is None:  # a limit on these alone gives results that can be repeated
            seconds = Settings.max_time
        shared = {each.name for each in fields(Settings)} & {each.name for each in fields(self)}
        return Settings(**{name: getattr(self, name) for name in shared} | {
            "max_time": seconds if seconds and seconds < math.inf else None, "max_evaluations": self.evaluations,
            "operators": list(operators) or None, "guesses": self.guess or (), "patience": self.patience or None,
        })  # fmt: skip

    def constraints(self, columns: Sequence[str]) -> Constraints | None:
        """Return the constraints; None if there are none. `columns` are the names that may be used."""
        nested = _lists("--forbid-nesting", self.forbid_nesting or ())
        only_on = _lists("--only", self.only or ())
        _check_known(chain(*nested.values()), (*OPERATORS, *ALIASES), "operator", "--forbid-nesting")
        _check_known(chain(*only_on.values()), columns, "column", "--only")
        found = Constraints(max_size=self.max_size, nested=nested, only_on=only_on, all_variables=self.all_variables)
        return None if found == Constraints() else found


OPTIONS = parameters_of(Asked)


def _lists(option: str, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return by operator the names after its colon; those given for the same operator are joined."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        operator, colon, names = (part.strip() for part in text.partition(":"))
        if not colon or not operator:
            raise typer.BadParameter(f"{option} is an operator, a colon and names, such as exp:exp,log; not {text!r}")
        found[operator] = found.get(operator, ()) + from_line(names)
    _check_known(found, (*OPERATORS, *ALIASES), "operator", option)
    return found


def _check_known(names: Iterable[str], known: Collection[str], what: str, option: str) -> None:
    for name in names:
        if name not in known:
            there = " ".join(OPERATORS) if what == "operator" else shortened(", ".join(known))
            hint = suggestion(name, known) or f"; there are {there}"
            raise SymbolError(f"unknown {what} {shortened(name)!r} in {option}{hint}")
