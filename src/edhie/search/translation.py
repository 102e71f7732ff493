"""Forests from one library to another, by a table of tokens where that is enough."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.expr.soundness import role


def translated(forest: Forest, library: SymbolLibrary) -> Forest:
    """Return the same expressions over another library; an error names a symbol that it lacks."""
    if forest.library is library or forest.library == library:
        return forest
    table = token_table(forest.library, library)
    if forest.library.has_numbers or (len(forest.tokens) and int(table[forest.tokens].min()) < 0):
        return forest.cast(library)  # expression by expression: numbers may be literals there, and errors are told
    return replace(forest, library=library, tokens=table[forest.tokens])


def recoded(forest: Forest, table: NDArray[np.integer], library: SymbolLibrary) -> Forest:
    """Return the expressions with the tokens that a table gives, over another library.

    Expressions with a token for which the table has -1 are left out.
    """
    is_known = np.bincount(forest.owners[table[forest.tokens] < 0], minlength=len(forest)) == 0
    whole = forest.take(np.flatnonzero(is_known))
    return replace(whole, library=library, tokens=table[whole.tokens].astype(np.int16))


@lru_cache(maxsize=16)
def token_table(source: SymbolLibrary, target: SymbolLibrary) -> NDArray[np.int16]:
    """Return, by token of one library, that of another; -1 where it has none."""
    table = np.full(len(source), -1, np.int16)
    for token, symbol in enumerate(source.symbols):
        name = target.constant if symbol.kind == "constant" and target.constant else symbol.name
        found = target.ids.get(name)
        if found is not None and role(target.symbols[found]) == role(symbol):
            table[token] = found
    return table
