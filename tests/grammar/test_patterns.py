from __future__ import annotations

import pytest

from edhie.errors import GrammarError
from edhie.expr import SymbolLibrary, operator, to_prefix
from edhie.grammar import PCFG

TERMINALS = {"X": "x0", "Y": "x1", "A": "+", "M": "*", "P": "^2", "R": "sin", "N": "neg"}
LEAVES = "".join(f"\n{name} -> '{terminal}' [1.0]" for name, terminal in TERMINALS.items())

READINGS = [
    ("X '+' Y '*' X", "+ x0 * x1 x0"),
    ("X '-' Y '-' X", "- - x0 x1 x0"),
    ("X '^' Y '^' X", "^ x0 ^ x1 x0"),
    ("'(' X '+' Y ')' '*' X", "* + x0 x1 x0"),
    ("'(' '(' X ')' ')'", "x0"),
    ("X A Y M X", "+ x0 * x1 x0"),
    ("X A Y P", "+ x0 ^2 x1"),
    ("'(' X A Y ')' P", "^2 + x0 x1"),
    ("X '^2' '^3'", "^3 ^2 x0"),
    ("'-' X '^2'", "neg ^2 x0"),
    ("'-' X '*' Y", "* neg x0 x1"),
    ("X '*' '-' Y", "* x0 neg x1"),
    ("'-' '-' X", "neg neg x0"),
    ("'-' '(' X '+' Y ')'", "neg + x0 x1"),
    ("N X", "neg x0"),
    ("'neg' '(' X ')'", "neg x0"),
    ("R '(' X ')' M 'cos' '(' Y '+' X ')'", "* sin x0 cos + x1 x0"),
    ("'min' '(' X '+' Y ',' R '(' X ')' ')'", "min + x0 x1 sin x0"),
    ("'pow' '(' X ',' '3' ')' '+' '2.50'", "+ ^ x0 3 2.5"),
    ("'square' '(' X ')' '**' 'pi'", "^ ^2 x0 pi"),
    ("'1' '-' 'c'", "- 1 c"),
]


@pytest.mark.filterwarnings("ignore:no derivation")
@pytest.mark.parametrize(("rhs", "prefix"), READINGS)
def test_readings(rhs: str, prefix: str) -> None:
    grammar = PCFG.parse(f"E -> {rhs} [1.0]{LEAVES}")
    order = [1 + list(TERMINALS).index(name) for name in grammar.rules[0].nonterminals]
    expr = grammar.expression([0, *order])
    assert to_prefix(expr) == prefix
    assert grammar.derivation(expr) == [0, *order]
    assert grammar.log_probability(expr) == pytest.approx(0.0)


def test_a_nonterminal_is_one_whole_operand() -> None:
    grammar = PCFG.parse("F -> E '*' 'x0' [1.0]\nE -> 'x0' '+' 'x1' [1.0]")
    assert str(grammar.expression([0, 1])) == "(x0 + x1)*x0"


FAULTS = [
    ("X Y", "an operator is missing between X and Y"),
    ("X '(' Y ')'", "an operator is missing between X and '\\('"),
    ("X 'sin' '(' Y ')'", "an operator is missing between X and 'sin'"),
    ("'sinn' '(' Y ')'", "an operator is missing between 'sinn' and '\\('; did you mean 'sin'"),
    ("X '+'", "an operand is missing at the end"),
    ("'(' ')'", "an operand is missing before '\\)'"),
    ("'*' X", "an operand is missing before '\\*'"),
    ("A X", "an operand is missing before A"),
    ("P X", "an operand is missing before P"),
    ("'(' X", "this '\\(' is never closed"),
    ("X ')'", "this '\\)' closes nothing"),
    ("X ',' Y", "a comma belongs between"),
    ("'sin' X", "'sin' is a function; put its operands in parentheses"),
    ("R", "stands for an operator"),
    ("'sin' '(' X ',' Y ')'", "'sin' takes 1 operand, 'sin' has 2"),
    ("'min' '(' X ')'", "'min' takes 2 operands, 'min' has 1"),
    ("R '(' X ',' Y ')'", "'sin' takes 1 operand, R has 2"),
    ("X '+' Y B X", "B stands for operators of different precedence; use parentheses"),
    ("X C Y", "an operator is missing between X and C"),
    ("'(' " * 60 + "X" + " ')'" * 60, "more than 50 levels in one rule"),
]


@pytest.mark.filterwarnings("ignore:no derivation")
@pytest.mark.parametrize(("rhs", "message"), FAULTS)
def test_faults(rhs: str, message: str) -> None:
    mixed = "\nB -> '+' [0.5] | '*' [0.5]\nC -> '+' [0.5] | 'sin' [0.5]"
    with pytest.raises(GrammarError, match=message):
        PCFG.parse(f"E -> {rhs} [1.0]{LEAVES}{mixed}")


def test_mixed_precedence_alone_on_its_level_is_fine() -> None:
    grammar = PCFG.parse("E -> '(' X B X ')' '*' X [1.0]\nB -> '+' [0.5] | '^' [0.5]\nX -> 'x0' [1.0]")
    assert str(grammar.expression([0, 3, 1, 3, 3])) == "(x0 + x0)*x0"


def test_operators_of_the_user() -> None:
    library = SymbolLibrary.of(["+", operator("gauss", 1, numpy=lambda x: x)], ["t"], numbers=True)
    grammar = PCFG.parse("E -> 'gauss' '(' E ')' [0.3] | E '+' '0.5' [0.2] | 't' [0.5]", library)
    expr = grammar.expression([1, 0, 2])
    assert str(expr) == "gauss(t) + 0.5"
    assert grammar.derivation(expr) == [1, 0, 2]
