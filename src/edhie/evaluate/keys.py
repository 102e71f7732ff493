"""Keys by which expressions are told apart: 128 bits of their tokens and values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest


def key_pairs(forest: Forest) -> NDArray[np.uint64]:
    """By expression two numbers, (expressions, 2): those of different tokens or values agree with a chance of 2^-128.

    Constants without a value are all the same, and 0 is -0, as in `Forest.grouped`.
    """
    from edhie.expr.forest_kernels import hashes

    bits = np.where(np.isnan(forest.values), np.nan, forest.values + 0.0).view(np.int64)
    other_tokens, other_bits = ~forest.tokens, bits ^ 0x5DEECE66D
    keys = np.empty((len(forest), 2), np.uint64)
    keys[:, 0] = hashes(forest.tokens, forest.offsets, bits, forest.value_offsets)
    keys[:, 1] = hashes(other_tokens, forest.offsets, other_bits, forest.value_offsets)
    return keys


def token_keys(forest: Forest) -> list[bytes]:
    """By expression the 16 bytes of `key_pairs`."""
    found: list[bytes] = key_pairs(forest).view("V16").ravel().tolist()
    return found
