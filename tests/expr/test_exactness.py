"""Which canonical forms prove that expressions are equal: those that cannot have rounded."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from edhie.expr import Expr, SymbolLibrary, parse
from edhie.expr.canonical import canonical_expr
from edhie.expr.equivalence import folds_exactly
from edhie.expr.standard_libraries import everything
from strategies import exprs

LIBRARY = everything(["x"])


@pytest.mark.parametrize("text", ["x", "x + x", "2*x/3", "x/4 + 0.5", "c*x^2 + sin(x)", "(x + 1)^2", "x^(-3)", "x^x"])
def test_few_short_numbers_fold_exactly(text: str) -> None:
    assert folds_exactly(parse(text, LIBRARY))


@pytest.mark.parametrize(
    "text",
    ["pi*x", "x + e", "sqrt(2)", "sin(1)*x", "2^0.5", "123456789*x", "0.1 + 0.2 + 0.3 + 0.7", "1e-20*x", "3^40",
     "(3*x)^9", "x^(2 + 1)", "max(1, 2)", "(1/3)^9 + x"],
)  # fmt: skip
def test_others_do_not(text: str) -> None:
    assert not folds_exactly(parse(text, LIBRARY))


def test_fitted_constants_count_by_their_digits() -> None:
    expr = parse("c*x", LIBRARY)
    assert folds_exactly(expr)
    assert folds_exactly(expr.with_constants([0.5]))
    assert not folds_exactly(expr.with_constants([0.123456]))


RATIONALS = SymbolLibrary.of(["+", "-", "*", "/", "neg", "^2"], [], literals=("1", "2", "3", "5", "7", "0.5", "0.2"))


@given(exprs(RATIONALS, max_symbols=8))
@settings(max_examples=300)
def test_what_folds_exactly_tells_rationals_apart(expr: Expr) -> None:
    """Two rationals that fold to the same double, exactly by our word, are the same rational."""
    assume(folds_exactly(expr))
    try:
        exact = _rational(expr)
    except ZeroDivisionError:
        return
    form = canonical_expr(expr)
    values = [Fraction(token) for token in form.tokens if token not in ("/", "neg")]
    if len(values) == 1:
        assert abs(values[0] - exact) <= Fraction(1, 2**33) * max(1, abs(exact))


def _rational(expr: Expr) -> Fraction:
    stack: list[Fraction] = []
    for token in reversed(expr.tokens):
        if token in ("+", "-", "*", "/"):
            a, b = stack.pop(), stack.pop()
            stack.append({"+": a + b, "-": a - b, "*": a * b}[token] if token != "/" else a / b)
        elif token in ("neg", "^2"):
            a = stack.pop()
            stack.append(-a if token == "neg" else a * a)
        else:
            stack.append(Fraction(token))
    return stack.pop()
