"""How much the divergence weighs in the loss, by iteration.

The paper prints λ_i = 0.5·(tanh((i - 4500)/2) + 1) for the first 1,800 iterations, constant
afterwards. As printed that is 0 to machine precision: a plain autoencoder. With a divisor of 1000
it is the gentle rise that the text describes, up to 0.0045.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

ScheduleName = Literal["printed", "ramp", "linear", "constant", "cyclical"]
PAPER_ITERATIONS = 1800
PAPER_MIDDLE = 4500


def _annealed(iteration: int, divisor: float) -> float:
    at = min(iteration, PAPER_ITERATIONS)
    return 0.5 * (math.tanh((at - PAPER_MIDDLE) / divisor) + 1)


def printed(iteration: int, total: int, top: float) -> float:
    """The paper's, to the letter; `top` has no say."""
    return _annealed(iteration, 2.0)


def ramp(iteration: int, total: int, top: float) -> float:
    """The paper's as it is meant, scaled to end at `top`."""
    return top * _annealed(iteration, 1000.0) / _annealed(PAPER_ITERATIONS, 1000.0)


def linear(iteration: int, total: int, top: float) -> float:
    """From 0 to `top` over the first half, then constant."""
    return top * min(1.0, 2 * iteration / max(total, 1))


def constant(iteration: int, total: int, top: float) -> float:
    """Always `top`."""
    return top


def cyclical(iteration: int, total: int, top: float) -> float:
    """Four times from 0 to `top` over half a cycle, then constant for the other half."""
    period = max(total / 4, 1.0)
    return top * min(1.0, 2 * (iteration % period) / period)


SCHEDULES: dict[str, Callable[[int, int, float], float]] = {
    "printed": printed,
    "ramp": ramp,
    "linear": linear,
    "constant": constant,
    "cyclical": cyclical,
}
