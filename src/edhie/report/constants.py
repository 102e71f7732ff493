"""The fitted constants of an equation, and how well the data determine them."""

from __future__ import annotations

import math

from edhie.evaluate.constants.uncertainty import Uncertainty
from edhie.fit import Equation
from edhie.report.fragments import Html, fill, joined
from edhie.report.mathematics import with_letters
from edhie.report.numbers import number

DIGITS, MOST_DIGITS = 4, 12  # of a constant


def constants_table(equation: Equation) -> Html:
    """Return the constants with standard errors, under the equation with letters in their places."""
    if not equation.printed.constants:
        return fill("no-constants")
    found = equation.uncertainty
    letter = equation.expr.library.constant
    rows = [
        fill(
            "constant",
            letter=letter,
            number=k + 1,
            value=number(float(found.values[k]), _digits(found, k)),
            error=Html("given") if k in found.held else _error(float(found.standard_errors[k])),
            interval=Html("") if k in found.held else _interval(found, k),
        )
        for k in range(len(found.values))
    ]
    return fill("constants", letters=with_letters(equation), rows=joined(rows), note=_note(equation))


def _error(value: float) -> Html:
    return number(value, 2, padded=True) if math.isfinite(value) else Html("not determined")


def _interval(found: Uncertainty, k: int) -> Html:
    lower, upper = float(found.lower[k]), float(found.upper[k])
    if not math.isfinite(lower + upper):
        return Html("")
    return fill("interval", lower=number(lower, _digits(found, k)), upper=number(upper, _digits(found, k)))


def _digits(found: Uncertainty, k: int) -> int:
    """Return as many digits of a constant as go with two of its standard error."""
    value, error = abs(float(found.values[k])), float(found.standard_errors[k])
    if not (value > 0.0 and 0.0 < error < math.inf):
        return DIGITS
    return min(max(DIGITS, math.floor(math.log10(value)) - math.floor(math.log10(error)) + 2), MOST_DIGITS)


def _note(equation: Equation) -> Html:
    found = equation.uncertainty
    if found.degrees_of_freedom < 1:
        return fill("note", text="There are no more rows than constants, so nothing is known of the errors.")
    if found.unidentified:
        letter = equation.expr.library.constant
        groups = "; ".join(" and ".join(f"{letter}{k + 1}" for k in group) for group in found.unidentified)
        given = "; the errors are those of the others with what is given" if found.held else ""
        return fill("note", text=f"The data do not determine {groups}: other values fit as well{given}.")
    return Html("")
