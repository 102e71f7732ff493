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


class SymbolTables(NamedTuple):
    """Properties of a library's symbols, by token."""

    columns: NDArray[np.int64]
    """The column of a variable, -1 for all else."""
    is_constant: NDArray[np.bool_]
    is_leaf: NDArray[np.bool_]
    """True for leaves that are no variables."""
    is_custom: NDArray[np.bool_]


@lru_cache(maxsize=64)
def symbol_tables(library: SymbolLibrary) -> SymbolTables:
    """Return the tables of a library, made once."""
    columns = np.full(len(library), -1, np.int64)
    columns[[library.ids[name] for name in library.variables]] = np.arange(len(library.variables))
    is_constant = np.array([symbol.kind == "constant" for symbol in library.symbols], np.bool_)
    is_custom = np.array([symbol.is_custom for symbol in library.symbols], np.bool_)
    return SymbolTables(columns, is_constant, (library.arities == 0) & (columns < 0), is_custom)


def plan(forest: Forest) -> Program:
    """Plan a forest, each expression on its own; no register is used twice, since gradients go back over all values."""
    from edhie.evaluate.machine.planning_kernels import instructions

    library, tables = forest.library, symbol_tables(forest.library)
    parts = instructions(
        forest.tokens, forest.offsets, forest.values, forest.value_offsets, library.arities, library.opcodes,
        library.literal_values, library.has_slot, tables.is_constant, tables.columns,
    )  # fmt: skip
    return Program(*parts)


def plan_shared(forest: Forest, *, group: int = MOST_EXPRESSIONS) -> Program:
    """Plan a forest in groups of at most `group` neighbours, in which equal subtrees are computed once."""
    from edhie.evaluate.machine.planning_kernels import group_starts, shared_instructions

    library, tables = forest.library, symbol_tables(forest.library)
    groups = group_starts(forest.tokens, forest.offsets, tables.is_leaf, min(group, MOST_EXPRESSIONS), MOST_LEAVES)
    parts = shared_instructions(
        forest.tokens, forest.offsets, forest.values, forest.value_offsets, library.arities, library.opcodes,
        library.literal_values, library.has_slot, tables.columns, len(library.variables), groups,
    )  # fmt: skip
    return Program(*parts)
