"""Exports for users: an equation as code or as text, and the report."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from edhie.errors import EdhieError
from edhie.expr.exports import export as written
from edhie.expr.exports.excel import ROW, column_name, to_excel
from edhie.fit import Equation
from edhie.fit.problem import variable_names
from edhie.plots.words import constants_of, one_line, r2_text
from edhie.report import write_report
from edhie.studio.answers.opened_run import OpenedRun, opened_run
from edhie.studio.answers.reading import opened
from edhie.studio.question import Refused

MARKDOWN, LATEX, EXCEL = "markdown", "latex", "excel"


def export(
    folder: str, place: int, format: str, table: str | None = None, question: dict[str, Any] | None = None
) -> dict[str, str]:
    """Return an equation in one of the formats, and what is to be known about it.

    With the table of the run, a formula for a spreadsheet has the cells of its first row.
    """
    run = opened_run(folder)
    each = run.equation(place)
    if format == EXCEL:
        cells = _cells(run, each, table, (question or {}).get("options", {}))
        columns = dict(zip(each.train.names, run.rows.columns, strict=True))
        used = [
            f"{cells[name]} is {one_line(columns[name])}" for name in each.train.names if name in each.expr.variables
        ]
        return {"text": f"{to_excel(each.expr, name='f', target='y', cells=cells)}\n", "about": ", ".join(used)}
    if format == MARKDOWN:
        text = _markdown(run, each)
    elif format == LATEX:
        text = _with_accents(each.latex_equation())
    else:
        target = variable_names((*each.train.names, each.target))[-1]  # an identifier that no variable has
        text = written(each.expr, format, name="f", target=target)
    return {"text": text.rstrip("\n") + "\n", "about": ""}


def _with_accents(latex: str) -> str:
    r"""Return LaTeX in which names with letters such as ä and µ are text: mathematics has none of these.

    >>> print(_with_accents(r"\mathrm{Gr\_öße} + \mathrm{rate}"))
    \text{Gr\_öße} + \mathrm{rate}
    """
    return re.sub(r"\\mathrm(\{[^{}]*[^\x00-\x7f][^{}]*\})", r"\\text\1", latex)


def _cells(run: OpenedRun, each: Equation, table: str | None, options: dict[str, Any]) -> dict[str, str]:
    """Return the cell of each variable in the first row of the table; if it is not known, columns are those of the run.

    Revisions and runs of earlier releases do not keep their cells.
    """
    columns = run.rows.columns
    cells = [f"{column_name(place)}{ROW}" for place in range(len(columns))]
    if run.discovery is not None and run.discovery.problem.cells is not None:
        cells = list(run.discovery.problem.cells)
    elif table is not None:
        with suppress(EdhieError):
            found = opened(Path(table), options)[0].cells
            cells = [found[column] for column in columns] if found.keys() >= set(columns) else cells
    return dict(zip(each.train.names, cells, strict=True))


def _markdown(run: OpenedRun, each: Equation) -> str:
    """Return the equation as display mathematics, with its constants in a table."""
    constants, letter = constants_of(each), each.expr.library.constant
    lines = ["$$", each.latex_equation(), "$$", "", f"R² = {r2_text(each.r2)}, {each.train.n_rows:,} rows", ""]
    columns = zip(each.train.names, run.rows.columns, strict=True)
    lines += [f"- `{name}`: {_cell(column)}" for name, column in columns if name != column]
    if constants:
        lines += [""] if lines[-1] else []  # a table is no part of a list
        lines += ["| constant | value | standard error |", "|---|---|---|"]
        for known in constants:
            told = f"{known.error:.2g}" if math.isfinite(known.error) else "not determined"
            lines.append(f"| {letter}{known.number} | {known.value:.8g} | {'given' if known.is_held else told} |")
    return "\n".join(lines)


def _cell(name: str) -> str:
    """Return a name that Markdown takes as text."""
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]<>()#+-.!|~$&" else letter for letter in one_line(name))


def report(folder: str, into: str, command: str | None, title: str | None) -> str:
    """Write the report of a fit into a file."""
    found = opened_run(folder).discovery
    if found is None:
        raise Refused("only a fit has a report; a revision has its table and its picture", 409)
    return str(write_report(found, Path(into), command=command, title=title))
