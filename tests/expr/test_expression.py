"""An Expr is a value; its size, height, subtrees and replacements agree with plain recursion."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import ExpressionError, SymbolError
from edhie.expr import Expr, SymbolLibrary, from_prefix, parse, to_prefix
from edhie.expr.standard_libraries import ae, everything, feynman, nguyen
from strategies import LIBRARIES, TAME_NUMBERS, exprs, finite

fits = st.none() | finite
any_trees = exprs(values=fits)
ALL = everything(["x", "y"])
tame_trees = exprs(ALL, numbers=TAME_NUMBERS, values=st.sampled_from([0.5, -2.0]), max_symbols=15)


def size(expr: Expr) -> int:
    return 1 + sum(size(child) for child in expr.children)


def height(expr: Expr) -> int:
    return 1 + max((height(child) for child in expr.children), default=0)


# -- what it is -----------------------------------------------------------------------


def test_the_figure_of_the_paper():
    expr = parse("c*cos(x) + x^2/c", variables=["x"])
    assert (expr.size, expr.height) == (9, 4)
    assert [str(child) for child in expr.children] == ["c*cos(x)", "x^2/c"]


@given(any_trees)
def test_size_height_and_leaves(expr):
    assert expr.size == len(expr.tokens) == size(expr)
    assert expr.height == height(expr)
    assert set(expr.variables) == set(expr.library.variables) & set(expr.tokens)
    assert list(expr.variables) == [name for name in expr.library.variables if name in expr.variables]
    assert len(expr.constants) == expr.tokens.count(expr.library.constant)


@given(any_trees)
def test_walking_goes_down_in_prefix_order(expr):
    seen = list(expr.walk())
    assert [position for position, _, _ in seen] == list(range(expr.size))
    assert seen[0][1] == 1
    assert max(depth for _, depth, _ in seen) == expr.height
    for position, depth, symbol in seen:
        assert symbol == expr.library[expr.tokens[position]] == expr.subtree(position).symbol
        for child in expr.child_positions(position):
            assert seen[child][1] == depth + 1


@given(any_trees)
def test_an_expression_is_its_symbol_and_its_children(expr):
    assert len(expr.children) == expr.symbol.arity
    own = expr.constants[:1] if expr.symbol.kind == "constant" else ()
    assert expr.tokens == (expr.tokens[0], *(token for child in expr.children for token in child.tokens))
    assert expr.constants == own + tuple(value for child in expr.children for value in child.constants)


# -- as a value -----------------------------------------------------------------------


@given(any_trees, any_trees)
def test_equality_is_by_structure(a, b):
    twin = Expr(a.library, list(a.tokens), list(a.constants))
    assert a == twin
    assert hash(a) == hash(twin)
    assert len({a, twin}) == 1
    if a.library == b.library:
        assert (a == b) == ((a.tokens, a.constants) == (b.tokens, b.constants))
    assert a != a.tokens
    assert (a != a.free()) == any(value is not None for value in a.constants)


def test_equality_across_libraries_is_by_meaning():
    assert parse("x + 1") == parse("x + 1", variables=["y", "x"])
    assert parse("x + 1") == from_prefix("+ x 1", SymbolLibrary.of(["+"], ["x"], literals=(1,)))
    assert parse("e + 1") != parse("e + 1", variables=["e"])  # Euler's number, and a column called e


@given(exprs(LIBRARIES["everything"], values=fits))
def test_copies_are_equal(expr):
    for other in (pickle.loads(pickle.dumps(expr)), copy.copy(expr), copy.deepcopy(expr)):
        assert other == expr
        assert other.library == expr.library
        assert hash(other) == hash(expr)
        assert other.height == expr.height


def test_nothing_about_it_can_be_changed():
    expr = parse("x + 1")
    for name in ("tokens", "_tokens", "height", "anything"):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(expr, name, ())
    with pytest.raises(AttributeError, match="cannot be changed"):
        del expr._tokens
    assert isinstance(expr.tokens, tuple)
    assert str(expr) == "x + 1"


def test_numbers_are_spelled_in_one_way():
    assert Expr(ALL, ["+", "2.0", "1e2"]).tokens == ("+", "2", "100")
    assert Expr(ALL, ["+", "2.0", "-0.0"]) == Expr(ALL, ["+", "2", "0"])


# -- subtrees and replacing -----------------------------------------------------------


@given(any_trees, st.data())
def test_replacing_a_subtree_by_itself_changes_nothing(expr, data):
    position = data.draw(st.integers(-expr.size, expr.size - 1))
    assert expr.replace(position, expr.subtree(position)) == expr


@given(tame_trees, tame_trees, st.data())
def test_what_is_put_in_is_found_there_and_the_rest_stays(expr, other, data):
    position = data.draw(st.integers(0, expr.size - 1))
    new = expr.replace(position, other)
    old = expr.subtree(position)
    assert new.subtree(position) == other
    assert new.size == expr.size - old.size + other.size
    assert new.replace(position, old) == expr
    assert Expr(new.library, new.tokens, new.constants) == new


@given(any_trees)
def test_the_whole_is_the_subtree_at_the_root(expr):
    assert expr.subtree(0) == expr
    assert expr.replace(0, expr) == expr
    assert expr.subtree(-1).size == 1


@pytest.mark.parametrize("position", [3, -4, 100])
def test_there_is_no_node_outside(position):
    expr = parse("x + 1")
    with pytest.raises(IndexError, match=f"no node {position}: the expression has 3"):
        expr.subtree(position)
    with pytest.raises(IndexError, match="no node"):
        expr.replace(position, expr)


def test_a_replacement_must_fit_the_library():
    expr = parse("x0 + x0", nguyen())
    assert str(expr.replace(1, parse("sin(x0)"))) == "sin(x0) + x0"
    with pytest.raises(SymbolError, match="unknown symbol 'tan'"):
        expr.replace(1, parse("tan(x0)"))


# -- substituting ---------------------------------------------------------------------


@given(tame_trees, st.sampled_from([0.5, -2.0, 3.0]), st.sampled_from([1.0, -0.25]))
def test_substituting_numbers_is_evaluating(expr, x, y):
    closed = expr.substitute({"x": x, "y": y})
    assert closed.variables == ()
    np.testing.assert_array_equal(closed(), expr(x=x, y=y))


@given(tame_trees, tame_trees)
def test_substituting_an_expression_is_composing(outer, inner):
    inner = inner.substitute({"y": parse("x", ALL)})
    composed = outer.substitute({"x": inner})
    x, y = np.array([0.5, -1.5]), np.array([2.0, 0.25])
    np.testing.assert_array_equal(composed(x=x, y=y) + 0 * x, outer(x=inner(x=x), y=y) + 0 * x)
    assert Expr(ALL, composed.tokens, composed.constants) == composed


def test_substitution_is_of_all_at_once_and_extends_the_library():
    expr = parse("x0 - x1/x0", nguyen(2))
    swapped = expr.substitute({"x0": parse("x1", nguyen(2)), "x1": parse("x0", nguyen(2))})
    assert str(swapped) == "x1 - x0/x1"
    assert swapped.library == nguyen(2)
    numbered = expr.substitute({"x0": -1e-300})
    assert str(numbered) == "-1e-300 - x1/(-1e-300)"
    assert numbered.library == nguyen(2).with_numbers()
    fitted = parse("c*x0 + c", feynman()).with_constants([2, None])
    assert fitted.substitute({"x0": 3}).constants == (2, None)
    assert str(fitted.substitute({"c": 7})) == "7*x0 + 7"
    assert str(parse("pi*x").substitute({"pi": 3})) == "3*x"


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"x_0": 1.0}, r"cannot substitute 'x_0': not a leaf here; did you mean 'x0'\?"),
        ({"y": 1.0}, "cannot substitute 'y': not a leaf here; there are x0"),
        ({"sin": 1.0}, "cannot substitute 'sin'"),
        ({"#": 1.0}, "cannot substitute '#'"),
        ({"x0": math.nan}, "nan is not a number"),
        ({"x0": math.inf}, "inf is not a number"),
        ({"x0": 10**400}, "must be finite"),
        ({"x0": parse("tan(z)")}, "unknown symbol 'tan'"),
    ],
)
def test_what_cannot_be_substituted(values, complaint):
    with pytest.raises(SymbolError, match=complaint):
        parse("x0 + 1").cast(nguyen().with_numbers()).substitute(values)


def test_long_expressions_are_substituted_in_linear_time():
    expr = Expr(nguyen(), ["+"] * 30_000 + ["x0"] * 30_001)
    assert expr.substitute({"x0": expr.subtree(-1)}) == expr
    assert expr.substitute({"x0": 1})() == 30_001


# -- constants ------------------------------------------------------------------------


def test_constants_take_any_row_of_numbers():
    expr = parse("c*x + c")
    for values in ([1, 2], (1.0, 2.0), np.array([1.0, 2.0]), iter([1, 2])):
        assert expr.with_constants(values).constants == (1.0, 2.0)
    assert expr.constants == (None, None)
    assert expr.with_constants([None, 3]).constants == (None, 3)
    assert expr.with_constants([1, 2]).free() == expr


@pytest.mark.parametrize("values", [[], [1], [1, 2, 3], np.zeros(0)])
def test_each_constant_needs_one_value(values):
    with pytest.raises(ExpressionError, match=f"has 2 fitted constants, {len(values)} values were given"):
        parse("c*x + c").with_constants(values)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_constants_are_finite(value):
    with pytest.raises(ExpressionError, match=r"fitted constant 1 .*; give a finite one, or None"):
        parse("c*x + c").with_constants([1, value])


@given(tame_trees)
def test_numbers_become_constants_of_the_same_value(expr):
    turned = expr.numbers_to_constants()
    assert {symbol.kind for _, _, symbol in turned.walk()} <= {"operator", "variable", "constant"}
    x, y = np.array([0.5, -1.5]), np.array([2.0, 0.25])
    np.testing.assert_array_equal(turned(x=x, y=y), expr(x=x, y=y))


def test_numbers_become_constants_only_where_there_are_constants():
    with pytest.raises(SymbolError, match="has no fitted constant"):
        parse("x0", nguyen()).numbers_to_constants()


# -- over another library -------------------------------------------------------------


@given(any_trees)
def test_casting_there_and_back(expr):
    wider = SymbolLibrary(expr.library.symbols[::-1]).with_numbers()
    assert expr.cast(wider).library is wider
    assert expr.cast(wider) == expr
    assert expr.cast(wider).cast(expr.library).library is expr.library


def test_the_constant_keeps_its_role_under_another_name():
    expr = parse("c*x0 + c", feynman()).with_constants([1, None])
    cast = expr.cast(SymbolLibrary.of(["+", "*"], ["x0", "c"], constant=True))
    assert to_prefix(cast.free()) == "+ * C x0 C"
    assert cast.constants == (1, None)
    assert cast.cast(feynman()) == expr


@pytest.mark.parametrize(
    ("expr", "library", "complaint"),
    [
        (parse("tan(x0)"), nguyen(), "unknown symbol 'tan'"),
        (parse("x0 + 2"), nguyen(), "the number 2 is not in the library"),
        (parse("x0 + c"), nguyen(), "unknown symbol 'c'"),
        (parse("e + 1", variables=["e"]), everything(1), "'e' in 'e \\+ 1' is variable"),
        (parse("c + 1", variables=["c"]), everything(1), "'c' in 'c \\+ 1' is variable"),
        (parse("x0 + c", ae()), SymbolLibrary.of(["+"], ["x0", "c"]), "'c' in 'x0 \\+ c' is constant"),
        (parse("max + 1", variables=["max"]), everything(1), "is variable, with 0 operands; .* operator, with 2"),
    ],
)
def test_casting_never_changes_what_a_name_means(expr, library, complaint):
    with pytest.raises(SymbolError, match=complaint):
        expr.cast(library)


@pytest.mark.parametrize(
    ("tokens", "complaint"),
    [
        ([], "lack 1 operand at the end"),
        (["+", "x"], "lack 1 operand"),
        (["+"], "lack 2 operands"),
        (["x", "y"], "are more than one expression: the first ends before token 1"),
        (["#"], "write the number itself"),
        (["sinn", "x"], "did you mean 'sin'.*; it is token 0 of 'sinn x'"),
        (["1e400"], "must be finite.*; it is token 0 of '1e400'"),
        (["nan"], "unknown symbol 'nan'"),
    ],
)
def test_tokens_must_be_one_tree(tokens, complaint):
    with pytest.raises((ExpressionError, SymbolError), match=complaint):
        Expr(ALL, tokens)


def test_a_fold_goes_from_the_leaves_up():
    expr = parse("c*x + sin(2)*c").with_constants([3.0, None])
    written = expr.fold(lambda symbol, token, value: f"{token}:{value}", lambda symbol, parts: f"{symbol.name}{parts}")
    assert written.replace("'", "").replace('"', "").replace("\\", "") == "+[*[c:3.0, x:None], *[sin[2:2.0], c:None]]"
