"""Numbers as text: one spelling for each value, so that tokens compare as strings."""

from __future__ import annotations

import math
import re

from edhie.errors import SymbolError

NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def is_numeral(text: str) -> bool:
    """Whether `text` spells a number, sign included."""
    return NUMERAL.fullmatch(text) is not None


def numeral(value: float) -> str:
    """The shortest text that reads back as `value`; 0 and -0 are one number.

    >>> numeral(3.0), numeral(0.1), numeral(-2.5e-8)
    ('3', '0.1', '-2.5e-08')
    """
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise SymbolError(f"{number} is not a number that an expression can hold; it must be finite, within ±1.8e308")
    if number == int(number) and abs(number) < 1e16:
        return str(int(number))
    return repr(number)
