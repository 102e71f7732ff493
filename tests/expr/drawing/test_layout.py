import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.expr import Expr, SymbolLibrary, parse, to_prefix_tokens
from edhie.expr.drawing.layout import PlacedNode, math_labels, tree_layout
from strategies import exprs

LIBRARY = SymbolLibrary.of(
    ["+", "*", "^", "max", "sin", "neg", "^2", "log10"], ["x", "x1", "temperature"], constant=True, numbers=True
)


trees = exprs(LIBRARY, numbers=["3", "-0.123456789"], max_symbols=60)

CLOSE = 1e-9


def mirrored(expr: Expr) -> Expr:
    tokens = [expr.tokens[0]]
    for child in reversed(expr.children):
        tokens += mirrored(child).tokens
    return Expr(expr.library, tokens)


def clearances(left: list[PlacedNode], right: list[PlacedNode]) -> list[float]:
    """The room between two neighbouring subtrees, at each depth that both reach."""
    ends = {node.depth: node.x + node.width / 2 for node in left}  # prefix order: the last at a depth wins
    starts = {node.depth: node.x - node.width / 2 for node in reversed(right)}
    return [starts[depth] - ends[depth] for depth in starts.keys() & ends.keys()]


@given(trees, st.floats(0, 3))
def test_nodes_at_one_depth_keep_the_gap(expr, gap):
    nodes = sorted(tree_layout(expr, width=len, gap=gap), key=lambda node: node.depth)
    for left, right in itertools.pairwise(nodes):
        if left.depth == right.depth:
            assert right.x - right.width / 2 >= left.x + left.width / 2 + gap - CLOSE


@given(trees)
def test_subtrees_come_as_close_as_the_gap_allows(expr):
    nodes = tree_layout(expr, width=len, gap=0.5)
    for i in range(expr.size):
        operands = [nodes[child : child + expr.subtree(child).size] for child in expr.child_positions(i)]
        if len(operands) == 2:
            assert min(clearances(*operands)) == pytest.approx(0.5)


@given(trees)
def test_a_parent_stands_midway_over_its_children(expr):
    nodes = tree_layout(expr, width=len)
    for node in nodes:
        children = [nodes[i] for i in expr.child_positions(node.position)]
        assert all(child.parent == node.position and child.depth == node.depth + 1 for child in children)
        if children:
            assert node.x == pytest.approx(sum(child.x for child in children) / len(children))


@given(trees)
def test_nodes_come_in_prefix_order_from_the_left_edge(expr):
    nodes = tree_layout(expr, width=len)
    assert [(node.position, node.depth) for node in nodes] == [(i, depth) for i, depth, _ in expr.walk()]
    assert [node.label for node in nodes] == to_prefix_tokens(expr)
    assert nodes[0].parent is None
    assert min(node.x - node.width / 2 for node in nodes) == 0


@given(trees)
def test_a_mirrored_tree_has_the_mirrored_layout(expr):
    nodes, image = tree_layout(expr, width=len), tree_layout(mirrored(expr), width=len)
    breadth = max(node.x + node.width / 2 for node in nodes)
    seen = sorted((node.depth, node.x, node.label) for node in nodes)
    reflected = sorted((node.depth, breadth - node.x, node.label) for node in image)
    for one, other in zip(seen, reflected, strict=True):
        assert one == (other[0], pytest.approx(other[1], abs=CLOSE), other[2])


@given(trees, st.data())
def test_a_subtree_looks_the_same_wherever_it_hangs(expr, data):
    position = data.draw(st.integers(0, expr.size - 1))
    alone = tree_layout(expr.subtree(position), width=len)
    within = tree_layout(expr, width=len)[position : position + len(alone)]
    for one, other in zip(alone, within, strict=True):
        assert one.x - alone[0].x == pytest.approx(other.x - within[0].x)


@given(trees)
def test_on_a_grid_siblings_stand_whole_steps_apart(expr):
    nodes = tree_layout(expr, width=lambda label: len(label) | 1, grid=2)
    for node in nodes:
        children = [nodes[i].x for i in expr.child_positions(node.position)]
        assert (max(children, default=0) - min(children, default=0)) % 2 == 0
        assert node.x % 1 == 0.5  # the middle of a character


@pytest.mark.parametrize(
    "tokens", [["sin"] * 20_000 + ["x"], ["+", "x"] * 10_000 + ["x"], ["+"] * 10_000 + ["x"] * 10_001]
)
def test_large_and_deep_trees_take_linear_time(tokens):
    expr = Expr(LIBRARY, tokens)
    start = time.perf_counter()
    assert len(tree_layout(expr)) == len(tokens)
    assert time.perf_counter() - start < 5  # a quadratic algorithm takes minutes


def test_a_label_is_needed_for_each_node():
    with pytest.raises(ValueError, match="3 nodes, 1 labels"):
        tree_layout(parse("x + 1"), ["+"])


def test_labels_show_fitted_values_and_round_only_what_gets_shorter():
    expr = parse("c*x + c + 0.333333333333 + 12345678 + pi", variables=["x"]).with_constants([None, 1.23456])
    assert to_prefix_tokens(expr, number_format=".3g")[-4:] == ["1.23", "0.333", "12345678", "pi"]
    assert to_prefix_tokens(expr)[-3:] == ["0.333333333333", "12345678", "pi"]
    assert "c" in to_prefix_tokens(expr)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("x0^2", [r"$(\cdot)^{2}$", "$x_{0}$"]),
        ("-x*theta_max", ["×", "−", "$x$", r"$\theta_{max}$"]),
        ("-2.5e-8/pi", ["÷", r"−2.5$\times 10^{-8}$", r"$\pi$"]),
        ("max(speed_of_light, 速度)", ["max", "speed_of_light", "速度"]),
    ],
)
def test_labels_for_mathematicians(text, labels):
    assert math_labels(parse(text)) == labels


def test_a_number_in_a_format_of_its_own_is_shown_as_it_is():
    assert math_labels(parse("x + 0.123456"), number_format=".0%")[-1] == "12%"
