"""`Revision`: the changes after which a formula explains the data, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from edhie.expr import Expr
from edhie.expr.difference import Difference
from edhie.fit.equation import Equation
from edhie.results import SearchResult
from edhie.search.revision.revisions import CLEARLY

if TYPE_CHECKING:
    import pandas

COLUMNS = ("distance", "loss", "r2", "r2_validation", "bits", "equation", "changes")


@dataclass(frozen=True, eq=False)
class Original:
    """The formula as it was given."""

    expr: Expr
    error: float | None
    """Its loss as given; None if it has constants without a value."""

    def __str__(self) -> str:
        return str(self.expr)


@dataclass(frozen=True, eq=False)
class Step:
    """One revision: the best of those at the same distance."""

    equation: Equation
    changes: Difference
    """The changes."""
    bits: float
    """Description length of the data in bits, including the changes."""

    @property
    def distance(self) -> int:
        """The number of symbols that changed."""
        return self.changes.distance

    def as_json(self) -> dict[str, Any]:
        """Return the step with all digits, as JSON."""
        bits = self.bits if np.isfinite(self.bits) else None
        return {"distance": self.distance, "bits": bits, "changes": str(self.changes), **self.equation.as_json()}


@dataclass(frozen=True, eq=False)
class Revision:
    """A formula and its revisions, from the nearest to the farthest."""

    target: str
    columns: tuple[str, ...]
    """Names of the variables in the table, in order; equations use identifiers."""
    original: Original
    steps: tuple[Step, ...]
    """The original with its constants fitted, then revisions: each changes more, and explains more."""
    result: SearchResult
    negligible: float = 0.0
    """Loss up to which a formula counts as exact."""

    @property
    def refitted(self) -> Equation:
        """The original with all of its constants fitted."""
        return self.steps[0].equation

    @property
    def is_enough(self) -> bool:
        """True if the original suffices: no change describes the data in clearly fewer bits."""
        return self.chosen is self.steps[0]

    @cached_property
    def chosen(self) -> Step:
        """The chosen step: the nearest after which no other describes the data in clearly fewer bits."""
        if self.refitted.loss <= self.negligible:
            return self.steps[0]
        least = min(step.bits for step in self.steps)
        return next(step for step in self.steps if not least < step.bits - CLEARLY)

    @property
    def best(self) -> Equation:
        """The equation of the chosen step."""
        return self.chosen.equation

    @property
    def verdict(self) -> str:
        """One sentence: whether the formula has to change, and how."""
        if not np.isfinite(self.steps[0].bits) and self.is_enough:
            return "the formula has no value in some row, and no revision of it has"
        if self.is_enough:
            return "the formula is enough: with its constants fitted, no change describes the data clearly better"
        return f"the formula is not enough: {self.chosen.changes}"

    def table(self) -> pandas.DataFrame:
        """Return one row for each step, from the original on."""
        import pandas

        rows = [
            {
                "distance": step.distance,
                "loss": step.equation.loss,
                "r2": step.equation.r2,
                "r2_validation": np.nan if step.equation.r2_validation is None else step.equation.r2_validation,
                "bits": step.bits,
                "equation": step.equation.right_side(),
                "changes": str(step.changes),
            }
            for step in self.steps
        ]
        return pandas.DataFrame(rows, columns=list(COLUMNS))

    def as_json(self) -> dict[str, Any]:
        """Return the revision as JSON."""
        return {
            "target": self.target,
            "original": str(self.original),
            "original_loss": self.original.error,
            "is_enough": self.is_enough,
            "verdict": self.verdict,
            "selected": self.chosen.as_json(),
            "steps": [step.as_json() for step in self.steps],
            "seed": self.result.seed,
            "stopped": self.result.stopped,
            "seconds": round(self.result.seconds, 3),
            "counts": vars(self.result.counts),
        }

    def __str__(self) -> str:
        lines = [f"{step.distance:>8}  {step.equation.loss:>10.4g}  {step.equation}" for step in self.steps]
        return "\n".join([self.verdict, f"{'distance':>8}  {'loss':>10}  equation", *lines])
