"""Keys by which expressions are told apart: 128 bits of their tokens and values."""

from __future__ import annotations

import numpy as np

from edhie.expr import Forest


def token_keys(forest: Forest) -> list[bytes]:
    """By expression, 16 bytes that two of different tokens or values share with a chance of 2^-128.

    Constants without a value are all the same, and 0 is -0, as in `Forest.grouped`.
    """
    from edhie.expr.forest_kernels import hashes

    bits = np.where(np.isnan(forest.values), np.nan, forest.values + 0.0).view(np.int64)
    other_tokens, other_bits = ~forest.tokens, bits ^ 0x5DEECE66D
    keys = np.empty((len(forest), 2), np.uint64)
    keys[:, 0] = hashes(forest.tokens, forest.offsets, bits, forest.value_offsets)
    keys[:, 1] = hashes(other_tokens, forest.offsets, other_bits, forest.value_offsets)
    found: list[bytes] = keys.view("V16").ravel().tolist()
    return found
