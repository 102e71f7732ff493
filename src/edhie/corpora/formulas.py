"""The formulas of science that come with edhie, by field."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from edhie.corpora.corpus import Corpus
from edhie.corpora.importing import ImportOptions, imported, with_generic_variables
from edhie.errors import CorpusError, suggestion
from edhie.expr import Forest, parse
from edhie.expr.canonical import canonical, canonical_library
from edhie.expr.standard_libraries import everything

FILE = "formulas.csv"
PHYSICS = "Physics"
FEYNMAN = "feynman/"
"""Prefix of the ids of the Feynman benchmark's problems."""


@dataclass(frozen=True)
class Formula:
    """A formula of science."""

    field: str
    name: str
    target: str
    """Quantity that the formula gives."""
    text: str
    """The formula in infix, with the variables that its field uses."""
    source: str
    """Who found it, or a book that has it."""
    problems: tuple[str, ...]
    """Ids of benchmark problems that ask for the same law, such as `feynman/I.12.1` or `textbook/gordon`."""


@dataclass(frozen=True)
class Formulas:
    """A table of formulas; `forest` holds their expressions, in the same order."""

    rows: tuple[Formula, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields, in the order of the table."""
        return tuple(dict.fromkeys(row.field for row in self.rows))

    @cached_property
    def forest(self) -> Forest:
        """Expression of each formula, with variables x0, x1, … in order of appearance."""
        exprs = [with_generic_variables(parse(row.text)) for row in self.rows]
        library = everything(max((len(expr.variables) for expr in exprs), default=1))
        return Forest.from_exprs((expr.cast(library) for expr in exprs), library)

    def of(self, *fields: str) -> Formulas:
        """Return the formulas of these fields."""
        for field in fields:
            if field not in self.fields:
                raise CorpusError(
                    f"unknown field {field!r}{suggestion(field, self.fields)}; there are {', '.join(self.fields)}"
                )
        return Formulas(tuple(row for row in self.rows if row.field in fields))

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """Canonical form of each formula; two that differ only in the names of their variables have the same."""
        library = canonical_library(self.forest.library)
        renamed = [with_generic_variables(expr).cast(library) for expr in canonical(self.forest)]
        return tuple(str(with_generic_variables(expr)) for expr in canonical(Forest.from_exprs(renamed, library)))

    def without(self, *, fields: Iterable[str] = (), problems: str | Sequence[str] = ()) -> Formulas:
        """Return the formulas of other fields, and those that certain problems do not ask for.

        `problems` are ids, or their beginnings: `textbook/` leaves out the laws of all textbook problems, and formulas
        of other fields that differ from these in the names of their variables alone.
        """
        barred = (problems,) if isinstance(problems, str) else tuple(problems)
        both, left_out = list(zip(self.forms, self.rows, strict=True)), set(fields)
        known = {form for form, row in both if any(each.startswith(barred) for each in row.problems)}
        return Formulas(tuple(row for form, row in both if row.field not in left_out and form not in known))


@cache
def formulas() -> Formulas:
    """Return the formulas of science that come with edhie, in more than a dozen fields.

    >>> table = formulas()
    >>> table.rows[0].field, table.rows[0].name, table.rows[0].text
    ('statistics', 'Standard normal density', 'exp(-theta^2/2)/sqrt(2*pi)')
    >>> len(table.without(problems=["feynman/", "textbook/"])) < len(table)
    True
    """
    text = (files("edhie.corpora") / "data" / FILE).read_text(encoding="utf-8")
    _, *rows = csv.reader(io.StringIO(text))
    return Formulas(
        tuple(
            Formula(field, name, target, formula, source, tuple(problems.split()))
            for field, name, target, formula, source, problems in rows
        )
    )


def physics() -> Corpus:
    """Return 120 laws of mechanics, electrodynamics and thermal physics, with variables x0, x1 and so on.

    They are the laws of the Feynman benchmark.

    >>> corpus = physics()
    >>> str(corpus.forest[0])
    'exp(-x0^2/2)/sqrt(2*pi)'
    """
    rows = [row for row in formulas().rows if any(each.startswith(FEYNMAN) for each in row.problems)]
    listed = list(enumerate((row.text for row in rows), start=1))
    corpus, _ = imported(PHYSICS, listed, ImportOptions(column="formula", generic_variables=True), file=FILE)
    return corpus
