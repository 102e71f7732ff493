"""Numbers and equations in the few letters that a picture or a page has room for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edhie.errors import shortened
from edhie.fit import Equation
from edhie.safe_text import printable

DIGITS, MOST_DIGITS = 4, 12  # of a constant
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


@dataclass(frozen=True)
class Constant:
    """A constant of an equation with its standard error and an interval, which are not finite if not determined."""

    number: int
    """Its place in the equation, from 1 on."""
    value: float
    error: float
    low: float
    high: float
    is_held: bool
    """True if it was given, and not fitted."""

    @property
    def digits(self) -> int:
        """As many digits as go with two of the standard error."""
        if not (self.value and 0.0 < self.error < math.inf):
            return DIGITS
        most = math.floor(math.log10(abs(self.value))) - math.floor(math.log10(self.error)) + 2
        return min(max(DIGITS, most), MOST_DIGITS)


def constants_of(equation: Equation) -> list[Constant]:
    """Return the constants of an equation, in the order of writing."""
    found = equation.uncertainty
    columns = (found.values, found.standard_errors, found.lower, found.upper)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        Constant(k + 1, value, error, low, high, k in found.held) for k, (value, error, low, high) in enumerate(rows)
    ]


def constants_note(equation: Equation) -> str:
    """Return what is to be known about the errors of the constants; empty if there is nothing."""
    found, letter = equation.uncertainty, equation.expr.library.constant
    if not len(found.values):
        return ""
    if found.degrees_of_freedom < 1:
        return "There are no more rows than constants, so nothing is known of the errors."
    if not found.unidentified:
        return ""
    groups = "; ".join(" and ".join(f"{letter}{k + 1}" for k in group) for group in found.unidentified)
    given = "; the errors are those of the others with what is given" if found.held else ""
    return f"The data do not determine {groups}: other values fit as well{given}."


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
