"""Array types, and small functions on forests that searches share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
LARGEST_VALUE = 1e150  # of a piece or a column, so that its square is finite


def unfitted(forest: Forest) -> Forest:
    """Return the expressions with unfitted constants, so that those of the same structure are equal."""
    return replace(forest, values=np.full(len(forest.values), np.nan))


def with_missing(forest: Forest, value: float) -> Forest:
    """Return the expressions with this value for unfitted constants."""
    return replace(forest, values=np.where(np.isnan(forest.values), value, forest.values))


def root_weights(data: Data) -> Numbers:
    """Return the square roots of the rows' weights."""
    return np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)


def recoded(forest: Forest, table: NDArray[np.integer], library: SymbolLibrary) -> Forest:
    """Return the expressions over another library; `table` has the new token of each token.

    Expressions with a token whose entry is -1 are left out.
    """
    is_known = np.bincount(forest.owners[table[forest.tokens] < 0], minlength=len(forest)) == 0
    whole = forest.take(is_known)
    return replace(whole, library=library, tokens=table[whole.tokens].astype(np.int16))


def one_of_each(forest: Forest, order: Indices) -> Indices:
    """Return the indices in `order`, only the first of each structure."""
    _, first = np.unique(unfitted(forest).grouped()[1][order], return_index=True)
    return order[np.sort(first)]


def has_missing(forest: Forest) -> Mask:
    """Return, by expression, whether it has an unfitted constant."""
    owners = np.searchsorted(forest.value_offsets, np.flatnonzero(np.isnan(forest.values)), side="right") - 1
    return np.asarray(np.bincount(owners, minlength=len(forest)) > 0)
