"""Corpora from files that people have: one formula a line, or a column of a table."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import edhie
from edhie.corpora.corpus import Corpus
from edhie.errors import CorpusError, EdhieError, suggestion
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import NUMBER, OPERATORS

Notation = Literal["auto", "infix", "latex", "sympy"]
Numbers = Literal["keep", "constants"]
SHOWN_BAD_LINES = 10
TABLE_SUFFIXES = {".csv": ",", ".tsv": "\t"}


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
    """How to read a file of formulas."""

    notation: Notation = "auto"
    """infix, latex, sympy (SymPy's printed text, which reads like infix), or auto: by the look of each line."""
    column: str = ""
    """The column that holds the formulas, for a CSV or TSV table."""
    numbers: Numbers = "keep"
    """keep numbers as literals of the library, or turn them into constants to be fitted."""
    generic_variables: bool = False
    """Rename each formula's variables to x0, x1, … in their order of appearance."""
    skip_bad: bool = False
    """Leave out lines that cannot be read, instead of stopping."""


def import_file(path: str | Path, options: ImportOptions = ImportOptions()) -> tuple[Corpus, list[BadLine]]:  # noqa: B008
    """The corpus of a file's formulas, and the lines left out; blank lines and `#` comments do not count."""
    path = Path(path)
    rows = list(_rows(path, options.column))
    if not rows:
        raise CorpusError(f"{path} holds no formulas")
    exprs, bad = _read_all(rows, options)
    if bad and not options.skip_bad:
        shown = "\n".join(str(line) for line in bad[:SHOWN_BAD_LINES])
        more = f"\n… and {len(bad) - SHOWN_BAD_LINES} more" if len(bad) > SHOWN_BAD_LINES else ""
        raise CorpusError(
            f"{len(bad)} of {len(rows)} formulas in {path} cannot be read "
            f"(leave them out with --skip-bad):\n{shown}{more}"
        )
    if not exprs:
        raise CorpusError(f"none of the {len(rows)} formulas in {path} can be read; the first: {bad[0]}")
    forest = _forest(exprs)
    provenance = {
        "made by": f"edhie {edhie.__version__}",
        "file": path.name,
        "formulas": len(rows),
        "left out": {"unreadable": len(bad), "repeated": len(exprs) - len(forest)},
        "numbers": options.numbers,
        "generic variables": options.generic_variables,
    }
    return Corpus(path.stem, forest, provenance), bad


def _rows(path: Path, column: str) -> Iterator[tuple[int, str]]:
    """Line numbers, from 1, and formulas."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if column or path.suffix in TABLE_SUFFIXES:
                yield from _table_rows(path, file, column)
                return
            for number, line in enumerate(file, start=1):
                text = line.strip()
                if text and not text.startswith("#"):
                    yield number, text
    except FileNotFoundError:
        raise CorpusError(f"there is no file {path}") from None
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not text in UTF-8 ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error


def _table_rows(path: Path, file: Iterable[str], column: str) -> Iterator[tuple[int, str]]:
    reader = csv.DictReader(file, delimiter=TABLE_SUFFIXES.get(path.suffix, ","))
    names = list(reader.fieldnames or [])
    if not column:
        raise CorpusError(f"{path} is a table: say which column holds the formulas with --column ({', '.join(names)})")
    if column not in names:
        raise CorpusError(
            f"{path} has no column {column!r}{suggestion(column, names)}; its columns are {', '.join(names)}"
        )
    for row in reader:
        text = (row[column] or "").strip()
        if text:
            yield reader.line_num, text


def _read_all(rows: Sequence[tuple[int, str]], options: ImportOptions) -> tuple[list[Expr], list[BadLine]]:
    exprs: list[Expr] = []
    bad: list[BadLine] = []
    for number, text in rows:
        try:
            expr = _reader(options.notation, text)(text)
            if options.generic_variables:
                expr = _with_generic_variables(expr)
            exprs.append(expr.numbers_to_constants().free() if options.numbers == "constants" else expr)
        except EdhieError as error:
            bad.append(BadLine(number, text, str(error)))
    return exprs, bad


def _reader(notation: Notation, text: str) -> Callable[[str], Expr]:
    if notation == "latex" or (notation == "auto" and ("\\" in text or "{" in text)):
        from edhie.expr.latex_reader import from_latex

        return from_latex
    return parse


def _with_generic_variables(expr: Expr) -> Expr:
    """The same tree with its variables called x0, x1, … as they come."""
    order = dict.fromkeys(token for token in expr.tokens if expr.library[token].kind == "variable")
    renamed = {name: f"x{i}" for i, name in enumerate(order)}
    library = SymbolLibrary.of(OPERATORS, len(order), constant=True, literals=("pi", "e"), numbers=True)
    name = library.constant or "c"
    tokens = [renamed.get(t, name if t == expr.library.constant else t) for t in expr.tokens]
    return Expr(library, tokens, expr.constants)


def _forest(exprs: list[Expr]) -> Forest:
    """The distinct expressions, over the smallest library that holds them all."""
    used: dict[str, str] = {}
    for expr in exprs:
        used |= {token: expr.library[token].kind for token in expr.tokens}
    variables = _in_order([token for token, kind in used.items() if kind == "variable"])
    clash = next((name for name in variables if used.get(name) != "variable"), None)
    if clash is not None:
        raise CorpusError(f"{clash!r} is a variable in one formula and something else in another; rename it")
    numbers = sorted((token for token, kind in used.items() if kind in ("number", "literal")), key=_number_order)
    library = SymbolLibrary.of(
        [name for name in OPERATORS if name in used],
        variables,
        constant=any(kind == "constant" for kind in used.values()),
        literals=numbers,
    )
    return Forest.from_exprs((expr.cast(library) for expr in exprs), library).unique()


def _number_order(token: str) -> tuple[bool, float]:
    """Named literals first, then numbers by value."""
    is_named = token in ("pi", "e", NUMBER.name)
    return not is_named, 0.0 if is_named else float(token)


def _in_order(names: list[str]) -> list[str]:
    """x0, x1, … by number and before all others, which stay as they came."""
    numbered = sorted((name for name in names if name[0] == "x" and name[1:].isdigit()), key=lambda name: int(name[1:]))
    return numbered + [name for name in names if name not in numbered]
