"""What data can speak against: an expression with as many constants as there are rows fits whatever they say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.evaluate.data import Data
from edhie.expr import Forest


def is_testable(forest: Forest, data: Data) -> NDArray[np.bool_]:
    """By expression: whether it has fewer constants than there are rows that count; without constants it always is."""
    n_rows = data.n_rows if data.weights is None else int(np.count_nonzero(data.weights))
    counts = constant_counts(forest)
    return np.asarray((counts == 0) | (counts < n_rows))


def constant_counts(forest: Forest) -> NDArray[np.int64]:
    """By expression: how many constants it has that are fitted.

    >>> from edhie.expr import parse
    >>> constant_counts(Forest.from_exprs([parse("c*x0 + 2 - c")])).tolist()
    [2]
    """
    before = np.concatenate([[0], np.cumsum(constants_among_values(forest))])
    return np.asarray(np.diff(before[forest.value_offsets]), np.int64)
