from __future__ import annotations

import math

import numpy as np
import pytest

from edhie.errors import ParseError
from edhie.evaluate import Data
from edhie.expr import SymbolLibrary, parse
from edhie.search.revision import formula_over, refitted
from edhie.search.revision.formula import folded, nearest

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "neg", "exp", "log", "^2"], 2, constant=True)


def test_numbers_are_constants_with_a_value() -> None:
    expr = formula_over("2*x0*exp(-0.5*x1) + c", LIBRARY)
    assert (str(expr.free()), expr.constants) == ("c*x0*exp(c*x1) + c", (2.0, -0.5, None))
    assert formula_over("x0 + x0^2", SymbolLibrary.of(["+", "^2"], 1)).constants == ()
    with pytest.raises(ParseError, match="the function 'sinh' is not in the library"):
        formula_over("sinh(x0)", LIBRARY)


def test_constants_that_stand_together_are_one() -> None:
    expr = folded(parse("x*(c + c)*exp(-c)").with_constants([1.0, 2.0, 0.0]))
    assert (str(expr.free()), expr.constants) == ("x*c*c", (3.0, 1.0))


def test_a_formula_is_fitted_from_its_own_values_and_from_others() -> None:
    x = np.random.default_rng(0).uniform(0.5, 3, (2, 60))
    data = Data(x, 3 * x[0] * np.exp(-0.4 * x[1]), None, ("x0", "x1"))
    for text in ("c*x0*exp(-c*x1)", "1e5*x0*exp(-0.1*x1)", "2*x0*exp(c*x1)"):
        expr, left = refitted(formula_over(text, LIBRARY), data)
        assert left == pytest.approx(0, abs=1e-16)
        assert expr.constants == pytest.approx((3, -0.4))
    without = formula_over("x0*exp(-x1)", LIBRARY)
    assert refitted(without, data)[0] == without


def test_a_formula_that_has_no_value_somewhere() -> None:
    data = Data(np.linspace(-1, 1, 20)[np.newaxis], np.linspace(1, 2, 20), None, ("x0",))
    expr, left = refitted(parse("c*log(x0)", SymbolLibrary.of(["*", "log"], 1, constant=True)), data)
    assert (expr.constants, left) == ((1.0,), math.inf)


@pytest.mark.parametrize(
    ("text", "symbols", "written"),
    [
        ("c*x0*exp(-c*x1)", ["*", "exp"], "x0*exp(x1)"),
        ("x0 - sinh(x1)", ["+", "sin"], "x0 + x1"),
        ("x0^3/x1", ["*"], "x0*x0*x0*x1"),
        ("sqrt(x0) + 2", ["+", "sqrt"], "sqrt(x0)"),
        ("c + 2", ["+"], None),
        ("z*x0", ["*"], "x0"),
    ],
)
def test_what_cannot_be_written_is_written_as_near_as_can_be(
    text: str, symbols: list[str], written: str | None
) -> None:
    found = nearest(parse(text), SymbolLibrary.of(symbols, 2))
    assert (None if found is None else str(found)) == written
