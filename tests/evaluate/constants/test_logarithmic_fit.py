"""Fits of the target's logarithm: closed forms for products, powers and exponentials."""

from __future__ import annotations

import numpy as np
import pytest

from classics import SPACINGS, Spacing, arrhenius
from edhie.evaluate import FitConfig, read_data
from edhie.evaluate.constants.logarithmic_fit import logarithm, logarithmic_fit
from edhie.expr import SymbolLibrary, parse

X = np.linspace(0.5, 4, 30)
LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^", "^2", "sqrt", "neg", "exp", "sin"], ["x"], constant=True)


@pytest.mark.parametrize(
    ("text", "taken", "is_factor"),
    [
        ("c*exp(c/x)", "c + c/x", [True, False]),
        ("c*x^c", "c + log(x)*c", [True, False]),
        ("(c*x)^c/c", "(c + log(x))*c - c", [True, False, True]),
        ("sqrt(c/x^2)", "0.5*(c - 2*log(x))", [True]),
        ("-c*sin(c*x)", "c + log(sin(c*x))", [True, False]),
        ("c*x + c", "log(c*x + c)", [False, False]),
    ],
)
def test_products_become_sums(text: str, taken: str, is_factor: list[bool]) -> None:
    found, are_factors = logarithm(parse(text, LIBRARY))
    assert (str(found), are_factors) == (taken, is_factor)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("text", "constants"), [("c*exp(c*x)", (2e-5, 3.1)), ("c*x^c", (4e7, -2.2))])
def test_constants_of_an_exact_law_are_found(text: str, constants: tuple[float, float], sign: float) -> None:
    expr = parse(text, LIBRARY).with_constants([sign * constants[0], constants[1]])
    found = logarithmic_fit(parse(text, LIBRARY), read_data(X, np.asarray(expr(x=X)), names=["x"]))
    assert found is not None
    np.testing.assert_allclose(np.array(found.constants, float), np.array(expr.constants, float), rtol=1e-8)


@pytest.mark.parametrize("spacing", SPACINGS)
def test_arrhenius(spacing: Spacing) -> None:
    classic = arrhenius(0, spacing)
    found = logarithmic_fit(parse("c*exp(c/T)", variables=["T"]), read_data(classic.X, classic.y, names=["T"]))
    assert found is not None
    slope, level = np.polyfit(1 / classic.x, np.log(classic.y), 1)
    np.testing.assert_allclose(np.array(found.constants, float), [np.exp(level), slope], rtol=1e-6)


def test_there_is_none() -> None:
    law, positive = parse("c*exp(c*x)", LIBRARY), read_data(X, X**2, names=["x"])
    assert logarithmic_fit(law, positive) is not None
    for y in (X - 1, X - X[0]):  # of both signs, with a 0
        assert logarithmic_fit(law, read_data(X, y, names=["x"])) is None
    assert logarithmic_fit(parse("exp(c*x)", LIBRARY), read_data(X, -X, names=["x"])) is None
    assert logarithmic_fit(parse("sin(x)", LIBRARY), positive) is None
    assert logarithmic_fit(law, positive, FitConfig(lower=-1e-3, upper=1e-3)) is None
