"""Numbers as text: one spelling for each value, so that tokens compare as strings."""

from __future__ import annotations

import math
import re

NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def is_numeral(text: str) -> bool:
    """Whether `text` spells a number, sign included."""
    return NUMERAL.fullmatch(text) is not None


def numeral(value: float) -> str:
    """The shortest text that reads back as `value`.

    >>> numeral(3.0), numeral(0.1), numeral(-2.5e-8)
    ('3', '0.1', '-2.5e-08')
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that an expression can hold")
    if value == int(value) and abs(value) < 1e16:
        return str(int(value))
    return repr(float(value))
