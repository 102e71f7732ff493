"""Results on disk: a table with a row for each finished run, the learning curves, and the settings of the runs."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edhie.bench.methods import Method
from edhie.bench.problem import ALIASES, BenchmarkProblem
from edhie.bench.problem_files import ProblemError
from edhie.bench.trial import COLUMNS, CURVE, Outcome, Shard, Trial, TrialSettings
from edhie.errors import raised_as
from edhie.storage import csv_text, replace_file

FORMAT = 1
CURVES = "curves"
Row = dict[str, str]
Key = tuple[str, int, float]


def key_of(row: Mapping[str, Any]) -> Key:
    """Return the key of a run in its table: problem, run and noise."""
    return str(row["problem"]), int(row["run"]), float(row["noise"])


class Records:
    """The table of one benchmark and method in a folder.

    A row is written whole and at once, after its curve; a last line that was cut short is dropped. So whenever
    the program is stopped, every run that has a row is there in full, and no other is counted.
    """

    def __init__(self, folder: Path, benchmark: str, method: str, shard: Shard | None = None) -> None:
        self.folder = folder
        self.name = f"{table_name(benchmark)}-{method}"
        self._is_shard = shard is not None
        stem = self.name if shard is None else f"{self.name}-{shard}"  # jobs must not write into one file
        self.path = folder / f"{stem}.csv"
        self._settings = folder / f"{stem}.json"

    def open(self, settings: TrialSettings, problems: Sequence[BenchmarkProblem], own: Method | None = None) -> None:
        """Make the folder and the table; raise an error if its runs have other settings.

        A user's `own` method is known by where it is and what it searches with; its code is not compared.
        """
        with raised_as(ProblemError, f"cannot write results to {self.folder}"):
            (self.folder / CURVES).mkdir(parents=True, exist_ok=True)
            known = self._checked_settings(settings, problems, own)
            shards = [] if self._is_shard else self._shards()
            for path in shards:
                self._checked_settings(settings, problems, own, table=path)
            if not self.path.is_file() or not self._mended():
                replace_file(self.path, _lines([COLUMNS]))
            replace_file(self._settings, f"{json.dumps(known, indent=2)}\n".encode())
            self._add_rows(shards)

    def add(self, trial: Trial, outcome: Outcome) -> None:
        """Add the outcome of a run."""
        with raised_as(ProblemError, f"cannot write results to {self.folder}"):
            curve = curve_name(self.name, trial.problem, trial.run, trial.noise)
            replace_file(self.folder / CURVES / curve, _lines([CURVE, *outcome.curve]))
            values = (outcome.row[name] for name in COLUMNS)
            with self.path.open("ab") as file:
                file.write(_lines([[int(value) if isinstance(value, bool) else value for value in values]]))
                file.flush()
                os.fsync(file.fileno())

    def sort(self, problems: Iterable[BenchmarkProblem]) -> list[Row]:
        """Sort the rows by problem and run."""
        order = {problem.id: k for k, problem in enumerate(problems)}
        rows = sorted(read_rows_of(self.path), key=lambda row: (order.get(row["problem"], len(order)), key_of(row)))
        replace_file(self.path, _lines([COLUMNS, *([row[name] for name in COLUMNS] for row in rows)]))
        return rows

    def _shards(self) -> list[Path]:
        """Return the tables of shards in the folder."""
        start = f"{self.name}-shard-"
        return sorted(each for each in self.folder.iterdir() if each.name.startswith(start) and each.suffix == ".csv")

    def _add_rows(self, tables: Sequence[Path]) -> None:
        """Add the rows of other tables that are not there yet."""
        rows = {key_of(row): row for path in tables for row in read_rows_of(path)}
        own = {key_of(row): row for row in read_rows_of(self.path)}
        if rows.keys() - own.keys():
            every = (rows | own).values()
            replace_file(self.path, _lines([COLUMNS, *([row[name] for name in COLUMNS] for row in every)]))

    def _mended(self) -> bool:
        """Drop a last line that was cut short; whether a header is left."""
        written = self.path.read_bytes()
        whole = written[: written.rfind(b"\n") + 1]
        if len(whole) < len(written):
            os.truncate(self.path, len(whole))
        return bool(whole)

    def _checked_settings(
        self,
        settings: TrialSettings,
        problems: Sequence[BenchmarkProblem],
        own: Method | None,
        *,
        table: Path | None = None,
    ) -> dict[str, Any]:
        """Return the settings of the runs of a table, its own by default, including these problems."""
        table = table or self.path
        known_settings = table.with_name(f"{table.stem}.json")
        asked = {"format": FORMAT, **asdict(settings)}
        if own is not None:
            asked["method"] = _told(own)
        formulas = {problem.id: _described(problem) for problem in problems}
        if not known_settings.is_file() or not table.is_file():
            return {**asked, "problems": formulas}
        try:
            before = json.loads(known_settings.read_text(encoding="utf-8"))
            known = dict(before.pop("problems"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ProblemError(f"{known_settings} is damaged ({error!r}); choose another folder with --out") from None
        for name, value in asked.items():
            if before.get(name) != value:
                was = f"{table} holds runs with {name} = {before.get(name)}, not {value}"
                raise ProblemError(f"{was}; give them as they were, or choose another folder with --out")
        for name, formula in formulas.items():
            if known.get(name, formula) != formula:
                raise ProblemError(f"{table} holds runs of another {name}; choose another folder with --out")
        return {**asked, "problems": known | formulas}


def table_name(benchmark: str) -> str:
    """Return the stem of a benchmark's files: its name, or that of its file."""
    return Path(ALIASES.get(benchmark, benchmark)).stem


def curve_name(table: str, problem: str, run: int, noise: float) -> str:
    """Return the file name of a learning curve."""
    return f"{table}-{problem}-{run}{f'-noise{noise:g}' if noise else ''}.csv"


def read_rows_of(path: Path) -> list[Row]:
    """Return the rows of a table; a last line that was cut short does not count."""
    with raised_as(ProblemError, f"{path} cannot be read"):
        text = path.read_bytes().decode("utf-8")
    lines = list(csv.reader(io.StringIO(text[: text.rfind("\n") + 1])))
    if not lines or tuple(lines[0]) != COLUMNS:
        raise ProblemError(f"{path} is no table of results of this edhie; choose another folder with --out")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            row = dict(zip(COLUMNS, line, strict=True))
            key_of(row)
        except ValueError:
            raise ProblemError(f"{path}, line {number} is damaged; remove it, and its run is done again") from None
        rows.append(row)
    return rows


def _described(problem: BenchmarkProblem) -> str:
    """Return everything that determines a problem's data, as text."""
    ranges = ", ".join(f"{each.name} in [{each.low:g}, {each.high:g}]" for each in problem.variables)
    return f"{problem.formula or problem.file}; {ranges}; {problem.n_train} + {problem.n_test} rows"


def _told(own: Method) -> str:
    """Return everything that determines a user's method, except its code, as text."""
    source = f"{own.source}-{own.latent}" if own.source in ("gvae", "cvae") else own.source
    return f"{own.strategy} over {source}, {'strict' if own.strict else 'free'}"


def _lines(rows: Sequence[Sequence[Any]]) -> bytes:
    return csv_text(rows[0], rows[1:]).encode()
