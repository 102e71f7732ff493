"""What answers are made from: tables and runs, opened, and numbers as the page takes them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import EdhieError
from edhie.evaluate import Data
from edhie.evaluate.tables import Header, Table, open_table
from edhie.evaluate.tables.table import HeaderError
from edhie.fit import Discovery, Equation
from edhie.fit.measured import Measured, read_file
from edhie.fit.problem import Problem
from edhie.fit.revision import Revision
from edhie.fit.run_folder import DESCRIPTION, REVISION, REVISIONS, load, load_revision
from edhie.safe_text import from_line
from edhie.selection.noise import PROPORTIONAL
from edhie.studio.question import Refused

KEPT = 4  # runs that stay open
MOST_POINTS = 1500  # that a chart shows
HEADER_NOTES = {
    "no": "The first row holds numbers, so the file has no names; columns are called x1, x2 and so on.",
    "mend": "Some columns had no name, or one that is there twice; they were given one.",
}


def opened(path: Path, options: dict[str, Any]) -> tuple[Table, str | None]:
    """Return a table, and how its names were made: "no" if it had none, "mend" if some were wrong, None if right."""
    reading: dict[str, Any] = {"decimal": options.get("decimal"), "missing": from_line(options.get("missing", ""))}
    header: Header | None = options.get("header")
    if header is None:
        try:
            return open_table(path, **reading), None
        except HeaderError as error:
            header = "no" if error.is_missing else "mend"
    return open_table(path, header=header, **reading), header


@contextmanager
def for_the_user(path: Path, name: str) -> Iterator[None]:
    """Raise errors with the user's name of the file in place of its path, and no advice about the command line."""
    try:
        yield
    except Refused:
        raise
    except EdhieError as error:
        raise Refused(worded(str(error), path, name)) from error


def worded(message: str, path: Path, name: str) -> str:
    """Return a message of the command line in the words of the page."""
    message = message.replace(str(path), name)
    for advice in (" with --drop-missing (in Python drop_missing=True)", " (in Python decimal=)"):
        message = message.replace(advice, "")
    return message.replace("(--decimal .)", "(decimal point)").replace("(--decimal ,)", "(decimal comma)")


def finite(value: Any) -> float | None:
    """Return a number, or None where it is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def finites(values: Any) -> list[float | None]:
    """Return numbers, with None for those that are not finite."""
    return [each if math.isfinite(each) else None for each in np.asarray(values, np.float64).tolist()]


# -- runs -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """The equations of a run, and where they come from."""

    found: Discovery | Revision

    @property
    def discovery(self) -> Discovery | None:
        """The discovery of a fit; None for a revision."""
        return self.found if isinstance(self.found, Discovery) else None

    @property
    def equations(self) -> tuple[Equation, ...]:
        """All equations; of a revision those of its steps."""
        found = self.found
        return found.equations if isinstance(found, Discovery) else tuple(step.equation for step in found.steps)

    @property
    def chosen(self) -> int | None:
        """The place of the chosen equation; None if there is none."""
        found = self.found
        return found.chosen if isinstance(found, Discovery) else found.steps.index(found.chosen)

    @property
    def has_relative_errors(self) -> bool:
        """True if errors are shown as shares of the prediction, to which the noise was found to be proportional."""
        return self.chosen is not None and self.equations[self.chosen].model is PROPORTIONAL

    def equation(self, place: Any) -> Equation:
        """Return an equation by its place."""
        if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(self.equations):
            raise Refused("there is no such equation in this run", 404)
        return self.equations[place]

    @property
    def rows(self) -> Rows:
        """The rows of the run."""
        source = self.found if isinstance(self.found, Discovery) else self.found.refitted
        return Rows(self.found.columns, source.train, source.validation)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that were fitted to and those held out, with the table's names of the columns."""

    columns: tuple[str, ...]
    train: Data
    validation: Data | None

    @property
    def parts(self) -> list[Data]:
        """The rows fitted to, then those held out if there are any."""
        return [self.train] if self.validation is None else [self.train, self.validation]

    def place(self, column: Any) -> int:
        """Return the place of a column, which may be named as in the table or in equations; the first by default."""
        if column in (None, ""):
            return 0
        for names in (self.columns, self.train.names):
            if column in names:
                return names.index(column)
        raise Refused(f"the equations have no column {column!r}", 404)

    @property
    def medians(self) -> Numbers:
        """The median of each column, over the rows fitted to."""
        return np.asarray(np.median(self.train.columns, axis=1), np.float64)


def opened_run(folder: str) -> OpenedRun:
    """Return the run in a folder; raise `Refused` if it has no equations yet."""
    for name in (DESCRIPTION, REVISION):
        path = Path(folder) / name
        if path.is_file():
            return _opened(folder, name, path.stat().st_mtime_ns)
    if (Path(folder) / REVISIONS).is_file():
        raise Refused("this revision was made by an earlier release, which did not keep its data; revise again", 409)
    raise Refused("this run has no equations yet", 409)


@lru_cache(KEPT)
def _opened(folder: str, name: str, changed: int) -> OpenedRun:
    return OpenedRun(load(Path(folder), whole=False) if name == DESCRIPTION else load_revision(folder))


def rows_of(folder: str, table: str | None, question: dict[str, Any] | None) -> Rows:
    """Return the rows of a run; while it is searched, those of its table."""
    try:
        return opened_run(folder).rows
    except Refused:
        if table is None or question is None:
            raise
    problem = _problem(table, Path(table).stat().st_mtime_ns, json.dumps(question))
    return Rows(problem.columns, problem.train, problem.validation)


def read_question_table(path: Path, question: dict[str, Any], options: dict[str, Any]) -> Measured:
    """Read a table as the command does that answers the question."""
    return read_file(
        path, question["target"], features=question.get("features", ()), sigma=question.get("sigma"),
        decimal=options.get("decimal"), missing=from_line(options.get("missing", "")),
        drop_missing=bool(options.get("drop_missing")), header=options.get("header"),
    )  # fmt: skip


@lru_cache(KEPT)
def _problem(table: str, changed: int, asked: str) -> Problem:
    question = json.loads(asked)
    return read_question_table(Path(table), question, question.get("options", {})).problem
