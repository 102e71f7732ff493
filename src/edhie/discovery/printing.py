"""Expressions as they are printed and exported."""

from __future__ import annotations

from edhie.evaluate.constants.cancellation import CANCELLING, cancellation
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest
from edhie.expr.readable import named_numbers, short_form

SAME = 1e-9  # the share by which a sum of squares may change
ROUNDING = 1e-24  # of the target's squares: less is as good as nothing


def printed(expr: Expr, data: Data, *, keeps_form: bool = False) -> Expr:
    """Write an expression in its shortest form, with names for numbers that have one.

    The sum of squares on the data stays the same but for rounding; a form that needs positive values of variables that
    are positive in the data is taken if it is shorter. Numbers that the form takes are no constants:
    the library has them beside its own symbols.
    """
    if keeps_form or None in expr.constants:
        return expr
    forms = [named_numbers(each) for each in (*_short_forms(expr, data), expr)]
    before, *after = (float(squared_errors(Forest.from_exprs([each]), data)[0]) for each in (expr, *forms))
    slack = SAME * before + ROUNDING * data.squares_to_explain
    steady = max(CANCELLING, cancellation(expr, data))
    same = (error == before or abs(error - before) <= slack for error in after)
    fitting = (form for form, is_same in zip(forms, same, strict=True) if is_same)
    return next((form for form in fitting if cancellation(form, data) <= steady), expr)


def _short_forms(expr: Expr, data: Data) -> list[Expr]:
    """Short forms other than the expression itself, the shortest first."""
    numbered = expr.cast(expr.library.with_numbers())
    positive = [name for name, column in zip(data.names, data.columns, strict=True) if (column > 0).all()]
    wide, narrow = short_form(numbered), short_form(numbered, positive=positive)
    forms = [narrow, wide] if narrow.size < wide.size else [wide]
    return [each for each in forms if each != expr]
