"""Corpora from files of formulas: one per line, or a column of a table."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import edhie
from edhie.corpora.corpus import Corpus
from edhie.errors import CorpusError, EdhieError, ExpressionError, MissingExtraError, suggestion
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.library import MAX_SYMBOLS, numbered_first
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import NAMED_LITERALS, OPERATORS, variable

Notation = Literal["auto", "infix", "latex", "sympy"]
Numbers = Literal["keep", "constants"]
SHOWN_BAD_LINES = 10
TABLE_SUFFIXES = {".csv": ",", ".tsv": "\t"}
NOT_REAL = ("I", "oo", "zoo", "nan")
"""Names that SymPy prints for values that are not real numbers; in other notations they are ordinary names."""


@dataclass(frozen=True)
class BadLine:
    """A line that could not be read as an expression."""

    number: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.reason}"


@dataclass(frozen=True)
class ImportOptions:
    """Options for reading a file of formulas."""

    notation: Notation = "auto"
    """infix, latex, sympy (SymPy's printed text, which reads like infix), or auto: by the look of each line."""
    column: str = ""
    """Column with the formulas, for a CSV or TSV table."""
    variables: tuple[str, ...] = ()
    """Names to read as variables; unless named here, c is the fitted constant, and e, E and pi are numbers."""
    numbers: Numbers = "keep"
    """keep numbers as literals of the library, or turn them into constants to be fitted."""
    generic_variables: bool = False
    """Rename each formula's variables to x0, x1, … in order of appearance."""
    skip_bad: bool = False
    """Leave out lines that cannot be read, instead of stopping."""


def import_file(path: str | Path, options: ImportOptions = ImportOptions()) -> tuple[Corpus, list[BadLine]]:  # noqa: B008
    """Return the corpus of a file's formulas, and the lines left out; blank lines and `#` comments do not count."""
    path = Path(path)
    for name in options.variables:
        variable(name)
    rows = list(_rows(path, options.column))
    return imported(path.stem, rows, options, file=path)


def imported(
    name: str, rows: Sequence[tuple[int, str]], options: ImportOptions, *, file: str | Path
) -> tuple[Corpus, list[BadLine]]:
    """Return the corpus of the formulas with these line numbers in a file, and the lines left out."""
    if not rows:
        raise CorpusError(f"{file} holds no formulas")
    exprs, bad = _read_all(rows, options)
    if bad and not options.skip_bad:
        shown = "\n".join(str(line) for line in bad[:SHOWN_BAD_LINES])
        more = f"\n… and {len(bad) - SHOWN_BAD_LINES} more" if len(bad) > SHOWN_BAD_LINES else ""
        raise CorpusError(
            f"{len(bad)} of {len(rows)} formulas in {file} cannot be read "
            f"(leave them out with --skip-bad):\n{shown}{more}"
        )
    if not exprs:
        raise CorpusError(f"none of the {len(rows)} formulas in {file} can be read; the first: {bad[0]}")
    forest = _forest(exprs)
    provenance = {
        "made by": f"edhie {edhie.__version__}",
        "file": Path(file).name,
        "column": options.column,
        "notation": options.notation,
        "variables": list(options.variables),
        "formulas": len(rows),
        "left out": {"unreadable": len(bad), "repeated": len(exprs) - len(forest)},
        "numbers": options.numbers,
        "generic variables": options.generic_variables,
    }
    return Corpus(name, forest, provenance), bad


def _rows(path: Path, column: str) -> Iterator[tuple[int, str]]:
    text = _text(path)
    if column or path.suffix.lower() in TABLE_SUFFIXES:
        return _table_rows(path, text, column)
    stripped = ((number, line.strip()) for number, line in enumerate(io.StringIO(text, newline=None), start=1))
    return ((number, line) for number, line in stripped if line and not line.startswith("#"))


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise CorpusError(f"there is no file {path}") from None
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1
        raise CorpusError(f"{path} is not text in UTF-8: {error.reason} in line {number}") from None


def _table_rows(path: Path, text: str, column: str) -> Iterator[tuple[int, str]]:
    delimiter = TABLE_SUFFIXES.get(path.suffix.lower(), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    last = 0
    place: int | None = None
    try:
        for row in reader:
            first, last = last + 1, reader.line_num  # a quoted cell may go over several lines
            if place is None:
                place = _place(path, [name.strip() for name in row], column) if any(row) else None
            elif place < len(row) and row[place].strip():
                yield first, row[place].strip()
    except csv.Error as error:
        raise CorpusError(f"{path} is not a table, from line {last + 1} on: {error}") from error


def _place(path: Path, names: list[str], column: str) -> int:
    if not column:
        raise CorpusError(f"{path} is a table: say which column holds the formulas with --column ({', '.join(names)})")
    if column not in names:
        hint = suggestion(column, names)
        raise CorpusError(f"{path} has no column {column!r}{hint}; its columns are {', '.join(names)}")
    return names.index(column)


def _read_all(rows: Sequence[tuple[int, str]], options: ImportOptions) -> tuple[list[Expr], list[BadLine]]:
    exprs: list[Expr] = []
    bad: list[BadLine] = []
    for number, text in rows:
        try:
            expr = _read(text, options)
            if options.generic_variables:
                expr = with_generic_variables(expr)
            exprs.append(expr.numbers_to_constants().free() if options.numbers == "constants" else expr)
        except MissingExtraError:
            raise  # no fault of the line
        except EdhieError as error:
            bad.append(BadLine(number, text, str(error)))
    return exprs, bad


def _read(text: str, options: ImportOptions) -> Expr:
    notation = options.notation
    reader: Callable[[str, SymbolLibrary | None], Expr] = parse
    if notation == "latex" or (notation == "auto" and ("\\" in text or "{" in text)):
        from edhie.expr.latex_reader import from_latex as reader
    expr = reader(text, None)
    if options.variables:
        expr = reader(text, everything(list(dict.fromkeys((*expr.library.variables, *options.variables)))))
    if notation == "sympy":
        for name in NOT_REAL:
            if name in expr.variables and name not in options.variables:
                raise ExpressionError(f"SymPy's {name} in {text!r} has no place in a real expression")
    return expr


def with_generic_variables(expr: Expr) -> Expr:
    """Return the same tree with variables x0, x1, … in order of appearance."""
    order = dict.fromkeys(token for token in expr.tokens if expr.library[token].kind == "variable")
    renamed = {name: f"x{i}" for i, name in enumerate(order)}
    library = everything(len(order))
    name = library.constant or "c"
    tokens = [renamed.get(t, name if t == expr.library.constant else t) for t in expr.tokens]
    return Expr(library, tokens, expr.constants)


def _forest(exprs: list[Expr]) -> Forest:
    """Return the distinct expressions, over the smallest library that holds them all."""
    used: dict[str, dict[str, None]] = defaultdict(dict)  # by kind, since one formula's constant may be another's x
    for expr in exprs:
        for token in expr.tokens:
            used[expr.library[token].kind][token] = None
    numbers = sorted(
        (*used["literal"], *used["number"]), key=lambda token: -math.inf if token in NAMED_LITERALS else float(token)
    )
    if sum(map(len, used.values())) > MAX_SYMBOLS:
        raise CorpusError(f"{len(numbers)} different numbers are too many to keep; use --numbers constants")
    library = SymbolLibrary.of(
        [name for name in OPERATORS if name in used["operator"]],
        numbered_first(list(used["variable"])),
        constant=bool(used["constant"]),
        literals=numbers,
    )
    return Forest.from_exprs((expr.cast(library) for expr in exprs), library).unique()
