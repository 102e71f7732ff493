"""An expression tree drawn in a terminal."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len

from edhie.expr.drawing.layout import PlacedNode, tree_layout
from edhie.expr.expression import Expr
from edhie.expr.notation import to_prefix_tokens

UNICODE, ASCII = "┌─┴┐│", ".-'.|"  # the left corner, across, the middle, the right corner, down


def draw_text(expr: Expr, *, number_format: str = ".4g", ascii: bool = False) -> str:
    """Return the tree, root on top, in box characters, or in plain ASCII for terminals without Unicode.

    >>> from edhie.expr import parse
    >>> print(draw_text(parse("c*x0 + sin(x1)")))
         +
      ┌──┴──┐
      *    sin
    ┌─┴─┐   │
    c   x0  x1
    """
    # odd widths and even distances: every node has a middle column, and parents stand exactly between children;
    # widths count columns, not characters: some scripts take two
    labels = to_prefix_tokens(expr, number_format=number_format)
    nodes = tree_layout(expr, labels, width=lambda label: cell_len(label) | 1, gap=1, grid=2)
    rows: list[list[tuple[int, str]]] = [[] for _ in range(2 * expr.height - 1)]
    for node in nodes:  # prefix order: within a row, from left to right
        start = int(node.x) - (cell_len(node.label) - 1) // 2
        rows[2 * node.depth - 2].append((start, node.label))
        children = [nodes[i] for i in expr.child_positions(node.position)]
        if children:
            rows[2 * node.depth - 1].append((int(children[0].x), _branches(children, ASCII if ascii else UNICODE)))
    return textwrap.dedent("\n".join(_line(row) for row in rows))


def _branches(children: list[PlacedNode], pen: str) -> str:
    """Return the lines from a node down to its children, starting at the middle of the first."""
    left, across, middle, right, down = tuple(pen)
    if len(children) == 1:
        return down
    arm = across * (int(children[1].x - children[0].x) // 2 - 1)
    return left + arm + middle + arm + right


def _line(pieces: list[tuple[int, str]]) -> str:
    line, end = "", 0
    for column, piece in pieces:
        line += " " * (column - end) + piece
        end = column + cell_len(piece)
    return line
