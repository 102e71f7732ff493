"""Expressions as they are printed and exported."""

from __future__ import annotations

from edhie.evaluate.constants.cancellation import CANCELLING, cancellation
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest
from edhie.expr.plain import named_numbers, short_form

SAME = 1e-9  # the share by which a sum of squares may change
ROUNDING = 1e-24  # of the target's squares: less is as good as nothing


def printed(expr: Expr, data: Data, *, keeps_form: bool = False) -> Expr:
    """Write an expression in its shortest form, with names for numbers that have one.

    The sum of squares on the data stays the same but for rounding. Numbers that the form takes are no constants:
    the library has them beside its own symbols.
    """
    if keeps_form or None in expr.constants:
        return expr
    short = short_form(expr.cast(expr.library.with_numbers()))
    forms = [named_numbers(each) for each in ((expr,) if short == expr else (short, expr))]
    before, *after = (float(squared_errors(Forest.from_exprs([each]), data)[0]) for each in (expr, *forms))
    slack = SAME * before + ROUNDING * data.squares_to_explain
    steady = max(CANCELLING, cancellation(expr, data))
    same = (error == before or abs(error - before) <= slack for error in after)
    fitting = (form for form, is_same in zip(forms, same, strict=True) if is_same)
    return next((form for form in fitting if cancellation(form, data) <= steady), expr)
