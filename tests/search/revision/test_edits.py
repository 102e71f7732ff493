from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr import standard_libraries as standard
from edhie.expr.difference import distance
from edhie.search.revision.edits import Edits, pieces_of, with_scales

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^", "neg", "^2", "sqrt", "exp", "sin", "log"], 2, constant=True)
FORMULA = parse("c*x0*exp(c*x1)", LIBRARY).with_constants([2.0, -0.5])


def texts(forest: Forest) -> set[str]:
    return {str(expr.free()) for expr in forest}


@pytest.mark.parametrize(
    "revised",
    [
        "c*x0*exp(c*x1) + c",  # a leaf added at the top
        "c*x0^2*exp(c*x1)",  # an operator over a leaf
        "c*x1*exp(c*x1)",  # a leaf replaced
        "c*x0*sin(c*x1)",  # an operator replaced
        "c*x0*exp(c + x1)",
        "c*x0*exp(x1)",  # an operator deleted
        "c*x0*(c*x1)",
        "sqrt(c*x0*exp(c*x1))",
        "c^(c*x0)*exp(c*x1)",
        "c*x0*c",  # a part by a constant
    ],
)
def test_one_symbol_more_less_or_other(revised: str) -> None:
    assert revised in texts(Edits(LIBRARY).near(FORMULA))


@pytest.mark.parametrize(
    "revised", ["c*x0*exp(c*x1) + c*x1^2", "c*x0*(x0*x1)*exp(c*x1)", "c*x0*exp(c*x1 + c*sin(c*x0))", "c*x0*x1", "x0/x1"]
)
def test_small_pieces(revised: str) -> None:
    assert revised in texts(Edits(LIBRARY).further(FORMULA))


def test_what_is_near_is_one_change_away() -> None:
    found = Edits(LIBRARY).near(FORMULA)
    chosen = np.random.default_rng(0).choice(len(found), 60, replace=False)
    for expr in found.take(np.sort(chosen)):
        assert distance(FORMULA, expr) <= FORMULA.size


def test_values_stay_and_new_constants_have_none() -> None:
    for expr in Edits(LIBRARY).near(FORMULA):
        if str(expr.free()) == "c*x0*exp(c*x1) + c":
            assert expr.constants == (2.0, -0.5, None)


@pytest.mark.parametrize(
    "library", [standard.nguyen(1), SymbolLibrary.of([], ["x"]), SymbolLibrary.of(["sin"], 9, constant=True)]
)
def test_any_library_will_do(library: SymbolLibrary) -> None:
    edits, expr = Edits(library), Expr(library, [library.variables[0]])
    for forest in (edits.near(expr), edits.further(expr), pieces_of(library)):
        Forest.checked(library, forest.tokens, forest.offsets, forest.values)
    assert with_scales(expr) == []


def test_a_formula_without_constants_gets_some() -> None:
    found = [str(expr) for expr in with_scales(parse("x0*exp(-x1)", LIBRARY))]
    assert "c*(x0*exp(c*(-x1))) + c" in found
    assert "c*(x0*exp(-x1))" in found
