"""Numbers and equations in the few letters that a picture or a page has room for."""

from __future__ import annotations

import math

from edhie.errors import shortened
from edhie.fit import Equation
from edhie.safe_text import printable

NEARLY_ONE = 1e-4  # nearer to 1 than this, the distance from 1 is shown
ROUNDING = 1e-12


def equation_text(equation: Equation, width: int = 64) -> str:
    """Return target and right-hand side in one line, both shortened if long."""
    return f"{one_line(equation.target, max(12, width // 2))} = {right_side(equation, width)}"


def right_side(equation: Equation, width: int = 64) -> str:
    """Return the right-hand side, shortened if long."""
    return shortened(equation.right_side(), width)


def one_line(name: str, width: int = 48) -> str:
    """Return a column's name without line breaks and control characters, shortened if long."""
    return shortened(printable(" ".join(name.split())), width)


def r2_text(r2: float | None) -> str:
    """Return R² with as many digits as distinguish it from 1.

    >>> r2_text(0.91234), r2_text(0.99912), r2_text(1 - 3e-9), r2_text(1.0), r2_text(-math.inf)
    ('0.912', '0.99912', '1 − 3e-09', '1', '−∞')
    """
    if r2 is None:
        return ""
    if not math.isfinite(r2):
        return "−∞"
    short = 1.0 - r2
    if short < ROUNDING:
        return "1"
    if short < NEARLY_ONE:
        return f"1 − {short:.1g}"
    decimals = max(3, 1 - math.floor(math.log10(short)))
    return f"{r2:.{decimals}f}".replace("-", "−")
