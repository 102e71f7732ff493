"""NumPy functions for the symbols that NumPy has no ufunc for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.floating[Any]]


def power3(a: ArrayLike) -> Values:
    """a³ by multiplication, which rounds less than a general power."""
    a = np.asarray(a)
    result: Values = a * a * a
    return result


def power4(a: ArrayLike) -> Values:
    """a⁴ as the square of a square."""
    return np.square(np.square(a))


def power5(a: ArrayLike) -> Values:
    """a⁵ as a⁴ times a."""
    a = np.asarray(a)
    result: Values = np.square(np.square(a)) * a
    return result
