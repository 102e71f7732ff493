"""Equations of a run: as a list, one with its constants, and two compared."""

from __future__ import annotations

from typing import Any

from edhie.expr.difference import difference
from edhie.expr.mathml import mathml_name, mathml_terms, to_mathml
from edhie.fit import Discovery, Equation
from edhie.fit.revision import Revision
from edhie.plots.words import constants_note, constants_of, one_line
from edhie.safe_text import printable
from edhie.studio.answers.curves import compared_curves, typical_error
from edhie.studio.answers.opened_run import opened_run
from edhie.studio.answers.reading import finite
from edhie.studio.answers.trees import compared, tree

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
