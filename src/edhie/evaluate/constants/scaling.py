"""Linear scaling: a + b·f instead of f, with a and b fitted."""

from __future__ import annotations

import numpy as np

from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import OPERATORS


def scaled_library(library: SymbolLibrary) -> SymbolLibrary:
    """The library with what a + b·f needs: a sum, a product and a constant to fit."""
    wider = library.extended(OPERATORS["+"], OPERATORS["*"])
    if wider.constant is not None:
        return wider
    operators = [symbol for symbol in wider.symbols if symbol.kind == "operator"]
    return wider.extended(SymbolLibrary.of(operators, wider.variables, constant=True).symbols[-1])


def scaled(forest: Forest, library: SymbolLibrary | None = None) -> Forest:
    """Each expression f as c + c·f, over `library` (by default the forest's, with what is missing).

    >>> from edhie.expr import parse
    >>> str(scaled(Forest.from_exprs([parse("sin(x0)")]))[0])
    'c + c*sin(x0)'
    """
    library = scaled_library(forest.library) if library is None else library
    forest = forest.cast(library)
    constant = library.constant
    assert constant is not None
    head = np.array([library.ids[name] for name in ("+", constant, "*", constant)], forest.tokens.dtype)
    starts = forest.offsets[:-1]
    tokens = np.insert(forest.tokens, np.repeat(starts, len(head)), np.tile(head, len(forest)))
    offsets = forest.offsets + len(head) * np.arange(len(forest) + 1)
    values = np.insert(forest.values, np.repeat(forest.value_offsets[:-1], 2), np.nan)
    return Forest(library, tokens, offsets, values)
