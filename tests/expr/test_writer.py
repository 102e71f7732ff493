"""Infix text: exact round trips, minimal parentheses, and the meaning that Python gives to the same text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edhie.errors import EdhieError
from edhie.expr import Expr, SymbolLibrary, from_prefix, parse, to_infix
from edhie.expr.interpret import numpy_function
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.standard_libraries import everything, nguyen
from edhie.expr.symbols import OPERATORS
from strategies import LIBRARIES, TAME_NUMBERS, exprs, finite, random_libraries

BOTH = SymbolLibrary.of(["+", "-", "*", "/", "^", "^2", "^3", "neg", "sin"], ["x", "y"], literals=("3",), numbers=True)


# -- round trips ----------------------------------------------------------------------


@given(exprs())
def test_text_reads_back_as_the_same_tree(expr):
    assert parse(to_infix(expr), expr.library) == expr


@given(random_libraries().flatmap(exprs))
def test_text_reads_back_over_any_library(expr):
    assert parse(to_infix(expr), expr.library) == expr


@given(exprs(BOTH, numbers=["2", "3", "-2", "0.5"]))
def test_text_reads_back_where_powers_come_in_two_kinds(expr):
    assert parse(to_infix(expr), BOTH) == expr


@given(exprs(everything(2), numbers=TAME_NUMBERS, values=finite))
def test_fitted_constants_read_back_as_numbers(expr):
    read = parse(str(expr), expr.library)
    assert "c" not in read.tokens
    assert read.numbers_to_constants() == expr.numbers_to_constants()


# -- parentheses ----------------------------------------------------------------------


def pairs(text: str) -> list[tuple[int, int]]:
    open_at, found = [], []
    for i, letter in enumerate(text):
        if letter == "(":
            open_at.append(i)
        elif letter == ")":
            found.append((open_at.pop(), i))
    return found


def reads_the_same(text: str, expr: Expr) -> bool:
    try:
        return parse(text, expr.library) == expr
    except EdhieError:
        return False


def is_for_the_eye(text: str, start: int, end: int, library: SymbolLibrary) -> bool:
    """Whether these are the parentheses around a sign right after an operator: x + (-y), -(-x)."""
    before = text[:start].rstrip()
    inside = parse(text[start + 1 : end], library)
    is_signed = inside.tokens[0] == "neg" or (inside.tokens[0].startswith("-") and inside.size == 1)
    return before[-1:] in "+-*/^" and is_signed


@given(exprs() | exprs(BOTH, numbers=["2", "3", "-2", "0.5"]))
@example(from_prefix("^ x neg y", BOTH))
@example(from_prefix("neg neg x", BOTH))
@example(from_prefix("neg -2", BOTH))
def test_no_pair_of_parentheses_can_be_left_out(expr):
    text = to_infix(expr)
    for start, end in pairs(text):
        without = text[:start] + text[start + 1 : end] + text[end + 1 :]
        assert not reads_the_same(without, expr) or is_for_the_eye(text, start, end, expr.library)


@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        ("+ + x y x", "x + y + x"),
        ("+ x + y x", "x + (y + x)"),
        ("- x - y x", "x - (y - x)"),
        ("* / x y x", "x/y*x"),
        ("/ x * y x", "x/(y*x)"),
        ("* + x y x", "(x + y)*x"),
        ("+ * x y x", "x*y + x"),
        ("^ ^ x y x", "(x^y)^x"),
        ("^ x ^ y x", "x^y^x"),
        ("^2 x", "x^2"),
        ("^ x 2", "x^(2)"),
        ("^ x 4", "x^4"),
        ("^ x -2", "x^-2"),
        ("^ x ^2 y", "x^y^2"),
        ("^3 ^2 x", "(x^2)^3"),
        ("^2 neg x", "(-x)^2"),
        ("neg ^2 x", "-x^2"),
        ("neg * x y", "-(x*y)"),
        ("* neg x y", "-x*y"),
        ("* x neg y", "x*(-y)"),
        ("neg neg x", "-(-x)"),
        ("neg 2", "-(2)"),
        ("neg 3", "-(3)"),
        ("neg -2", "-(-2)"),
        ("^2 -2", "(-2)^2"),
        ("- -2 -2", "-2 - (-2)"),
        ("* -2 x", "-2*x"),
        ("sin neg x", "sin(-x)"),
        ("^2 sin x", "sin(x)^2"),
        ("^ + x 1 / 1 2", "(x + 1)^(1/2)"),
    ],
)
def test_worked_examples(prefix, text):
    expr = from_prefix(prefix, BOTH)
    assert to_infix(expr) == str(expr) == text
    assert repr(expr) == f"Expr({text!r})"
    assert parse(text, BOTH) == expr


# -- the same text in Python ----------------------------------------------------------


class Tree:
    """Rebuilds, under Python's own grammar, the tree that a text spells."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = tokens

    def __add__(self, other):
        return Tree("+", *self.tokens, *other.tokens)

    def __sub__(self, other):
        return Tree("-", *self.tokens, *other.tokens)

    def __mul__(self, other):
        return Tree("*", *self.tokens, *other.tokens)

    def __truediv__(self, other):
        return Tree("/", *self.tokens, *other.tokens)

    def __pow__(self, other):
        return Tree("^", *self.tokens, *other.tokens)

    def __neg__(self):
        return Tree("neg", *self.tokens)


NUMBER_IN_TEXT = re.compile(r"(?<![\w.])(\d+\.?\d*(?:e[+-]?\d+)?)")


def as_python(text: str, names: dict[str, object]) -> object:
    spelled = NUMBER_IN_TEXT.sub(r"number('\1')", text).replace("^", "**")
    return eval(spelled, {"__builtins__": {}}, names)


def in_pythons_terms(expr: Expr) -> tuple[str, ...]:
    """The tree with x^2 as a power with an exponent and -3 as a negated 3, which is all that Python knows."""
    out: list[str] = []
    owed: list[list] = []  # for each open `^2`: how many operands are missing, then the exponent to write
    for token, (_, _, symbol) in zip(expr.tokens, expr.walk(), strict=True):
        is_power = symbol.style == "postfix"
        out += ["^"] if is_power else ["neg", token[1:]] if is_numeral(token) and token[0] == "-" else [token]
        owed.append([symbol.arity, token[1:] if is_power else None])
        while owed and owed[-1][0] == 0:
            exponent = owed.pop()[1]
            out += [exponent] if exponent else []
            if owed:
                owed[-1][0] -= 1
    return tuple(out)


@given(exprs(everything(["x", "y"])))
def test_python_reads_the_same_tree(expr):
    def function(name):
        return lambda *operands: Tree(name, *(token for operand in operands for token in operand.tokens))

    names = {name: function(name) for name in OPERATORS if name.isidentifier()}
    leaves = {name: Tree(name) for name in ("x", "y", "c", "pi", "e")}
    read = as_python(to_infix(expr), names | leaves | {"number": Tree})
    assert read.tokens == in_pythons_terms(expr)


class Number:
    """A value that adds, multiplies and so on by the very functions of the symbol table."""

    def __init__(self, value: float | str) -> None:
        self.value = np.asarray(value, dtype=float)


def by(name: str):
    function = numpy_function(OPERATORS[name])
    return lambda *operands: Number(function(*(operand.value for operand in operands)))


DUNDERS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "^": "pow", "neg": "neg"}
for sign, dunder in DUNDERS.items():
    setattr(Number, f"__{dunder}__", by(sign))

WITHOUT_POWERS = SymbolLibrary.of(
    [name for name, symbol in OPERATORS.items() if symbol.style != "postfix"],
    ["x", "y"],
    constant=True,
    literals=("pi", "e"),
    numbers=True,
)


@given(exprs(WITHOUT_POWERS, values=finite), finite, finite)
def test_python_computes_the_same_value(expr, x, y):
    names = {name: by(name) for name in WITHOUT_POWERS.names if name.isidentifier() and OPERATORS.get(name)}
    leaves = {"x": Number(x), "y": Number(y), "pi": Number(np.pi), "e": Number(np.e), "number": Number}
    with np.errstate(all="ignore"):
        value = as_python(to_infix(expr), names | leaves).value
    np.testing.assert_array_equal(value, expr(x=x, y=y))


# -- numbers --------------------------------------------------------------------------


def test_a_format_rounds_only_what_gets_shorter():
    expr = parse("0.333333333*x + c + 100 + 1e-7", variables=["x"]).with_constants([-2.71828])
    assert f"{expr:.3g}" == "0.333*x + (-2.72) + 100 + 1e-07"
    assert f"{expr}" == str(expr) == "0.333333333*x + (-2.71828) + 100 + 1e-07"


def test_a_rounded_exponent_is_still_no_square():
    expr = from_prefix("^ x 2.0004", BOTH)
    assert f"{expr:.2g}" == "x^(2)"


moderate = st.floats(-1e300, 1e300)


@given(exprs(everything(1), numbers=moderate.map(numeral), values=st.none() | moderate))
def test_a_formatted_text_still_reads_as_a_tree_of_that_shape(expr):
    read = parse(f"{expr:.3g}", expr.library)
    assert read.numbers_to_constants().free() == expr.numbers_to_constants().free()


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_every_symbol_prints_something_that_reads_back(library):
    leaf = library.variables[0]
    for symbol in library.symbols:
        if symbol.kind != "number":
            expr = Expr(library, [symbol.name, *[leaf] * symbol.arity])
            assert parse(str(expr), library) == expr


def test_deep_and_long_trees_print_and_read_back():
    for tokens in (["sin"] * 10_000 + ["x0"], ["+", "x0"] * 10_000 + ["x0"], ["+"] * 10_000 + ["x0"] * 10_001):
        expr = Expr(nguyen(), tokens)
        assert parse(str(expr), nguyen()) == expr
