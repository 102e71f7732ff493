"""Numbers as a page shows them."""

from __future__ import annotations

import math

from edhie.report.fragments import Html, fill


def number(value: float, digits: int = 4, *, padded: bool = False) -> Html:
    """Return a number with so many significant digits, `padded` with zeros; far from 1 with a power of ten."""
    if not math.isfinite(value):
        return Html("−∞" if value < 0 else "∞")
    text = f"{value:{'#' if padded and value else ''}.{digits}g}"
    mantissa, _, exponent = text.replace("-", "−").partition("e")
    mantissa = mantissa.rstrip(".")
    if not exponent:
        return Html(mantissa)
    return fill("power-of-ten", mantissa=mantissa, exponent=exponent.lstrip("+0").replace("−0", "−"))
