"""The paper's libraries, and that each of its grammars is written in one of them."""

import pytest

from edhie.expr import SymbolLibrary, parse
from edhie.expr import standard_libraries as standard
from edhie.expr.symbols import NAMED_LITERALS, OPERATORS
from edhie.grammar import load

ARITHMETIC = ["+", "-", "*", "/"]


@pytest.mark.parametrize(
    ("library", "operators", "has_constant"),
    [
        (standard.nguyen, [*ARITHMETIC, "^2", "^3", "^4", "^5", "sin", "cos", "exp", "log", "sqrt"], False),
        (standard.feynman, [*ARITHMETIC, "^2", "^3", "sin", "cos", "exp", "sqrt"], True),
        (standard.ae, [*ARITHMETIC, "^"], True),
        (standard.trig, [*ARITHMETIC, "^", "sin", "cos"], True),
    ],
)
def test_the_libraries_of_the_paper(library, operators, has_constant):
    for variables, names in ((1, ["x0"]), (2, ["x0", "x1"]), (["t", "v"], ["t", "v"])):
        assert list(library(variables).names) == operators + names + ["c"] * has_constant


@pytest.mark.parametrize(
    ("grammar", "library"),
    [
        ("ae", standard.ae()),
        ("trig", standard.trig()),
        ("nguyen-1", standard.nguyen(1)),
        ("nguyen-2", standard.nguyen(2)),
        ("feynman-1", standard.feynman(1)),
        ("feynman-2", standard.feynman(2)),
        ("gvae-ae", standard.ae()),
        ("gvae-trig", standard.trig()),
    ],
)
def test_the_grammars_of_the_paper_are_written_in_them(grammar: str, library: SymbolLibrary):
    assert set(load(grammar).library.names) <= set(library.names)


def test_everything_holds_every_symbol():
    library = standard.everything(["x"])
    assert set(library.names) == {*OPERATORS, *NAMED_LITERALS, "x", "c", "#"}
    assert parse("pi*x + 3.5e7*e", library).library is library
