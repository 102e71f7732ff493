"""One expression as a function of its constants: its values, and their slopes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.errors import ExpressionError
from edhie.evaluate.program import check_constants, plan, with_custom_operators
from edhie.evaluate.values import block_count, check_columns, interpreted
from edhie.expr import Expr, Forest

Numbers = NDArray[np.float64]

RELATIVE_STEP = float(np.finfo(np.float64).eps) ** 0.2  # where rounding hurts as much as curvature, of fifth order
EXACT_SLOPES, DIFFERENCES = 1e-10, 1e-7
"""Shares below which slopes are rounding: those of the kernels, and those by differences."""


def jacobian_of(expr: Expr | Forest, columns: Numbers) -> tuple[Numbers, Numbers]:
    """The values of one expression, (rows,), and their slopes by its constants, (constants, rows).

    Built-in operators have exact slopes; with a user's operators they are central differences.

    >>> from edhie.expr import parse
    >>> values, slopes = jacobian_of(parse("c*x0^c").with_constants([3.0, 2.0]), np.array([[1.0, 2.0]]))
    >>> values.tolist(), slopes[0].tolist()
    ([3.0, 12.0], [1.0, 4.0])
    """
    response = Response(expr, columns)
    return response.jacobian(response.constants)


def constants_among_values(forest: Forest) -> NDArray[np.bool_]:
    """Which of a forest's `values` are those of constants; the others are numbers."""
    library = forest.library
    is_constant = np.array([symbol.kind == "constant" for symbol in library.symbols])
    return np.asarray(is_constant[forest.tokens[library.has_slot[forest.tokens]]])


class Response:
    """An expression planned once, to be asked for many values of its constants."""

    def __init__(self, expr: Expr | Forest, columns: Numbers) -> None:
        forest = expr if isinstance(expr, Forest) else Forest.from_exprs([expr])
        if len(forest) != 1:
            raise ExpressionError(f"the slopes of one expression are asked for, not of {len(forest)}; choose one")
        check_columns(forest, columns)
        check_constants(forest)
        self.expr = forest[0]
        self.columns = columns
        self._program = plan(forest, keep=True)
        self.constants: Numbers = self._program.leaf_values[self._program.is_free]
        """The values that the expression's constants have."""
        self.has_exact_slopes = len(with_custom_operators(forest)) == 0

    @property
    def precision(self) -> float:
        """The share of a slope below which it is rounding."""
        return EXACT_SLOPES if self.has_exact_slopes else DIFFERENCES

    def values(self, constants: Numbers) -> Numbers:
        """The expression's values for these constants, not finite where it is not defined."""
        if not self.has_exact_slopes:
            return self._interpreted(constants)
        from edhie.evaluate import kernels

        out = np.empty((1, self.columns.shape[1]))
        program, n_blocks = self._program._replace(leaf_values=self._leaves(constants)), block_count(out.shape[1])
        kernels.values(program, (0, 1), (0, n_blocks), self.columns, out)
        return out.ravel()

    def jacobian(self, constants: Numbers) -> tuple[Numbers, Numbers]:
        """The values, (rows,), and the slopes, (constants, rows), at these constants."""
        if not self.has_exact_slopes:
            return self._interpreted(constants), self._differences(constants)
        from edhie.evaluate.gradient_kernels import jacobian

        n_rows = self.columns.shape[1]
        values, slopes = np.empty(n_rows), np.empty((len(constants), n_rows))
        jacobian(self._program, 0, self._leaves(constants), self.columns, values, slopes)
        return values, slopes

    def _leaves(self, constants: Numbers) -> Numbers:
        leaves = self._program.leaf_values.copy()
        leaves[self._program.is_free] = constants
        return leaves

    def _interpreted(self, constants: Numbers) -> Numbers:
        if not np.isfinite(constants).all():
            return np.full(self.columns.shape[1], np.nan)
        return interpreted(self.expr.with_constants(constants.tolist()), self.columns)

    def _differences(self, constants: Numbers) -> Numbers:
        slopes = np.empty((len(constants), self.columns.shape[1]))
        for k, value in enumerate(constants.tolist()):
            slopes[k] = self._difference(constants, k, RELATIVE_STEP * (abs(value) or 1.0))
            if abs(value) < 1.0 and not slopes[k].any():  # so close to 0 that a share of it changes nothing
                slopes[k] = self._difference(constants, k, RELATIVE_STEP)
        return slopes

    def _difference(self, constants: Numbers, k: int, step: float) -> Numbers:
        """The slope by constant k from the values one and two steps to either side."""

        def across(steps: int) -> Numbers:
            above, below = constants.copy(), constants.copy()
            above[k] += steps * step
            below[k] -= steps * step
            return np.asarray((self._interpreted(above) - self._interpreted(below)) / (above[k] - below[k]))

        with np.errstate(all="ignore"):
            near, far = across(1), across(2)
            return np.where(np.isfinite(far), (4.0 * near - far) / 3.0, near)
