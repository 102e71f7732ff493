"""Prefix and postfix, text and tokens, and infix tokens: exact round trips and clear errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import EdhieError, ExpressionError, ParseError, SymbolError
from edhie.expr import (
    Expr,
    SymbolLibrary,
    from_infix_tokens,
    from_postfix,
    from_prefix,
    parse,
    to_infix_tokens,
    to_postfix,
    to_postfix_tokens,
    to_prefix,
    to_prefix_tokens,
)
from edhie.expr.standard_libraries import everything, nguyen
from strategies import exprs, finite, random_libraries

BOTH = SymbolLibrary.of(["+", "-", "^", "^2", "neg"], ["x", "y"], numbers=True)
any_trees = exprs() | random_libraries().flatmap(exprs)


@given(any_trees)
def test_prefix_round_trip(expr):
    assert from_prefix(to_prefix(expr), expr.library) == expr
    assert from_prefix(to_prefix_tokens(expr), expr.library) == expr
    assert tuple(to_prefix_tokens(expr)) == expr.tokens


@given(any_trees)
def test_postfix_round_trip(expr):
    assert from_postfix(to_postfix(expr), expr.library) == expr
    assert from_postfix(to_postfix_tokens(expr), expr.library) == expr


@given(any_trees)
def test_infix_tokens_round_trip(expr):
    tokens = to_infix_tokens(expr)
    assert from_infix_tokens(tokens, expr.library) == expr
    assert from_infix_tokens(tuple(" ".join(tokens).split(" ")), expr.library) == expr


def postfix_by_recursion(expr: Expr) -> list[str]:
    return [token for child in expr.children for token in postfix_by_recursion(child)] + [expr.tokens[0]]


@given(any_trees)
def test_postfix_is_children_then_symbol(expr):
    assert to_postfix_tokens(expr) == postfix_by_recursion(expr)


@given(exprs(everything(1), values=finite))
def test_fitted_constants_become_numbers_in_every_notation(expr):
    read = from_prefix(to_prefix(expr), expr.library)
    assert read.numbers_to_constants() == expr.numbers_to_constants()
    assert from_postfix(to_postfix(expr), expr.library) == read
    assert from_infix_tokens(to_infix_tokens(expr), expr.library) == read


@pytest.mark.parametrize(
    ("tokens", "prefix"),
    [
        (["x", "^2"], "^2 x"),
        (["x", "^", "2"], "^ x 2"),
        (["x", "**", "2"], "^ x 2"),
        (["x", "^", "(", "2", ")"], "^ x 2"),
        (["x", "^2", "^2"], "^2 ^2 x"),
        (["x", "^", "y", "^2"], "^ x ^2 y"),
        (["x", "^2", "^", "y"], "^ ^2 x y"),
        (["-", "x", "^2"], "neg ^2 x"),
        (["-2", "^2"], "^2 -2"),
        (["-", "2", "^2"], "neg ^2 2"),
        (["-", "2"], "-2"),
        (["-", "-2"], "neg -2"),
        (["x", "-", "-2"], "- x -2"),
    ],
)
def test_in_tokens_a_square_and_a_power_are_two_things(tokens, prefix):
    assert to_prefix(from_infix_tokens(tokens, BOTH)) == prefix


def test_without_a_general_power_both_spellings_are_the_square():
    for tokens in (["x0", "^2"], ["x0", "^", "2"], ["x0", "^", "(", "2", ")"]):
        assert to_prefix(from_infix_tokens(tokens, nguyen())) == "^2 x0"


@pytest.mark.parametrize(
    ("read", "given_text", "kind", "complaint"),
    [
        (from_prefix, "", ExpressionError, "lack 1 operand at the end"),
        (from_prefix, "+ x0", ExpressionError, r"'\+ x0' lack 1 operand at the end"),
        (from_prefix, "x0 x0", ExpressionError, "'x0 x0' are more than one expression: the first ends before token 1"),
        (from_prefix, "+ x0 sinn x0", SymbolError, "did you mean 'sin'\\?; it is token 2 of '\\+ x0 sinn x0'"),
        (from_prefix, "+ x0 #", SymbolError, "unknown symbol '#'"),
        (from_prefix, "log y", SymbolError, "unknown symbol 'y'"),
        (from_postfix, "", ExpressionError, "form 0 expressions"),
        (from_postfix, "x0 +", ExpressionError, r"'\+' at 1 in 'x0 \+' lacks 1 of its operands"),
        (from_postfix, "x0 x0", ExpressionError, "form 2 expressions, not one"),
        (from_postfix, "x0 ln", SymbolError, "did you mean 'log'\\?; it is token 1 of 'x0 ln'"),
        (from_infix_tokens, [], ParseError, "an expression is missing"),
        (from_infix_tokens, ["x0", "x0"], ParseError, "an operator is missing before 'x0'.* at 3"),
        (from_infix_tokens, ["x0", "^2", "^7"], ParseError, "the operator '\\^' is not in the library"),
        (from_infix_tokens, ["^2", "x0"], ParseError, "an operand is missing before '\\^2' at 0"),
        (from_infix_tokens, ["x0", "?"], ParseError, "unexpected character '\\?'"),
    ],
)
def test_what_is_not_one_tree_is_refused(read, given_text, kind, complaint):
    with pytest.raises(kind, match=complaint):
        read(given_text, nguyen())


def test_any_number_is_no_token():
    with pytest.raises(ExpressionError, match="write the number itself"):
        from_prefix("+ x #", BOTH)


@given(st.lists(st.sampled_from([*BOTH.names, "(", ")", "2", "-3", ","]), max_size=12))
def test_any_tokens_are_a_tree_or_a_clear_error(tokens):
    for read in (from_prefix, from_postfix, from_infix_tokens):
        try:
            expr = read(tokens, BOTH)
        except EdhieError:
            continue
        assert parse(str(expr), BOTH) == expr


@pytest.mark.parametrize("read", [from_prefix, from_postfix])
def test_errors_about_long_texts_are_short(read):
    with pytest.raises(ExpressionError) as caught:
        read("x0 " * 100_000, nguyen())
    assert len(str(caught.value)) < 300
