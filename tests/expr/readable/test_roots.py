"""Roots of squares are written without the square; one choice of signs has the same values."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import parse
from edhie.expr.interpret import interpret
from edhie.expr.readable import without_roots_of_squares

COLUMNS = {"x": np.array([1.5, 2.0, 3.0]), "y": np.array([4.0, 5.0, 3.5]), "z": np.array([0.5, 1.0, 2.0])}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqrt((x - y)^2*z)", "(y - x)*sqrt(z)"),
        ("sqrt((x - y)^2/z)*x", "(y - x)/sqrt(z)*x"),
        ("sqrt(z/(y - x)^2)", "sqrt(z)/(y - x)"),
        ("sqrt((x - y)^4)", "(x - y)^2"),
        ("sqrt((y - x)^2)", "y - x"),
    ],
)
def test_one_choice_of_signs_has_the_same_values(text: str, expected: str) -> None:
    expr = parse(text)
    same = [
        str(form)
        for form in without_roots_of_squares(expr)
        if np.allclose(interpret(form, COLUMNS), interpret(expr, COLUMNS), rtol=1e-12)
    ]
    assert same == [expected]
    assert all(form.size < expr.size + 2 for form in without_roots_of_squares(expr))


@pytest.mark.parametrize("text", ["sqrt(x*y)", "sqrt(x^2 + y^2)", "x^2", "sqrt(-x^2)", "sqrt(x^3)"])
def test_other_roots_stay(text: str) -> None:
    assert not list(without_roots_of_squares(parse(text)))
