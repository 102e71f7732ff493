"""What an evaluator knew before a search began, such as a user's guesses: the first pieces to look at."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.archive import Archive
from edhie.expr import Forest
from edhie.search.splicing import distinct_subtrees

BEST = 30  # expressions that are taken apart
MOST = 300  # pieces
SURROUNDED = 2  # expressions that frames are put around


def best_given(explored: Archive, n_given: int) -> Forest:
    """The few best of the first `n_given` expressions that were ever explored, no two of the same symbols."""
    given = np.flatnonzero((explored.ages < n_given) & np.isfinite(explored.errors))
    forest = explored.take(given[np.argsort(explored.errors[given], kind="stable")[:BEST]])
    plain = Forest(forest.library, forest.tokens, forest.offsets, np.zeros(len(forest.values)))
    return forest.take(plain.grouped()[0][:SURROUNDED])


def given_pieces(explored: Archive, n_given: int, largest: int) -> Forest:
    """The distinct parts of the best of the first `n_given` expressions that were ever explored, the smallest first."""
    given = np.flatnonzero((explored.ages < n_given) & np.isfinite(explored.errors))
    best = given[np.argsort(explored.errors[given], kind="stable")[:BEST]]
    parts = distinct_subtrees(explored.take(np.sort(best)), largest)
    return parts.take(np.arange(min(len(parts), MOST)))
