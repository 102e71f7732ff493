"""Forests from one library to another, by a table of tokens where that is all there is to it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.expr.soundness import role


def translated(forest: Forest, library: SymbolLibrary) -> Forest:
    """The same expressions over another library; an error names a symbol that it lacks."""
    if forest.library is library or forest.library == library:
        return forest
    table = _table(forest.library, library)
    if table is None or (len(forest.tokens) and int(table[forest.tokens].min()) < 0):
        return forest.cast(library)  # expression by expression: numbers may be literals there, and errors are told
    return Forest(library, table[forest.tokens], forest.offsets, forest.values)


@lru_cache(maxsize=16)
def _table(source: SymbolLibrary, target: SymbolLibrary) -> NDArray[np.int16] | None:
    """By token of one library, that of the other, -1 where it has none; None where numbers have to be looked at."""
    if source.has_numbers:
        return None
    table = np.full(len(source), -1, np.int16)
    for token, symbol in enumerate(source.symbols):
        name = target.constant if symbol.kind == "constant" and target.constant else symbol.name
        found = target.ids.get(name)
        if found is not None and role(target.symbols[found]) == role(symbol):
            table[token] = found
    return table
