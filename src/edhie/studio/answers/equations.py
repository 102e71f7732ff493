"""Equations of a run: as a list, one with its constants, two compared, as code or text, and in a report."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from edhie.errors import EdhieError
from edhie.expr.difference import difference
from edhie.expr.exports import export as written
from edhie.expr.exports.excel import ROW, column_name, to_excel
from edhie.expr.mathml import mathml_name, mathml_terms, to_mathml
from edhie.fit import Discovery, Equation
from edhie.fit.problem import variable_names
from edhie.fit.revision import Revision
from edhie.plots.words import constants_note, constants_of, one_line, r2_text
from edhie.safe_text import printable
from edhie.studio.answers.curves import compared_curves, typical_error
from edhie.studio.answers.formulas import compared, tree
from edhie.studio.answers.reading import OpenedRun, finite, opened, opened_run
from edhie.studio.question import Refused

MARKDOWN, LATEX, EXCEL = "markdown", "latex", "excel"
NEEDED = "r"  # numbers as they are: `shown` has as few digits as needed


def best(folder: str) -> dict[str, Any] | None:
    """Return the chosen equation for the list of runs; None if nothing was found."""
    run = opened_run(folder)
    if run.chosen is None:
        return None
    each = run.equations[run.chosen]
    mathml = mathml_terms(each.printed, number_format=NEEDED)
    return {"mathml": mathml, "text": each.text(), "r2": finite(each.r2), "complexity": each.complexity}


def equations(folder: str) -> dict[str, Any]:
    """Return all equations of a fit, or the steps of a revision."""
    run = opened_run(folder)
    found, rows, result = run.found, run.rows, run.found.result
    return {
        "target": printable(found.target),
        "target_mathml": mathml_name(one_line(found.target)),
        "columns": [
            {"column": column, "name": name} for column, name in zip(rows.columns, rows.train.names, strict=True)
        ],
        "n_rows": rows.train.n_rows,
        "n_held_out": 0 if rows.validation is None else rows.validation.n_rows,
        "summary": {
            "strategy": result.strategy, "seed": result.seed, "stopped": result.stopped,
            "seconds": finite(result.seconds), "executed": result.counts.executed,
        },
        **(_revision(found) if isinstance(found, Revision) else _fit(found, is_relative=run.has_relative_errors)),
    }  # fmt: skip


def _fit(found: Discovery, *, is_relative: bool) -> dict[str, Any]:
    return {
        "kind": "fit",
        "equations": [
            _equation(each, k, is_relative=is_relative) | {"is_chosen": k == found.chosen}
            for k, each in enumerate(found.equations)
        ],
        "is_relative": is_relative,
        "notes": [f"{note[0].upper()}{note[1:]}." for note in found.notes],
        "n_rows": found.n_rows,  # of a large table, more than were searched
    }


def _equation(each: Equation, place: int, *, is_relative: bool = False) -> dict[str, Any]:
    error = typical_error(each.train, each.predict(each.train.columns), is_relative=True) if is_relative else each.loss
    return {
        "index": place,
        "text": each.text(),
        "right_side": each.right_side(),
        "mathml": mathml_terms(each.printed, number_format=NEEDED),
        "latex": each.latex_equation(),
        "complexity": each.complexity,
        "error": finite(error),
        **{name: finite(getattr(each, name)) for name in ("loss", "score", "r2", "r2_validation", "weight")},
        "confidence": each.confidence,
        "noise": each.noise,
    }


def _revision(found: Revision) -> dict[str, Any]:
    original, first = found.original.expr, found.steps[0].equation.expr
    steps = []
    for k, step in enumerate(found.steps):
        before, after = compared(difference(first, step.equation.expr))
        change = {"distance": step.distance, "changes": str(step.changes), "original_tree": before, "tree": after}
        steps.append(_equation(step.equation, k) | change | {"is_chosen": step is found.chosen})
    mathml = to_mathml(original, number_format=".6g")
    return {
        "kind": "revise",
        "is_relative": False,
        "verdict": f"{found.verdict[0].upper()}{found.verdict[1:]}.",
        "steps": steps,
        "original": {"text": str(original), "mathml": mathml, "loss": finite(found.original.error)},
        "notes": [],
    }


def equation(folder: str, place: int) -> dict[str, Any]:
    """Return the constants of one equation with their standard errors, and its tree."""
    each = opened_run(folder).equation(place)
    constants, letter = [], each.expr.library.constant
    for known in constants_of(each):
        error, low, high = (None if known.is_held else finite(part) for part in (known.error, known.low, known.high))
        text = f"{known.value:.{known.digits}g}" + ("" if error is None else f" ± {error:.2g}")
        constants.append({
            "label": f"{letter}{known.number}", "value": finite(known.value), "standard_error": error,
            "low": low, "high": high, "text": text, "is_held": known.is_held,
            "is_determined": known.is_held or error is not None,
        })  # fmt: skip
    return {
        "index": place,
        "constants": constants,
        "numbered_mathml": to_mathml(each.expr, numbered=True),
        "tree": tree(each.expr),
        "note": constants_note(each),
    }


def compare(folder: str, a: int, b: int, x: str | None, log: bool = False) -> dict[str, Any]:
    """Return where two equations differ: on their trees, in words, and in curves."""
    run = opened_run(folder)
    one, other = run.equation(a), run.equation(b)
    changes = difference(one.expr, other.expr)
    trees = compared(changes)
    sides = [
        {"index": place, "mathml": to_mathml(each.printed, number_format=NEEDED), "text": each.text(), "tree": drawn}
        for place, each, drawn in zip((a, b), (one, other), trees, strict=True)
    ]
    return {
        "a": sides[0],
        "b": sides[1],
        "changes": str(changes),
        "distance": changes.distance,
        **compared_curves(run.rows, one, other, x, log=log),
    }


# -- what users take away ---------------------------------------------------------------------


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
    from edhie.report import write_report

    found = opened_run(folder).discovery
    if found is None:
        raise Refused("only a fit has a report; a revision has its table and its picture", 409)
    return str(write_report(found, Path(into), command=command, title=title))
