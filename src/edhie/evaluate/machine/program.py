"""A forest planned once for the kernels: instructions over registers instead of tokens over a stack.

Every operator of an expression is one instruction, children before their parent. An operand is
a number: 0 and up for a register, -1 - j for column j of the data. The leading registers of an
expression hold its constants, numbers and literals, and are filled once for all blocks of rows.

Kernels (those with `from edhie.expr.jit import jit`) compile the order of the fields in; naming that
import here counts this file among the sources that decide which machine code is current.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import Opcode

Operands = NDArray[np.int32]
MOST_EXPRESSIONS = 2048  # of a group: more would share little more, and need more registers than caches hold
MOST_LEAVES = 64  # numbers and constants of a group: each has a register to itself


class Program(NamedTuple):
    """Instructions for the kernels; expression k has `starts[k]:starts[k + 1]`."""

    starts: NDArray[np.int64]
    groups: NDArray[np.int64]
    """Group g is of the expressions `groups[g]:groups[g + 1]`, which share registers and are run together, in order."""
    opcodes: NDArray[np.int16]
    left: Operands
    right: Operands
    targets: Operands
    """Register of each instruction's result, never one of its operands'."""
    roots: Operands
    """Operand that is the value of each expression."""
    leaf_starts: NDArray[np.int64]
    """Group g fills its registers 0, 1, … with `leaf_values[leaf_starts[g]:leaf_starts[g + 1]]`."""
    leaf_values: NDArray[np.float64]
    is_free: NDArray[np.bool_]
    """True for each leaf that is a constant to be fitted."""
    n_copied: int
    """Number of columns that are copied into the registers behind the leaves; all or none."""
    n_registers: int
    """Number of registers of the group that needs most, at least 1."""


@lru_cache(maxsize=64)
def columns_by_token(library: SymbolLibrary) -> NDArray[np.int64]:
    """Return the column of each variable by token, -1 for all else."""
    is_variable = library.opcodes == Opcode.VARIABLE
    return np.where(is_variable, np.cumsum(is_variable) - 1, -1)


def plan(forest: Forest) -> Program:
    """Plan a forest, each expression on its own; no register is used twice, since gradients go back over all values."""
    from edhie.evaluate.machine.planning_kernels import instructions

    library, columns = forest.library, columns_by_token(forest.library)
    parts = instructions(
        forest.tokens, forest.offsets, forest.values, forest.value_offsets, library.arities, library.opcodes,
        library.literal_values, library.has_slot, library.opcodes == Opcode.CONSTANT, columns,
    )  # fmt: skip
    return Program(*parts)


def plan_shared(forest: Forest, *, group: int = MOST_EXPRESSIONS) -> Program:
    """Plan a forest in groups of at most `group` neighbours, in which equal subtrees are computed once."""
    from edhie.evaluate.machine.planning_kernels import group_starts, shared_instructions

    library, columns = forest.library, columns_by_token(forest.library)
    groups = group_starts(forest.tokens, forest.offsets, library.is_number, min(group, MOST_EXPRESSIONS), MOST_LEAVES)
    parts = shared_instructions(
        forest.tokens, forest.offsets, forest.values, forest.value_offsets, library.arities, library.opcodes,
        library.literal_values, library.has_slot, columns, len(library.variables), groups,
    )  # fmt: skip
    return Program(*parts)
