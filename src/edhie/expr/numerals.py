"""Numbers as text: one text for each value, so that tokens compare as strings."""

from __future__ import annotations

import math
import re

from edhie.errors import SymbolError

NUMERAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def is_numeral(text: str) -> bool:
    """Return True for the text of a number, sign included."""
    return NUMERAL.fullmatch(text) is not None


def numeral(value: float) -> str:
    """Return the shortest text that reads back as `value`; 0 and -0 are one number.

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


def short_numeral(value: float) -> str:
    """Write a number with all of its digits, with a power of ten where that is shorter.

    >>> short_numeral(5.86834e11), short_numeral(100000.0), short_numeral(1250.0)
    ('5.86834e+11', '1e+05', '1250')
    """
    exact = numeral(value)
    if "e" in exact:
        return exact
    digits = len(exact.lstrip("-0.").replace(".", "").rstrip("0"))
    scientific = f"{float(value):.{max(digits - 1, 0)}e}"
    return scientific if len(scientific) < len(exact) else exact


def formatted(value: float, number_format: str = "") -> str:
    """Write a number in a Python format if that is shorter than all of its digits; "r" is `short_numeral`.

    >>> formatted(0.123456, ".3g"), formatted(12345.0, ".3g"), formatted(5.86834e11, "r")
    ('0.123', '12345', '5.86834e+11')
    """
    if number_format == "r":
        return short_numeral(value)
    exact, short = numeral(value), format(value, number_format)
    return short if number_format and len(short) < len(exact) else exact
