"""The complexity of expressions: the number of nodes, or the sum of their symbols' weights."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SymbolError, shortened, suggestion
from edhie.expr.forest import Forest
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import ALIASES, OPERATORS

Numbers = NDArray[np.float64 | np.int64]
MAX_WEIGHT = 1e9  # so that the whole weights of billions of nodes add up in 64 bits


def complexity(forest: Forest, weights: Mapping[str, float] | None = None) -> Numbers:
    """Return the complexity of each expression; symbols that `weights` does not name count 1.

    Whole weights give whole numbers.

    >>> from edhie.expr import Forest, SymbolLibrary, parse
    >>> library = SymbolLibrary.of(["*", "sin"], ["x"])
    >>> complexity(Forest.from_exprs([parse("x * sin(x)", library)]), {"sin": 3})
    array([6])
    """
    if not weights:
        return forest.sizes.astype(np.int64)
    by_token = symbol_weights(forest.library, weights)
    if len(forest) == 0:
        return np.zeros(0, by_token.dtype)
    return np.add.reduceat(by_token[forest.tokens], forest.offsets[:-1])


def symbol_weights(library: SymbolLibrary, weights: Mapping[str, float]) -> Numbers:
    """Return what each symbol of a library adds to the complexity of an expression.

    An operator that the library lacks may be named too, so that one table serves many libraries.
    """
    whole = all(isinstance(weight, Integral) for weight in weights.values())
    by_token: Numbers = np.ones(len(library), dtype=np.int64 if whole else np.float64)
    for given, weight in weights.items():
        if not isinstance(weight, int | float | np.integer | np.floating) or not 0 <= weight <= MAX_WEIGHT:
            what = f"the weight of {shortened(str(given))!r} is {shortened(repr(weight), 40)}"
            raise SymbolError(f"{what}; give a number from 0 to {MAX_WEIGHT:g}")
        name = given if given in library else ALIASES.get(given, given)
        if name in library:
            by_token[library.ids[name]] = weight
        elif name not in OPERATORS:
            known = (*library.readable_names, *OPERATORS)
            raise SymbolError(
                f"unknown symbol {shortened(str(given))!r} among the weights{suggestion(str(given), known)}"
            )
    return by_token
