"""Equations of a run for the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from edhie.expr.mathml import to_mathml
from edhie.fit.run_folder import load
from edhie.studio.answers.plain import finite


def best(folder: str) -> dict[str, Any] | None:
    """Return the chosen equation for the list of runs; None if nothing was found."""
    found = load(Path(folder), whole=False)
    if found.is_empty:
        return None
    each = found.best
    return {"mathml": to_mathml(each.shown, number_format="r"), "r2": finite(each.r2), "complexity": each.complexity}
