from __future__ import annotations

import pytest

from edhie.errors import GrammarError
from edhie.grammar import PCFG, Nonterminal, Rule

TWO_LINES = "E -> E '+' F [0.2] | F [0.8]\nF -> 'x0' [1.0]\n"


def test_reads_rules_in_order() -> None:
    grammar = PCFG.parse(TWO_LINES)
    assert grammar.rules == (
        Rule("E", (Nonterminal("E"), "+", Nonterminal("F")), 0.2),
        Rule("E", (Nonterminal("F"),), 0.8),
        Rule("F", ("x0",), 1.0),
    )
    assert grammar.start == "E"
    assert grammar.nonterminals == ("E", "F")


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\n\nE -> E '+' F [0.2] # and another: 'E' | [1]\n  # between\n  | F [0.8]\nF -> 'x0' [1.0]",
        "E -> E \"+\" F [.2] \\\n | F [8e-1]\nF->'x0'[1]",
        "E -> E '+' F [0.2]\nF -> 'x0' [1.0]\nE -> F [0.8]",
        "%start E\nE → E '+' F [0.20] | F [0.80]\nF → 'x0' [1]",
    ],
)
def test_other_spellings_of_the_same(text: str) -> None:
    assert PCFG.parse(text) == PCFG.parse(TWO_LINES)
    assert str(PCFG.parse(text)) == TWO_LINES


def test_start_directive_round_trips() -> None:
    grammar = PCFG.parse("%start B\nA -> 'x0' [1]\nB -> A '+' B [0.5] | A [0.5]")
    assert grammar.start == "B"
    assert str(grammar).startswith("%start B\nA -> ")
    assert PCFG.parse(str(grammar)) == grammar


FAULTS = [
    ("", "the grammar has no rules"),
    ("# nothing", "the grammar has no rules"),
    ("E 'x0' [1.0]", "line 1: '->' is missing after 'E'"),
    ("E", "line 1: '->' is missing after 'E'"),
    ("E F -> 'x0' [1.0]", "'->' is missing after 'E'; one nonterminal"),
    ("'E' -> 'x0' [1.0]", "line 1: a rule begins with a nonterminal"),
    ("E -> 'x0' [1.0] -> 'x1'", "a second '->' in one line"),
    ("\nE -> 'x0'", "line 2: a probability such as .* is missing"),
    ("E -> 'x0' | 'x1' [1.0]", "line 1: a probability such as .* is missing"),
    ("E -> [1.0]", "an alternative is empty"),
    ("E -> 'x0' [1.0] |", "an alternative is empty"),
    ("E -> 'x0' [1.0] 'x1' [0.0]", "'|' is missing before this"),
    ("E -> 'x0' [one]", r"\[one\] is not a probability"),
    ("E -> 'x0' [-1.0]", r"\[-1.0\] is not a probability"),
    ("E -> 'x0' [1.5]", "the probability 1.5 is not between 0 and 1"),
    ("E -> 'x0 [1.0]", "this quote is never closed"),
    ("E -> 'x0' [1.0", "unexpected character '\\['"),
    ("E -> E + 'x0' [1.0]", r"unexpected character '\+'; terminals stand in quotes"),
    ("%begin E\nE -> 'x0' [1.0]", "unknown directive '%begin'; only %start is known"),
    ("%start\nE -> 'x0' [1.0]", "%start takes one nonterminal"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_faults_say_what_and_where(text: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        PCFG.parse(text)


def test_a_caret_shows_the_place() -> None:
    with pytest.raises(GrammarError) as caught:
        PCFG.parse("E -> 'x0' [1.0]\nF -> F + F [1.0]")
    assert str(caught.value) == (
        "line 2: unexpected character '+'; terminals stand in quotes, such as '+'\n  F -> F + F [1.0]\n         ^"
    )


@pytest.mark.parametrize("text", ["\\\n", "E -> 'x' [1]\n \\", " \\\n\\\n"])
def test_a_line_of_nothing_but_its_continuation(text: str) -> None:
    with pytest.raises(GrammarError, match="a rule begins with a nonterminal"):
        PCFG.parse(text)
