"""Results on disk: a table with a row for each finished run, the learning curves, and the settings of the runs."""

from __future__ import annotations

import csv
import io
import json
import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edhie.bench.methods import Method
from edhie.bench.problem import ALIASES, BenchmarkProblem
from edhie.bench.problem_files import ProblemError, plain_id
from edhie.bench.trial import COLUMNS, CURVE, Outcome, Shard, Trial, TrialSettings
from edhie.errors import raised_as
from edhie.files import replace_file, small_text
from edhie.storage import csv_text, digest

FORMAT = 1
CURVES, ROWS = "curves", "rows"
NUMBERS, NUMBERS_OR_NONE = ("rmse", "r2_test", "screened", "seconds"), ("evaluated_to_success", "rank")
"""Columns of numbers that summaries use."""
LOGGER = logging.getLogger("edhie")
Row = dict[str, str]
Key = tuple[str, int, float]


def key_of(row: Mapping[str, Any]) -> Key:
    """Return the key of a run in its table: problem, run and noise."""
    return str(row["problem"]), int(row["run"]), float(row["noise"])


class Records:
    """The table of one benchmark and method in a folder.

    A row is appended in one write, after its curve, and an incomplete last line is dropped. So after an interruption,
    runs with a row are complete, and all others are repeated.
    """

    def __init__(self, folder: Path, benchmark: str, method: str, shard: Shard | None = None) -> None:
        self.folder = folder
        self.name = results_name(benchmark, method)
        self.stem = results_name(benchmark, method, shard)
        """Stem of the files; each shard has its own, since jobs must not write to the same file."""
        self.path = folder / f"{self.stem}.csv"
        self._known: dict[str, Any] = {}  # settings, problems, and digests of the rows
        self._rows: dict[Key, Row] = {}
        self._n_damaged = 0

    def check(self, settings: TrialSettings, problems: Sequence[BenchmarkProblem], own: Method | None = None) -> None:
        """Read the table and those of shards; raise an error if their runs have other settings. Write nothing.

        A user's `own` method is compared by its place and its settings, not by its code. Rows whose digest differs are
        damaged, and left out.
        """
        asked = {"format": FORMAT, **asdict(settings)} | ({} if own is None else {"method": _method_text(own)})
        formulas = {problem.id: _problem_text(problem) for problem in problems}
        with raised_as(ProblemError, f"cannot read the results in {self.folder}"):
            self._known = _settings_of(self.path, asked, formulas)
            shards = self.folder.glob(f"{self.name}-shard-*.csv") if self.stem == self.name else ()
            for path in sorted(shards):
                _settings_of(path, asked, formulas)
                self._rows |= {key_of(row): row for row in read_rows_of(path)}
            digests = self._known[ROWS]
            for row in read_rows_of(self.path) if self.path.is_file() and self.path.stat().st_size else ():
                if digests.get(_key_text(row)) in (None, _row_digest(_lines([row.values()]))):
                    self._rows[key_of(row)] = row
                else:
                    self._n_damaged += 1

    def done(self, *, with_curves: bool = False) -> set[Key]:
        """Return the keys of all runs that are there, or only of those whose learning curve is there too."""
        curves = self.folder / CURVES
        return {key for key in self._rows if not with_curves or (curves / curve_name(self.name, *key)).is_file()}

    def open(self, again: Collection[Key] = ()) -> None:
        """Make the folder and the table, after `check`, with the rows of shards.

        Rows of runs that are done `again`, damaged ones and an incomplete last line are dropped: these are repeated.
        """
        with raised_as(ProblemError, f"cannot write results to {self.folder}"):
            self.folder.mkdir(parents=True, exist_ok=True)
            if self._n_damaged:
                LOGGER.warning("%s: %d damaged rows are dropped; these runs are repeated", self.path, self._n_damaged)
            self._rows = {key: row for key, row in self._rows.items() if key not in again}
            self._write_rows()
            (self.folder / CURVES).mkdir(exist_ok=True)
            self._write_settings()

    def add(self, trial: Trial, outcome: Outcome) -> None:
        """Add the outcome of a run."""
        values = (outcome.row[name] for name in COLUMNS)
        cells = ["" if value is None else str(int(value) if isinstance(value, bool) else value) for value in values]
        row, line = dict(zip(COLUMNS, cells, strict=True)), _lines([cells])
        with raised_as(ProblemError, f"cannot write results to {self.folder}"):
            curve = curve_name(self.name, trial.problem, trial.run, trial.noise)
            replace_file(self.folder / CURVES / curve, _lines([CURVE, *outcome.curve]))
            self._known[ROWS][_key_text(row)] = _row_digest(line)
            self._write_settings()  # first: a digest without its row does no harm
            with self.path.open("ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        self._rows[key_of(row)] = row

    def sort(self, problems: Iterable[BenchmarkProblem]) -> list[Row]:
        """Sort the rows by problem and run."""
        order = {problem.id: k for k, problem in enumerate(problems)}
        self._rows = dict(sorted(self._rows.items(), key=lambda each: (order.get(each[0][0], len(order)), each[0])))
        self._write_rows()
        return list(self._rows.values())

    def _write_rows(self) -> None:
        replace_file(self.path, _lines([COLUMNS, *(row.values() for row in self._rows.values())]))

    def _write_settings(self) -> None:
        known = {name: value for name, value in self._known.items() if name != ROWS or value}
        replace_file(self.path.with_suffix(".json"), f"{json.dumps(known, indent=2)}\n".encode())


def _settings_of(table: Path, asked: dict[str, Any], formulas: dict[str, str]) -> dict[str, Any]:
    """Return the settings of the runs of a table, including these problems; raise an error if it has others."""
    file = table.with_suffix(".json")
    if not file.is_file() or not table.is_file():
        return {**asked, "problems": formulas, ROWS: {}}
    try:
        before = json.loads(small_text(file))
        known, rows = dict(before.pop("problems")), dict(before.pop(ROWS, {}))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ProblemError(f"{file} is damaged ({error!r}); choose another folder with --out") from None
    for name, value in asked.items():
        if before.get(name) != value:
            was = f"{table} holds runs with {name} = {before.get(name)}, not {value}"
            raise ProblemError(f"{was}; use the same settings, or choose another folder with --out")
    for name, formula in formulas.items():
        if known.get(name, formula) != formula:
            raise ProblemError(f"{table} holds runs of another {name}; choose another folder with --out")
    return {**asked, "problems": known | formulas, ROWS: rows}


def table_name(benchmark: str) -> str:
    """Return the stem of a benchmark's files: its name, or the stem of its file of problems."""
    return Path(ALIASES.get(benchmark, benchmark)).stem


def unwritable(folder: Path, error: OSError) -> ProblemError:
    """Return the error for a folder that results cannot be written to."""
    return ProblemError(f"cannot write results to {folder}: {error.strerror or error}")


def results_name(benchmark: str, method: str, shard: Shard | None = None) -> str:
    """Return the stem of the files with a method's results on a benchmark, or on a shard of it."""
    name = f"{table_name(benchmark)}-{method}"
    return name if shard is None else f"{name}-{shard}"


def curve_name(table: str, problem: str, run: int, noise: float) -> str:
    """Return the file name of a learning curve."""
    return f"{table}-{problem}-{run}{f'-noise{noise:g}' if noise else ''}.csv"


def read_rows_of(path: Path) -> list[Row]:
    """Return the rows of a table; an incomplete last line is ignored."""
    with raised_as(ProblemError, f"{path} cannot be read"):
        text = path.read_bytes().decode("utf-8")
    try:
        lines = list(csv.reader(io.StringIO(text[: text.rfind("\n") + 1])))
    except csv.Error as error:  # such as a cell whose quote is never closed
        raise ProblemError(f"{path} cannot be read: {error}; choose another folder with --out") from None
    if not lines or tuple(lines[0]) != COLUMNS:
        raise ProblemError(f"{path} is not a table of results of this edhie version; choose another folder with --out")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            row = dict(zip(COLUMNS, line, strict=True))
            key_of(row)
            _check(row)
        except ValueError:
            raise ProblemError(f"{path}, line {number} is damaged; remove it, and its run is done again") from None
        rows.append(row)
    return rows


def _check(row: Row) -> None:
    """Raise a ValueError for a row that cannot be summarised, or whose problem is unsafe as a file name."""
    if plain_id(row["problem"]) != row["problem"]:
        raise ValueError(row["problem"])
    for name in NUMBERS:
        float(row[name])
    for name in NUMBERS_OR_NONE:
        float(row[name] or 0)


def _problem_text(problem: BenchmarkProblem) -> str:
    """Return everything that determines a problem's data, as text."""
    ranges = ", ".join(f"{each.name} in [{each.low:g}, {each.high:g}]" for each in problem.variables)
    return f"{problem.formula or problem.file}; {ranges}; {problem.n_train} + {problem.n_test} rows"


def _method_text(own: Method) -> str:
    """Return everything that determines a user's method, except its code, as text."""
    has_latent = own.source not in ("grammar", "none") and not own.is_shipped
    source = f"{own.source}-{own.latent}" if has_latent else own.source
    return f"{own.strategy} over {source}, {'strict' if own.strict else 'free'}"


def _key_text(row: Mapping[str, Any]) -> str:
    return " ".join(map(str, key_of(row)))


def _row_digest(line: bytes) -> str:
    return digest(line.decode())[:16]


def _lines(rows: Sequence[Iterable[Any]]) -> bytes:
    names, *others = map(list, rows)
    return csv_text(names, others).encode()
