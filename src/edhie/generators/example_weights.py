"""How much each expression of a corpus counts while a model learns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError


def check_weights(weights: NDArray[np.float64], n: int) -> None:
    """Raise unless these are the weights of n expressions."""
    if weights.shape != (n,) or not np.isfinite(weights).all() or np.any(weights < 0) or not np.any(weights):
        raise GeneratorError(f"weights must be {n} numbers, all finite, none negative, not all zero")


def in_single_precision(weights: NDArray[np.float64]) -> NDArray[np.float32]:
    """Those learnt from, of any magnitude: only their ratios matter, which a power of two leaves exact."""
    if not weights.any():
        raise GeneratorError("all expressions with a weight above 0 were kept aside; lower `validation`")
    return np.ldexp(weights, -int(np.frexp(weights.max())[1])).astype(np.float32)
