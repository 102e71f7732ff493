"""`Equation`: one fitted expression with its quality, uncertainty, predictions and notations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from edhie.arrays import Numbers
from edhie.evaluate import Data, values
from edhie.evaluate.constants.slope_svd import Triangle
from edhie.evaluate.constants.uncertainty import (
    LinearisedFit,
    TiedConstants,
    Uncertainty,
    uncertainty_of,
    value_deviations_of,
)
from edhie.evaluate.losses import r2
from edhie.expr import Expr, Forest
from edhie.expr.nodes import expr_of, tree_of, walk
from edhie.finish.numbers import with_loose_numbers
from edhie.fit.all_rows import AllRows
from edhie.fit.problem import Problem
from edhie.fit.settings import Settings
from edhie.results import Candidate
from edhie.safe_text import printable
from edhie.selection.noise import NoiseModel, relative_weights

if TYPE_CHECKING:
    import sympy

Digits = int | Literal["needed"] | None
"""Significant digits of printed constants: a number, as many as needed, or None for all."""
LATEX = {letter: f"\\{letter}" for letter in "#$%&_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
"""Characters that LaTeX would read as commands, and how to write them."""


@dataclass(frozen=True, eq=False, repr=False)
class Equation:
    """An expression for the target, with its constants fitted."""

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "complexity", "loss", "score", "r2", "r2_validation", "weight", "noise", "equation", "sympy", "latex",
        "constants", "standard_errors",
    )  # fmt: skip
    """The columns of a table of equations."""
    target: str
    candidate: Candidate
    train: Data
    """The rows that it was fitted to; of a large table, those of the sample."""
    validation: Data | None = None
    """Rows that were held out."""
    score: float = 0.0
    """Decrease of the log loss from the equation before it, per unit of complexity."""
    ties: TiedConstants | None = None
    """Constants that occur in several places, such as those of a template's part that is used twice."""
    model: NoiseModel | None = None
    """The noise model under which the constants are optimal; None if they minimise the loss."""
    weight: float | None = None
    """Probability of this equation among the alternatives, which are different functions; None if unknown.

    A search that was too short has none; see `edhie.fit.result.is_too_short`.
    """
    all_rows: AllRows | None = None
    """R² and slopes on all rows of a large table, to which it was fitted; None if `train` holds all rows."""

    @classmethod
    def of(cls, candidate: Candidate, problem: Problem, settings: Settings, **known: Any) -> Equation:
        """Return a candidate for a problem as an equation; constants are tied as a template ties them."""
        ties = None
        if settings.template is not None:
            from edhie.fit.template import ties_of

            ties = ties_of(candidate.expr, settings.template)
        parts = problem.target, candidate, problem.train, problem.validation
        return cls(*parts, ties=ties, **known)

    @property
    def expr(self) -> Expr:
        """The expression, with all digits of its constants."""
        return self.candidate.expr

    @property
    def complexity(self) -> float:
        """The sum of the weights of its symbols."""
        return self.candidate.complexity

    @property
    def loss(self) -> float:
        """Its loss on the rows that it was fitted to."""
        return self.candidate.error

    @cached_property
    def r2(self) -> float:
        """The share of the target's variance that it explains, on the rows that it was fitted to."""
        if self.all_rows is not None:
            return self.all_rows.r2
        return r2(self.train.y, self.predict(self.train.columns), self.train.weights)

    @cached_property
    def r2_validation(self) -> float | None:
        """The same on held-out rows; None if there are none, -inf if it is undefined in some row."""
        held_out = self.validation
        return None if held_out is None else r2(held_out.y, self.predict(held_out.columns), held_out.weights)

    @cached_property
    def printed(self) -> Expr:
        """The expression with as few digits of its constants as its loss and predictions need."""
        from edhie.finish.digits import needed_digits

        return needed_digits(self.expr, self.train, held_out=self.validation)

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Standard errors and confidence intervals of the constants that are printed, in prefix order.

        A redundant constant, such as the 1 of 1/(a*x + b), is held fixed; errors of the others are conditional on it.
        """
        triangle = None if self.all_rows is None else self.all_rows.triangle
        if triangle is not None and self.ties is None:
            triangle = triangle.only(loosened(self)[1])
        return uncertainty_of(self._linearised(self.expr, triangle))

    def text(self, digits: Digits = "needed") -> str:
        """Return the equation as text, such as `T = 20 + 60*exp(-t/7)`.

        `digits` is a number of significant digits, None for all, or "needed": as few as leave the loss the same to 1 %.
        """
        return f"{printable(self.target)} = {self.right_side(digits)}"

    def right_side(self, digits: Digits = "needed") -> str:
        """Return the right-hand side as text, with digits as in `text`."""
        expr, number_format = self._printed(digits)
        return f"{expr:{number_format}}"

    def latex(self, digits: Digits = "needed") -> str:
        """Return the right-hand side in LaTeX, with digits as in `text`."""
        from edhie.expr.notation import to_latex

        expr, number_format = self._printed(digits)
        return to_latex(expr, number_format=number_format)

    def latex_equation(self) -> str:
        """Return the whole equation in LaTeX."""
        from edhie.expr.symbols import is_name, latex_name

        target = self.target
        name = (
            latex_name(target)
            if is_name(target)
            else rf"\text{{{''.join(LATEX.get(c, c) for c in printable(target))}}}"
        )
        return f"{name} = {self.latex()}"

    def _printed(self, digits: Digits) -> tuple[Expr, str]:
        """Return the printed form and the format of its numbers."""
        if digits == "needed":
            return self.printed, "r"
        return self.expr, "" if digits is None else f".{digits}g"

    def sympy(self) -> sympy.Expr:
        """Return the right-hand side as a SymPy expression, with all digits."""
        return self.expr.sympy()

    def predict(self, columns: Numbers) -> Numbers:
        """Return its values on columns, of shape (variables, rows); NaN or infinity where it is undefined.

        The regressor's `predict` takes a table instead, of shape (rows, variables).
        """
        with np.errstate(all="ignore"):
            found: Numbers = values(Forest.from_exprs([self.expr]), columns)[0]
        return found

    def standard_deviations(self, columns: Numbers) -> Numbers:
        """Return the standard deviation of each value that the uncertainty of the constants causes.

        Plain numbers count as constants here: that 2 describes the data better than 2.013 does not make it certain.
        """
        loose, _ = loosened(self)
        fit = self._linearised(loose, None if self.all_rows is None else self.all_rows.triangle)
        return value_deviations_of(fit, loose, columns)

    def _linearised(self, expr: Expr, triangle: Triangle | None) -> LinearisedFit:
        """Return the fit of a form of the expression to first order, on all rows if their slopes are known."""
        n_parameters = len(expr.constants) if self.ties is None else self.ties.n_different
        if triangle is not None and len(triangle.slopes) == n_parameters:  # another release may print another form
            return LinearisedFit.of(expr, triangle, self.ties)
        return LinearisedFit.of(expr, self._weighted, self.ties)

    @property
    def confidence(self) -> str:
        """The weight in per cent, such as `62 %`; empty if it is unknown."""
        if self.weight is None:
            return ""
        return "<1 %" if self.weight < 0.005 else ">99 %" if self.weight >= 0.995 else f"{100 * self.weight:.0f} %"

    @property
    def noise(self) -> str | None:
        """The name of the noise model."""
        return None if self.model is None else self.model.name

    @property
    def _weighted(self) -> Data:
        """The rows with the weights that they have under the noise model."""
        if self.model is None:
            return self.train
        weights = relative_weights(self.model, self.predict(self.train.columns), self.train)
        return replace(self.train, weights=weights)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Equation({self.text()!r}, loss={self.loss:.4g}, complexity={self.complexity:g})"

    def _repr_latex_(self) -> str:
        return f"${self.latex_equation()}$"

    def row(self) -> dict[str, Any]:
        """Return the row of a table of equations; constants and standard errors are tuples, in prefix order."""
        return {
            "complexity": self.complexity,
            "loss": self.loss,
            "score": self.score,
            "r2": self.r2,
            "r2_validation": np.nan if self.r2_validation is None else self.r2_validation,
            "weight": np.nan if self.weight is None else self.weight,
            "noise": self.noise,
            "equation": self.right_side(),
            "sympy": self.sympy(),
            "latex": self.latex(),
            "constants": tuple(self.uncertainty.values.tolist()),
            "standard_errors": tuple(self.uncertainty.standard_errors.tolist()),
        }

    def as_json(self) -> dict[str, Any]:
        """Return the equation with all digits, as JSON."""
        return {
            "complexity": self.complexity,
            "loss": self.loss,
            "score": self.score,
            "r2": _finite(self.r2),
            "r2_validation": _finite(self.r2_validation),
            "expression": str(self.expr),
            "noise": self.noise,
            "weight": self.weight,
        }


def loosened(equation: Equation) -> tuple[Expr, list[int]]:
    """Return the expression with plain numbers as constants, if it was fitted under a noise model.

    Exponents belong to its form. The positions are those of its own constants among all of them.
    """
    library, tree = equation.expr.library, tree_of(equation.expr)
    own = {id(each) for each in walk(tree) if each.kind == "constant"}
    if equation.model is not None and equation.ties is None and library.constant is not None:
        tree = with_loose_numbers(tree, library.constant)
    constants = [each for each in walk(tree) if each.kind == "constant"]
    return expr_of(tree, library), [k for k, each in enumerate(constants) if id(each) in own]


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
