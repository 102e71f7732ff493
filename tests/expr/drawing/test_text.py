from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from edhie.expr import Expr, SymbolLibrary, operator, parse, to_prefix_tokens
from edhie.expr.drawing.layout import draw_text
from strategies import exprs

LIBRARY = SymbolLibrary.of(
    ["+", "*", operator("f", 1, numpy=np.sin), "sin", "sqrt", "^2"], ["x", "x1", "temperature"], constant=True
)


trees = exprs(LIBRARY, max_symbols=60)
one_letter_trees = exprs(LIBRARY, names=["+", "*", "f", "x", "c"], max_symbols=60)


def mirrored(expr: Expr) -> Expr:
    tokens = [expr.tokens[0]]
    for child in reversed(expr.children):
        tokens += mirrored(child).tokens
    return Expr(expr.library, tokens)


DRAWINGS = {
    "x0": """
x0
""",
    "c*x0 + sin(x1)": """
     +
  ┌──┴──┐
  *    sin
┌─┴─┐   │
c   x0  x1
""",
    "sin(cos(exp(sqrt(x0))))": """
sin
 │
cos
 │
exp
 │
sqrt
 │
 x0
""",
    "x + (y + (z + 2.718281828))": """
 +
┌┴┐
x +
 ┌┴┐
 y +
 ┌─┴─┐
 z 2.718
""",
    "pressure*a_long_variable_name/temperature": """
               /
           ┌───┴───┐
           *  temperature
   ┌───────┴───────┐
pressure  a_long_variable_name
""",
    "a + b + d": """
  +
 ┌┴┐
 + d
┌┴┐
a b
""",
    "min(-x, abs(速度))*速度": """
      *
   ┌──┴──┐
  min   速度
 ┌─┴─┐
neg abs
 │   │
 x  速度
""",
}


@pytest.mark.parametrize("text", DRAWINGS)
def test_small_trees_are_drawn_so(text):
    assert draw_text(parse(text)) == DRAWINGS[text].strip("\n")


@given(trees)
def test_every_symbol_and_every_branch_is_there_once(expr):
    lines = draw_text(expr).split("\n")
    assert len(lines) == 2 * expr.height - 1
    assert Counter(" ".join(lines[::2]).split()) == Counter(to_prefix_tokens(expr))
    arities = Counter(symbol.arity for _, _, symbol in expr.walk())
    branches = Counter("".join(lines[1::2]))
    assert (branches["│"], branches["┴"], branches["┌"], branches["┐"]) == (arities[1], *[arities[2]] * 3)


@given(trees)
def test_every_branch_starts_below_its_parent_and_ends_above_a_child(expr):
    lines = draw_text(expr).split("\n")
    for above, branches, below in zip(lines[::2], lines[1::2], lines[2::2], strict=False):
        for column, character in enumerate(branches):
            if character in "│┴":
                assert above[column] != " "
            if character in "│┌┐":
                assert below[column] != " "


@given(trees)
def test_lines_are_trim_and_no_wider_than_the_labels_side_by_side(expr):
    lines = draw_text(expr).split("\n")
    assert all(line == line.rstrip() for line in lines)
    assert any(line[0] != " " for line in lines)
    assert max(map(len, lines)) <= sum(len(label) + 3 for label in to_prefix_tokens(expr))


@given(one_letter_trees)
def test_a_mirrored_tree_is_drawn_mirrored(expr):
    lines = draw_text(expr).split("\n")
    width = max(map(len, lines))
    image = [line.ljust(width)[::-1].translate(str.maketrans("┌┐", "┐┌")).rstrip() for line in lines]
    assert draw_text(mirrored(expr)).split("\n") == image


@given(trees)
def test_ascii_differs_only_in_the_lines(expr):
    drawing = draw_text(expr, ascii=True)
    assert drawing.isascii()
    assert drawing == draw_text(expr).translate(str.maketrans("┌─┴┐│", ".-'.|"))


def test_a_tree_of_sixty_nodes_fits_a_terminal():
    expr = parse("*".join(f"(sin(x{i}) + c)^2" for i in range(10)) + "/sqrt(2 - x0)")
    assert expr.size >= 60
    assert max(map(len, draw_text(expr).split("\n"))) <= 80


def test_numbers_are_shown_as_asked():
    expr = parse("c*x + c", variables=["x"]).with_constants([1.23456, None])
    assert draw_text(expr).split() == ["+", "┌┴┐", "*", "c", "┌─┴─┐", "1.235", "x"]
    assert "1.23456" in draw_text(expr, number_format="")
