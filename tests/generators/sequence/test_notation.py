"""Infix sequences are those of infix text, and reading agrees with the parser, symbol by symbol."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import EdhieError, GeneratorError
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.notation import to_infix_tokens
from edhie.expr.numerals import is_numeral
from edhie.expr.parser import from_infix_tokens
from edhie.generators.sequence.notation import InfixNotation, padded
from strategies import LIBRARIES, exprs, forests

WITHOUT_NUMBERS = {
    name: SymbolLibrary(tuple(symbol for symbol in library.symbols if symbol.kind != "number"))
    for name, library in LIBRARIES.items()
}
any_library = st.sampled_from(list(WITHOUT_NUMBERS.values()))


def read(notation: InfixNotation, rows: list[list[int]]) -> tuple[Forest, list[int]]:
    sizes = np.cumsum([0, *map(len, rows)])
    flat = np.array([symbol for row in rows for symbol in row], np.int16)
    sequences = padded((flat, sizes), notation.length, padding=notation.symbols - 1)
    forest, places = notation.read(np.eye(notation.symbols, dtype=np.float32)[sequences])
    return Forest.checked(forest.library, forest.tokens, forest.offsets, forest.values), places.tolist()


def texts(notation: InfixNotation, row: list[int]) -> list[str]:
    """Spelled as people do: a negation is a minus sign."""
    return ["-" if notation.vocabulary[symbol] == "neg" else notation.vocabulary[symbol] for symbol in row]


@given(st.data(), any_library)
def test_writing_is_that_of_infix_text_and_reading_undoes_it(data: st.DataObject, library: SymbolLibrary) -> None:
    forest = Forest.from_exprs([expr.free() for expr in data.draw(forests(library, max_symbols=25))], library)
    notation = InfixNotation.for_forest(forest)
    symbols, offsets = notation.spelled(forest)
    rows = [symbols[offsets[k] : offsets[k + 1]].tolist() for k in range(len(forest))]
    assert [texts(notation, row) for row in rows] == [to_infix_tokens(expr) for expr in forest]
    again, places = read(notation, rows)
    assert list(again) == list(forest)
    assert places == list(range(len(forest)))


@given(st.data(), any_library)
def test_reading_takes_what_the_parser_takes_and_as_the_same_tree(data: st.DataObject, library: SymbolLibrary) -> None:
    notation = InfixNotation(library, 40)
    symbols = st.integers(0, notation.symbols - 2)
    row = data.draw(st.lists(symbols, min_size=1, max_size=12) | nearly_whole(notation))
    spelled = texts(notation, row)
    forest, places = read(notation, [row])
    try:
        expected: Expr | None = from_infix_tokens(spelled, library)
    except EdhieError:
        expected = None
    if says_more_to_the_parser(notation, row):
        return
    assert (expected is not None) == (places == [0])
    assert expected is None or forest[0] == expected


@st.composite
def nearly_whole(draw: st.DrawFn, notation: InfixNotation) -> list[int]:
    """An expression with a few symbols changed, inserted or removed, so that some are whole and some just not."""
    forest = Forest.from_exprs([draw(exprs(notation.library, max_symbols=6))], notation.library)
    row = notation.spelled(forest)[0].tolist()[:36]
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(row)))
        row[at : at + draw(st.integers(0, 1))] = draw(st.lists(st.integers(0, notation.symbols - 2), max_size=1))
    return row or [0]


def says_more_to_the_parser(notation: InfixNotation, row: list[int]) -> bool:
    """Whether the parser for people reads more than the notation has: signs, one minus for two, max of three."""
    names = [notation.vocabulary[symbol] for symbol in row]
    before = ["(", *names]
    is_operand_next = [name in ("(", ",", "neg") or _is_infix(notation, name) for name in before]
    pairs = list(zip(names, is_operand_next, strict=False))
    signs = any((name in ("+", "-") and is_next) or (name == "neg" and not is_next) for name, is_next in pairs)
    negated = any(a == "neg" and is_numeral(b) for a, b in pairwise(names))
    folded = sum(name == "," for name in names) > 1 and bool({"min", "max"} & set(names))
    return signs or negated or folded


def _is_infix(notation: InfixNotation, name: str) -> bool:
    return name in notation.library and notation.library[name].style == "infix"


@pytest.mark.parametrize(
    "text",
    ["", "(", ")", "x + ", "+ x", "x y", "( x", "x )", "( )", "sin x", "sin ( )", "sin ( x , y )", "max ( x )",
     "max ( x , y , x )", "max ( ( x , y ) )", "x , y", "( x , y )", "^2", "neg", "sin", "x ( y )", "x neg", "- x"],
)  # fmt: skip
def test_what_is_no_expression_is_not_read(text: str) -> None:
    library = SymbolLibrary.of(["+", "-", "^", "neg", "sin", "max", "^2"], ["x", "y"])
    notation = InfixNotation(library, 10)
    row = [notation.vocabulary.index(word) for word in text.split()]
    assert read(notation, [row])[1] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x - y - x", "- - x y x"),
        ("x ^ y ^ x", "^ x ^ y x"),
        ("neg x ^2", "neg ^2 x"),
        ("x ^ neg y + x", "+ ^ x neg y x"),
        ("( ( x ) ) ^2 ^2", "^2 ^2 x"),
        ("max ( x , y - x ) ^ y", "^ max x - y x y"),
        ("neg neg x - y", "- neg neg x y"),
    ],
)
def test_trees_of_some_sequences(text: str, expected: str) -> None:
    library = SymbolLibrary.of(["+", "-", "^", "neg", "sin", "max", "^2"], ["x", "y"])
    notation = InfixNotation(library, 12)
    forest, _ = read(notation, [[notation.vocabulary.index(word) for word in text.split()]])
    assert " ".join(forest[0].tokens) == expected


def test_a_sequence_ends_at_its_first_padding() -> None:
    notation = InfixNotation(SymbolLibrary.of(["+"], ["x"]), 8)
    plus, x, padding = 0, 1, notation.symbols - 1
    assert read(notation, [[x, padding, plus, padding, x], [padding, x], [x, plus, padding, x]])[1] == [0]


def test_numbers_of_any_value_have_no_token() -> None:
    library = LIBRARIES["everything"]
    forest = Forest.from_exprs([Expr(library, ["x"]), Expr(library, ["+", "x", "2.5"])])
    with pytest.raises(GeneratorError, match=r"x \+ 2.5 holds a number of any value"):
        InfixNotation.for_forest(forest)
    notation = InfixNotation(library, 7)
    assert read(notation, [[library.ids["#"]]])[1] == []


def test_a_comma_is_there_only_for_functions_of_two_operands() -> None:
    assert InfixNotation(LIBRARIES["trig"], 9).vocabulary[-3:] == ("(", ")", "")
    assert InfixNotation(LIBRARIES["a user's operators"], 9).vocabulary[-4:] == ("(", ")", ",", "")
