"""Equations of a run: as a list, one with its constants, and two compared."""

from __future__ import annotations

import math
from typing import Any

from edhie.expr.difference import difference
from edhie.expr.mathml import mathml_name, mathml_terms, to_mathml
from edhie.fit import Discovery, Equation
from edhie.fit.revision import Revision
from edhie.plots.words import one_line
from edhie.safe_text import printable
from edhie.studio.answers.curves import compared_curves, typical_error
from edhie.studio.answers.opened_run import OpenedRun, opened_run
from edhie.studio.answers.plain import finite
from edhie.studio.answers.trees import compared, tree

DIGITS, MOST_DIGITS = 4, 12  # of a constant
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
    if run.revision is not None:
        return _revision(run.revision)
    return _fit(run)


def _fit(run: OpenedRun) -> dict[str, Any]:
    found = run.discovery
    if found is None:
        raise RuntimeError("a run is a fit or a revision")
    is_relative = run.has_relative_errors
    held_out = 0 if found.validation is None else found.validation.n_rows
    return {
        "kind": "fit",
        "target": printable(found.target),
        "target_mathml": mathml_name(one_line(found.target)),
        "equations": [
            _equation(each, k, is_relative=is_relative) | {"is_chosen": k == found.chosen}
            for k, each in enumerate(found.equations)
        ],
        "is_relative": is_relative,
        "notes": [f"{note[0].upper()}{note[1:]}." for note in found.notes],
        "columns": _columns(found.columns, found.train.names),
        "n_rows": found.n_rows,
        "n_held_out": held_out,
        "summary": _summary(found),
    }


def _summary(found: Discovery | Revision) -> dict[str, Any]:
    result = found.result
    return {
        "strategy": result.strategy, "seed": result.seed, "stopped": result.stopped,
        "seconds": finite(result.seconds), "executed": result.counts.executed,
    }  # fmt: skip


def _columns(columns: tuple[str, ...], names: tuple[str, ...]) -> list[dict[str, str]]:
    return [{"column": column, "name": name} for column, name in zip(columns, names, strict=True)]


def _equation(each: Equation, place: int, *, is_relative: bool = False) -> dict[str, Any]:
    error = typical_error(each.train, each.predict(each.train.columns), is_relative=True) if is_relative else each.loss
    return {
        "index": place,
        "text": each.text(),
        "right_side": each.right_side(),
        "mathml": mathml_terms(each.printed, number_format=NEEDED),
        "latex": each.latex_equation(),
        "complexity": each.complexity,
        "loss": finite(each.loss),
        "error": finite(error),
        "score": finite(each.score),
        "r2": finite(each.r2),
        "r2_validation": finite(each.r2_validation),
        "weight": finite(each.weight),
        "confidence": each.confidence,
        "noise": each.noise,
    }


def _revision(found: Revision) -> dict[str, Any]:
    original, first = found.original.expr, found.steps[0].equation.expr
    steps = []
    for k, step in enumerate(found.steps):
        trees = compared(difference(first, step.equation.expr))
        steps.append(
            _equation(step.equation, k)
            | {
                "distance": step.distance,
                "changes": str(step.changes),
                "is_chosen": step is found.chosen,
                "original_tree": trees[0],
                "tree": trees[1],
            }
        )
    validation = found.refitted.validation
    return {
        "kind": "revise",
        "is_relative": False,
        "target": printable(found.target),
        "target_mathml": mathml_name(one_line(found.target)),
        "verdict": f"{found.verdict[0].upper()}{found.verdict[1:]}.",
        "steps": steps,
        "original": {
            "text": str(original),
            "mathml": to_mathml(original, number_format=".6g"),
            "loss": finite(found.original.error),
        },
        "columns": _columns(found.columns, found.refitted.train.names),
        "n_rows": found.refitted.train.n_rows,
        "n_held_out": 0 if validation is None else validation.n_rows,
        "summary": _summary(found),
        "notes": [],
    }


def equation(folder: str, place: int) -> dict[str, Any]:
    """Return the constants of one equation with their standard errors, and its tree."""
    each = opened_run(folder).equation(place)
    found, letter = each.uncertainty, each.expr.library.constant
    constants = []
    for k, value in enumerate(found.values.tolist()):
        error, low, high = (float(part[k]) for part in (found.standard_errors, found.lower, found.upper))
        is_held = k in found.held
        digits = _digits(value, error)
        text = f"{value:.{digits}g}"
        if math.isfinite(error) and not is_held:
            text += f" ± {error:.2g}"
        constants.append({
            "label": f"{letter}{k + 1}", "value": finite(value), "standard_error": None if is_held else finite(error),
            "low": None if is_held else finite(low), "high": None if is_held else finite(high), "text": text,
            "is_held": is_held, "is_determined": is_held or math.isfinite(error),
        })  # fmt: skip
    return {
        "index": place,
        "constants": constants,
        "numbered_mathml": to_mathml(each.expr, numbered=True),
        "tree": tree(each.expr),
        "note": _note(each),
    }


def _digits(value: float, error: float) -> int:
    """Return as many digits of a constant as go with two of its standard error."""
    if not (value and 0.0 < error < math.inf):
        return DIGITS
    return min(max(DIGITS, math.floor(math.log10(abs(value))) - math.floor(math.log10(error)) + 2), MOST_DIGITS)


def _note(each: Equation) -> str:
    found = each.uncertainty
    if not len(found.values):
        return ""
    if found.degrees_of_freedom < 1:
        return "There are no more rows than constants, so nothing is known of the errors."
    if not found.unidentified:
        return ""
    letter = each.expr.library.constant
    groups = "; ".join(" and ".join(f"{letter}{k + 1}" for k in group) for group in found.unidentified)
    return f"The data do not determine {groups}: other values fit as well."


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
