"""One expression as a function of its constants: values, and slopes by each constant."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from edhie.arrays import Flags, Indices, Numbers
from edhie.errors import ExpressionError
from edhie.evaluate.machine.program import plan
from edhie.evaluate.values import Interpreted, check_fitted, with_custom_operators
from edhie.expr import Expr, Forest
from edhie.expr.symbols import Opcode

RELATIVE_STEP = float(np.finfo(np.float64).eps) ** 0.2  # balances rounding and truncation errors
EXACT_SLOPES, DIFFERENCES = 1e-10, 1e-7
"""Relative size below which slopes are rounding errors: those of the kernels, and those by differences."""


def constants_among_values(forest: Forest) -> Flags:
    """Return True for each of a forest's `values` that is a constant's; the others are numbers."""
    with_values = forest.tokens[forest.library.has_slot[forest.tokens]]
    return np.asarray(forest.library.opcodes[with_values] == Opcode.CONSTANT)


def constants_of_each(forest: Forest) -> list[Indices]:
    """Return the positions of each expression's constants among the forest's `values`."""
    positions = np.flatnonzero(constants_among_values(forest))
    return np.split(positions, np.searchsorted(positions, forest.value_offsets[1:-1]))


class Response:
    """An expression planned once, to be evaluated for many values of its constants.

    Slopes of built-in operators are exact; those of expressions with a user's operators are central differences.

    >>> from edhie.expr import parse
    >>> response = Response(parse("c*x0^c").with_constants([3.0, 2.0]), np.array([[1.0, 2.0]]))
    >>> values, slopes = response.jacobian(response.constants)
    >>> values.tolist(), slopes[0].tolist()
    ([3.0, 12.0], [1.0, 4.0])
    """

    def __init__(self, expr: Expr | Forest, columns: Numbers) -> None:
        forest = expr if isinstance(expr, Forest) else Forest.from_exprs([expr])
        if len(forest) != 1:
            raise ExpressionError(f"the slopes of one expression are asked for, not of {len(forest)}; choose one")
        check_fitted(forest, columns)
        self.expr = forest[0]
        self.columns = columns
        self._program = plan(forest)
        self.constants: Numbers = self._program.leaf_values[self._program.is_free]
        """The constants' own values."""
        is_custom = len(with_custom_operators(forest)) > 0
        self._interpreted: Interpreted | None = Interpreted(self.expr, columns) if is_custom else None
        self.precision: float = DIFFERENCES if is_custom else EXACT_SLOPES
        """Relative size of a slope below which it is a rounding error."""

    @cached_property
    def is_linear(self) -> Flags:
        """True for each constant of a set in which the expression is jointly linear."""
        from edhie.evaluate.constants.starts import find_linear

        is_linear = np.zeros(self._program.n_registers, np.bool_)
        find_linear(self._program, 0, is_linear)
        return np.asarray(is_linear[np.flatnonzero(self._program.is_free)])

    def values(self, constants: Numbers) -> Numbers:
        """Return the values for these constants, not finite where the expression is not defined."""
        if self._interpreted is not None:
            return np.asarray(self._interpreted.values(constants[np.newaxis])[0])
        from edhie.evaluate.machine import kernels

        out = np.empty((1, self.columns.shape[1]))
        program = self._program._replace(leaf_values=self._leaves(constants))
        kernels.values(program, self.columns, out, 0, 1)
        return out.ravel()

    def values_at_each(self, constants: Numbers) -> Numbers:
        """Return the values, of shape (n, rows), for points of shape (n, constants), of a user's operators."""
        assert self._interpreted is not None
        return self._interpreted.values(constants)

    def jacobian(self, constants: Numbers) -> tuple[Numbers, Numbers]:
        """Return the values, of shape (rows,), and the slopes, of shape (constants, rows), at these constants."""
        if self._interpreted is not None:
            return self._by_differences(constants)
        from edhie.evaluate.machine.gradient_kernels import jacobian

        n_rows = self.columns.shape[1]
        values, slopes = np.empty(n_rows), np.empty((len(constants), n_rows))
        jacobian(self._program, 0, self._leaves(constants), self.columns, values, slopes)
        return values, slopes

    def _leaves(self, constants: Numbers) -> Numbers:
        leaves = self._program.leaf_values.copy()
        leaves[self._program.is_free] = constants
        return leaves

    def _by_differences(self, constants: Numbers) -> tuple[Numbers, Numbers]:
        """Return values and slopes without kernels."""
        steps = RELATIVE_STEP * np.where(constants == 0, 1.0, np.abs(constants))
        values, slopes = self._differences(constants, steps)
        flat = (np.abs(constants) < 1.0) & ~slopes.any(axis=1)  # so close to 0 that a relative step changes nothing
        if flat.any():
            slopes[flat] = self._differences(constants, np.full(len(constants), RELATIVE_STEP))[1][flat]
        return values, slopes

    def _differences(self, constants: Numbers, steps: Numbers) -> tuple[Numbers, Numbers]:
        """Return the values, and slopes from those at one and two steps to either side of each constant."""
        n, diagonal = len(constants), np.arange(len(constants))
        if n == 0:
            values = self.values_at_each(constants[np.newaxis])
            return values[0], np.empty((0, values.shape[1]))
        points = constants + np.multiply.outer([1.0, 2.0, -1.0, -2.0], np.diag(steps))
        found = self.values_at_each(np.concatenate([constants[np.newaxis], points.reshape(4 * n, n)]))
        sides, at = found[1:].reshape(4, n, -1), points[:, diagonal, diagonal]
        with np.errstate(all="ignore"):
            near, far = (sides[:2] - sides[2:]) / (at[:2] - at[2:])[..., np.newaxis]
            return found[0], np.where(np.isfinite(far), (4.0 * near - far) / 3.0, near)
