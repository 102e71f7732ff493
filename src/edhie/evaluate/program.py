"""A forest planned once for the kernels: instructions over registers instead of tokens over a stack.

Every operator of an expression is one instruction, children before their parent. An operand is
a number: 0 and up for a register, -1 - j for column j of the data. The leading registers of an
expression hold its constants, numbers and literals, and are filled once for all blocks of rows.

Kernels (those with `from edhie.expr.jit import jit`) compile the order of the fields in; naming that
import here counts this file among the sources that decide which machine code is current.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.errors import ExpressionError, shortened
from edhie.expr import Forest

Operands = NDArray[np.int32]


class Program(NamedTuple):
    """What the kernels run; expression k has the instructions `starts[k]:starts[k + 1]`."""

    starts: NDArray[np.int64]
    opcodes: NDArray[np.int16]
    left: Operands
    right: Operands
    targets: Operands
    """By instruction: the register of its result, never one of its operands'."""
    roots: Operands
    """By expression: the operand that is its value."""
    leaf_starts: NDArray[np.int64]
    """Expression k fills its registers 0, 1, … with `leaf_values[leaf_starts[k]:leaf_starts[k + 1]]`."""
    leaf_values: NDArray[np.float64]
    is_free: NDArray[np.bool_]
    """By leaf: whether it is a constant to be fitted."""
    n_registers: int
    """How many the expression with the most needs, and at least 1."""


def plan(forest: Forest, *, keep: bool = False) -> Program:
    """The program of a forest; with `keep` no register is used twice, so that gradients find all values."""
    from edhie.evaluate.planning_kernels import instructions

    library = forest.library
    ops = library.opcodes
    columns = np.full(len(library), -1, np.int64)
    columns[[library.ids[name] for name in library.variables]] = np.arange(len(library.variables))
    is_free = np.array([symbol.kind == "constant" for symbol in library.symbols])
    parts = instructions(
        forest.tokens, forest.offsets, forest.values, forest.value_offsets,
        library.arities, ops, library.literal_values, library.has_slot, is_free, columns, keep,
    )  # fmt: skip
    return Program(*parts)


def with_custom_operators(forest: Forest) -> NDArray[np.int64]:
    """The places of the expressions with operators that a user added, which have no kernels."""
    is_custom = np.array([symbol.is_custom for symbol in forest.library.symbols])
    return np.unique(forest.owners[is_custom[forest.tokens]]) if is_custom.any() else np.zeros(0, np.int64)


def check_constants(forest: Forest) -> None:
    """Raise where a constant has no value."""
    missing = np.isnan(forest.values)
    if not missing.any():
        return
    first = int(np.searchsorted(forest.value_offsets, np.flatnonzero(missing)[0], side="right")) - 1
    shown = shortened(str(forest[first]))
    raise ExpressionError(
        f"the constant {forest.library.constant!r} has no value in expression {first}, {shown!r}; "
        "fit it, or give it one by with_constants()"
    )
