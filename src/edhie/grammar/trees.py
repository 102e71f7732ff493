"""A forest as a grammar's kernels see it: in the grammar's own tokens, whatever library it came in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.forest import Forest
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.symbols import NUMBER
from edhie.grammar.layouts import Floats, Trees


def trees_of(forest: Forest, library: SymbolLibrary) -> Trees:
    """The forest's trees over the grammar's library; unlike a cast, unknown symbols are let through."""
    numbers = np.full(len(forest.tokens), np.nan)
    numbers[forest.library.has_slot[forest.tokens]] = forest.values
    tokens = forest.tokens
    if forest.library != library:
        tokens, numbers = _translated(forest, numbers, library)
    return Trees(tokens, numbers, forest.left, forest.right, forest.offsets)


def _translated(forest: Forest, numbers: Floats, library: SymbolLibrary) -> tuple[NDArray[np.int16], Floats]:
    unknown = len(library)
    table = np.full(len(forest.library), unknown, np.int16)
    for old, symbol in enumerate(forest.library.symbols):
        name = library.constant if symbol.kind == "constant" else symbol.name
        new = library.ids.get(name) if name is not None else None
        if new is not None and library.symbols[new].arity == symbol.arity:
            table[old] = new
        elif is_numeral(symbol.name) and library.has_numbers:
            table[old] = library.ids[NUMBER.name]
            numbers = np.where(forest.tokens == old, float(symbol.name), numbers)
    tokens = table[forest.tokens]
    if forest.library.has_numbers:  # a number of theirs may be a literal of ours
        at = np.flatnonzero(forest.tokens == forest.library.ids[NUMBER.name])
        values, which = np.unique(numbers[at], return_inverse=True)
        ids = [library.ids.get(numeral(value), library.ids.get(NUMBER.name, unknown)) for value in values.tolist()]
        tokens[at] = np.array(ids, np.int16)[which]
    return tokens, numbers
