from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr import standard_libraries as standard
from edhie.expr.difference import distance
from edhie.search.revision.edits import (
    BESIDE,
    OF_A_CONSTANT,
    OF_A_VARIABLE,
    OF_ANY_PART,
    Edits,
    patterns,
    pieces_of,
    with_scales,
)
from edhie.search.revision.revisions import STAGES
from strategies import exprs

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


@pytest.mark.parametrize(
    "revised",
    [
        "c*x0*exp(c*x1)/(c*x0*exp(c*x1) + c)",  # saturation
        "c*x0*exp(c*x1)*exp(c*x0)",
        "c*(x0/(x0 + c))*exp(c*x1)",
        "c*x0*exp(c*x1) + c*x0",
        "(c*x1 + c)*x0*exp(c*x1)",  # a constant that depends on a variable
        "c*x0*exp(x0*x1)",  # and one that is a variable
        "c*(x0 - x1)*exp(c*x1)",
        "c*exp(c*x1)",  # one part less
        "c/(x0 + c)*exp(c*x1)",  # one constant for another
        "c*x0*(exp(c*x1) - exp(c*x0))",  # the same of another variable
    ],
)
def test_what_textbooks_do(revised: str) -> None:
    assert revised in texts(Edits(LIBRARY).textbook(FORMULA))


@settings(max_examples=60)
@given(exprs(max_symbols=9), st.booleans())
def test_every_edit_of_every_tree_is_a_tree(expr: Expr, is_rare: bool) -> None:
    library = expr.library
    often = np.arange(len(library), dtype=np.float64) ** 3 if is_rare else np.ones(len(library))
    edits = Edits(library, often)
    assert len(edits.stages) == STAGES
    for stage in edits.stages:
        found = stage(expr)
        Forest.checked(library, found.tokens, found.offsets, found.values)


def test_what_is_rare_comes_last_and_comes() -> None:
    often = np.array([0.0 if name in ("sin", "log") else 1.0 for name in LIBRARY.names])
    edits = Edits(LIBRARY, often)
    tokens = LIBRARY.ids["sin"], LIBRARY.ids["log"]
    assert not np.isin(edits.near(FORMULA).tokens, tokens).any()
    assert {"c*x0*sin(c*x1)", "sin(c*x0*exp(c*x1))"} <= texts(edits.strange(FORMULA))
    assert set(texts(Edits(LIBRARY).near(FORMULA))) <= texts(edits.near(FORMULA)) | texts(edits.strange(FORMULA))


def test_patterns_are_written_with_a_library_s_own_names() -> None:
    library = SymbolLibrary.of(["+", "*"], ["s", "c", "exp"], constant=True)
    found = set(patterns(("s + c*x", "exp(s)", "x*y"), library))
    constant = library.constant
    assert ("+", None, "*", constant, "s") in found
    assert ("*", "c", "exp") in found
    assert not any(symbols[0] == "exp" for symbols in found)
    everywhere = SymbolLibrary.of(["+", "-", "*", "/", "^", "neg", "^2", "^3", "sqrt", "exp", "log", "sin", "cos"], 2)
    assert patterns(OF_ANY_PART, everywhere)
    assert not patterns(OF_A_CONSTANT[1:], everywhere)  # it has none
    for texts_ in (OF_ANY_PART, OF_A_CONSTANT, OF_A_VARIABLE, BESIDE):
        assert len(set(texts_)) == len(texts_)
