"""Parts whose sign the rows tell are written without absolute values; other values stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import parse
from edhie.expr.interpret import interpret
from edhie.finish import Facts, normal_form

COLUMNS = {"x": np.array([1.5, 2.0, 3.0]), "y": np.array([4.0, 5.0, 3.5]), "z": np.array([0.5, -1.0, 2.0])}
FACTS = Facts.of(COLUMNS, np.array(list(COLUMNS.values())))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abs(x - y)", "y - x"),
        ("sqrt((x - y)^2)", "y - x"),
        ("sqrt((x - y)^4)", "(y - x)^2"),
        ("abs(x*y)", "x*y"),
        ("abs(x)*abs(z)", "x*abs(z)"),
        ("sqrt(z^2)", "abs(z)"),
        ("log(y^2)", "2*log(y)"),
        ("log(z^2)", "2*log(abs(z))"),
        ("sqrt(x)*sqrt(y)", "sqrt(x*y)"),
    ],
)
def test_signs_are_those_of_the_rows(text: str, expected: str) -> None:
    expr = parse(text, variables=["x", "y", "z"])
    found = normal_form(expr, FACTS)
    assert str(found) == expected
    np.testing.assert_allclose(interpret(found, COLUMNS), interpret(expr, COLUMNS), rtol=1e-12)
