"""What users take away: an equation as code or as text, and the report."""

from __future__ import annotations

import math
from pathlib import Path

from edhie.expr.exports import export as written
from edhie.fit import Equation
from edhie.fit.problem import variable_names
from edhie.plots.words import one_line, r2_text
from edhie.report import write_report
from edhie.studio.answers.opened_run import OpenedRun, opened_run
from edhie.studio.refusals import Refused

MARKDOWN = "markdown"


def export(folder: str, place: int, format: str) -> str:
    """Return an equation in one of the formats."""
    run = opened_run(folder)
    each = run.equation(place)
    if format == MARKDOWN:
        return _markdown(run, each)
    target = variable_names((*each.train.names, each.target))[-1]  # an identifier that no variable has
    return written(each.printed, format, name="f", target=target).rstrip("\n") + "\n"


def _markdown(run: OpenedRun, each: Equation) -> str:
    """Return the equation as display mathematics, with its constants in a table."""
    found, letter = each.uncertainty, each.expr.library.constant
    lines = ["$$", each.latex_equation(), "$$", "", f"R² = {r2_text(each.r2)}, {each.train.n_rows:,} rows", ""]
    columns = zip(each.train.names, run.rows.columns, strict=True)
    lines += [f"- `{name}`: {_cell(column)}" for name, column in columns if name != column]
    if len(found.values):
        lines += ["| constant | value | standard error |", "|---|---|---|"]
        for k, value in enumerate(found.values.tolist()):
            error = float(found.standard_errors[k])
            told = "given" if k in found.held else f"{error:.2g}" if math.isfinite(error) else "not determined"
            lines.append(f"| {letter}{k + 1} | {value:.8g} | {told} |")
    return "\n".join(lines).rstrip("\n") + "\n"


def _cell(name: str) -> str:
    """Return a name that Markdown takes as text."""
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]<>()#+-.!|~$&" else letter for letter in one_line(name))


def report(folder: str, into: str, command: str | None, title: str | None) -> str:
    """Write the report of a fit into a file."""
    found = opened_run(folder).discovery
    if found is None:
        raise Refused("only a fit has a report; a revision has its table and its picture", 409)
    return str(write_report(found, Path(into), command=command, title=title))
