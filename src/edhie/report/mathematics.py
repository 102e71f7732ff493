"""Numbers and equations as HTML."""

from __future__ import annotations

import math

from edhie.expr.mathml import mathml_name, mathml_terms
from edhie.expr.symbols import is_name
from edhie.fit import Equation
from edhie.plots.words import one_line
from edhie.report.fragments import Html, fill

LONG = 24  # nodes from which on an equation is set in smaller type
TARGET = 24  # letters of a target that is not an identifier


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


def formula(equation: Equation) -> Html:
    """Return the whole equation with the digits needed; lines may break between the terms of a sum."""
    size = "long" if equation.expr.size > LONG else ""
    return fill("formula", size=size, terms=one_row(equation))


def one_row(equation: Equation, *, numbered: bool = False) -> Html:
    """Return the whole equation, if it is `numbered` with letters for its constants."""
    expr = equation.expr if numbered else equation.printed
    terms = mathml_terms(expr, number_format="r", numbered=numbered)
    name = equation.target if is_name(equation.target) else one_line(equation.target, TARGET)
    target = fill("equals", name=Html(mathml_name(name)))
    return Html(" ".join(fill("math", inside=Html(part)) for part in (target, *terms)))
