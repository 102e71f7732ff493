"""Numbers for JSON, and samples of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 1500  # that a chart shows


def finite(value: Any) -> float | None:
    """Return a number, or None where it is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def finites(values: Any) -> list[float | None]:
    """Return numbers, with None for those that are not finite."""
    return [each if math.isfinite(each) else None for each in np.asarray(values, np.float64).tolist()]


def some_rows(count: int, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """Return the rows that a chart shows: all, or a sample that is the same each time."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
