from __future__ import annotations

import math

import pytest

from edhie.errors import GrammarError, GrammarWarning
from edhie.expr import SymbolLibrary
from edhie.grammar import PCFG, Nonterminal, Rule

FAULTS = [
    ("E -> 'x0' [0.5] | 'c' [0.4]", "line 1: the probabilities of 'E' sum to 0.9, not to 1; divide each by 0.9"),
    ("E -> 'x0' [0.0]", "the probabilities of 'E' sum to 0, not to 1"),
    ("E -> Term [1.0]\nTerms -> 'x0' [1.0]", "line 1: the nonterminal 'Term' has no rules; did you mean 'Terms'"),
    ("E -> x0 [1.0]", "the nonterminal 'x0' has no rules; define it, or put it in quotes"),
    ("%start F\nE -> 'x0' [1.0]", "the start symbol 'F' has no rules"),
    ("E -> 'x0' [1]\nA -> A '+' A [1]", "line 2: 'A' never ends"),
    ("E -> E '+' E [1.0] | 'x0' [0.0]", "'E' never ends"),
    ("E -> F [1.0]\nF -> E [1.0]", "'E' never ends"),
    ("E -> 'sin(' E ')' [0.5] | 'x0' [0.5]", "'sin\\(' is no symbol and cannot name a variable; did you mean 'sin'"),
    ("E -> E A E [0.1] | 'x0' [0.9]\nA -> '+' [0.5] | 'x0' [0.5]", "line 2: 'A' stands for an operator by .* two non"),
    ("E -> A [0.1] | 'x0' [0.9]\nA -> '+' [1]", "line 1: 'E' stands for an operator by .* operand by this rule"),
    ("E -> E A E [0.1] | 'x0' [0.9]\nA -> B [0.5] | '+' [0.5]\nB -> A [1.0]", "leads into a circle"),
    ("E -> '+' [1.0]", "the start symbol 'E' stands for an operator"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_faults(text: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        PCFG.parse(text)


def test_terminals_must_be_in_a_given_library() -> None:
    library = SymbolLibrary.of(["+", "sin"], ["time"])
    with pytest.raises(GrammarError, match=r"line 2: unknown symbol 'tim'; did you mean 'time'"):
        PCFG.parse("E -> E '+' T [0.5] | T [0.5]\nT -> 'tim' [1.0]", library)
    with pytest.raises(GrammarError, match="the number 2 is not in the library"):
        PCFG.parse("E -> E '+' '2' [0.5] | 'time' [0.5]", library)
    with pytest.raises(GrammarError, match="a '-' before an operand needs 'neg'"):
        PCFG.parse("E -> '-' E [0.5] | 'time' [0.5]", SymbolLibrary.of(["-"], ["time"]))
    signed = SymbolLibrary.of(["neg"], ["time"])
    assert str(PCFG.parse("E -> '-' 'time' [1.0]", signed).expression([0])) == "-time"
    for rules in ("E -> 'time' '-' '-' 'time' [1]", "E -> '-' S E [0.5] | 'time' [0.5]\nS -> '-' [1.0]"):
        with pytest.raises(GrammarError, match=r"unknown symbol '-'|an operator is missing"):
            PCFG.parse(rules, signed)
    with pytest.raises(GrammarError, match="'#' stands for any number"):
        PCFG.parse("E -> '#' [1.0]", SymbolLibrary.of(["-"], 1, numbers=True))


def test_rules_made_by_hand_are_checked_too() -> None:
    with pytest.raises(GrammarError, match="at least one rule"):
        PCFG([])
    with pytest.raises(GrammarError, match="the probability nan is not between 0 and 1\n  E -> 'x0'"):
        PCFG([Rule("E", ("x0",), math.nan)])
    with pytest.raises(GrammarError, match="a rule of 'E' is empty"):
        PCFG([Rule("E", (), 1.0)])
    with pytest.raises(GrammarError, match="'F' has no rules"):
        PCFG([Rule("E", (Nonterminal("F"),), 1.0)])


def test_unreachable_nonterminals_warn() -> None:
    with pytest.warns(GrammarWarning, match="no derivation from the start uses 'F', 'G'"):
        grammar = PCFG.parse("E -> 'x0' [1.0] | F [0.0]\nF -> G '+' G [0.6] | G [0.4]\nG -> 'c' [1.0]")
    assert grammar.unreachable == ("F", "G")
    assert grammar.check() == [
        "no derivation from the start uses 'F', 'G'",
        "the rule 'E -> F [0.0]' is never used",
    ]


def test_sums_that_are_off_by_rounding_are_normalised() -> None:
    grammar = PCFG.parse("E -> 'x0' [0.3333333] | 'x1' [0.3333333] | 'c' [0.3333333]")
    assert grammar.rules[0].probability == 0.3333333
    assert grammar.size_distribution(1)[1] == pytest.approx(1.0, abs=1e-15)


def test_derived_library() -> None:
    grammar = PCFG.parse("E -> E '/' E [0.1] | '-' E [0.1] | V [0.4] | 'ln' '(' '2.0' ')' [0.2] | 'pi' [0.2]\n"
                         "V -> 'x10' [0.2] | 'mass' [0.2] | 'c' [0.2] | 'x2' [0.2] | 'a' [0.2]")  # fmt: skip
    assert grammar.library.names == ("/", "neg", "log", "x2", "x10", "mass", "a", "c", "2", "pi")
    assert grammar.library.constant == "c"


def test_is_immutable_and_hashable() -> None:
    grammar = PCFG.parse("E -> 'x0' [1.0]")
    with pytest.raises(AttributeError):
        grammar.start = "F"  # type: ignore[misc]
    assert {grammar: 1}[PCFG.parse("E -> 'x0' [1.0]")] == 1
    assert grammar != PCFG.parse("E -> 'x0' [1.0]", SymbolLibrary.of(["+"], 1))


def test_rule_structure_for_decoders() -> None:
    grammar = PCFG.parse("S -> S A F [0.4] | F [0.6]\nA -> '+' [1.0]\nF -> '(' S ')' [0.5] | 'x0' [0.5]")
    assert grammar.rule_lhs.tolist() == [0, 0, 1, 2, 2]
