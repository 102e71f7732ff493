"""A compiled loop over the nodes of a forest: which of them stand where they may not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Mask = NDArray[np.bool_]


@jit
def keeps_to(
    banned: Mask,
    is_key: Mask,
    tokens: NDArray[np.int16],
    offsets: NDArray[np.int64],
    subtree_sizes: NDArray[np.int32],
) -> Mask:
    """By expression: whether within no operand of a there is a b with `banned[a, b]`; `is_key[a]`: if there are any."""
    found = np.ones(len(offsets) - 1, np.bool_)
    for k in range(len(found)):
        for i in range(offsets[k], offsets[k + 1]):
            if not is_key[tokens[i]]:
                continue
            for j in range(i + 1, i + subtree_sizes[i]):  # a subtree is a range of the prefix order
                if banned[tokens[i], tokens[j]]:
                    found[k] = False
                    break
            if not found[k]:
                break
    return found
