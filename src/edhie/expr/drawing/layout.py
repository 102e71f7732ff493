"""Labels and positions of the nodes of a drawn expression tree, for any means of drawing."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from edhie.expr.expression import Expr
from edhie.expr.notation import to_prefix_tokens
from edhie.expr.numerals import is_numeral
from edhie.expr.symbols import Symbol

MINUS = "\N{MINUS SIGN}"
LONGEST_SUBSCRIPTED = 9  # letters in a name such as epsilon_0

MATH_LABELS = {
    "-": MINUS, "neg": MINUS, "*": "×", "/": "÷", "^": r"$\wedge$", "inv": r"$(\cdot)^{-1}$",
    "sqrt": r"$\sqrt{\cdot}$", "cbrt": r"$\sqrt[3]{\cdot}$", "abs": r"$|\cdot|$", "log10": r"log$_{10}$",
}  # fmt: skip
"""Labels that read better than the symbol's name."""


@dataclass(frozen=True)
class PlacedNode:
    """One node of a drawn tree: its centre is at `x`, its box reaches `width / 2` to either side."""

    position: int
    """Position in prefix order."""
    parent: int | None
    """Position of the parent in prefix order; None for the root."""
    x: float
    depth: int
    """1 for the root, as in `Expr.walk`."""
    label: str
    width: float


def math_labels(expr: Expr, *, number_format: str = "") -> list[str]:
    r"""Return mathematical labels for Matplotlib: `(·)²` for `^2`, a subscript for `x0`.

    >>> from edhie.expr import parse
    >>> math_labels(parse("x0^2 + 2e-7"))
    ['+', '$(\\cdot)^{2}$', '$x_{0}$', '2$\\times 10^{-7}$']
    """
    texts = to_prefix_tokens(expr, number_format=number_format)
    return [_math_label(symbol, text) for (_, _, symbol), text in zip(expr.walk(), texts, strict=True)]


def _math_label(symbol: Symbol, text: str) -> str:
    if symbol.kind == "operator":
        power = rf"$(\cdot)^{{{text[1:]}}}$" if symbol.style == "postfix" else text
        return MATH_LABELS.get(text, power)
    if is_numeral(text):
        mantissa, _, exponent = text.partition("e")
        return mantissa.replace("-", MINUS) + (rf"$\times 10^{{{int(exponent)}}}$" if exponent else "")
    # the fonts for mathematics lack other scripts, and long subscripts are too small to read
    is_short_name = text == symbol.name and text.isascii() and len(text) <= LONGEST_SUBSCRIPTED
    return f"${symbol.latex}$" if is_short_name else text


def tree_layout(
    expr: Expr,
    labels: Sequence[str] | None = None,
    *,
    width: Callable[[str], float] = lambda label: 0.0,
    gap: float = 1.0,
    grid: float = 0.0,
) -> list[PlacedNode]:
    """Return a tidy layout: parents centred over their children, subtrees as close as they fit.

    Boxes `width(label)` wide at the same depth keep `gap` between them, and the leftmost
    starts at 0. With a `grid`, siblings stand a multiple of it apart: a terminal that asks
    for 2 and for odd widths gets every centre in the middle of a character.

    >>> from edhie.expr import parse
    >>> [(node.label, node.x, node.depth) for node in tree_layout(parse("x0 + sin(x1)"))]
    [('+', 0.5, 1), ('x0', 0.0, 2), ('sin', 1.0, 2), ('x1', 1.0, 3)]
    """
    texts = to_prefix_tokens(expr) if labels is None else list(labels)
    if len(texts) != expr.size:
        raise ValueError(f"the expression has {expr.size} nodes, {len(texts)} labels were given")
    widths = [width(text) for text in texts]
    children = [expr.child_positions(i) for i in range(expr.size)]
    offsets = _offsets(children, widths, gap, grid)
    parents: list[int | None] = [None] * expr.size
    centres = [0.0] * expr.size
    for i, own in enumerate(children):
        for child in own:
            parents[child] = i
            centres[child] = centres[i] + offsets[child]
    start = min(x - w / 2 for x, w in zip(centres, widths, strict=True))
    return [PlacedNode(i, parents[i], centres[i] - start, depth, texts[i], widths[i]) for i, depth, _ in expr.walk()]


def _offsets(children: list[tuple[int, ...]], widths: list[float], gap: float, grid: float) -> list[float]:
    """Return the offset of each node to the right of its parent (Reingold and Tilford, 1981)."""
    offsets = [0.0] * len(children)
    # of subtrees without a parent yet, the leftmost on top: left and right end at each depth, from the root's centre
    finished: list[NDArray[np.float64]] = []
    for i in range(len(children) - 1, -1, -1):
        below = [finished.pop() for _ in children[i]]
        if len(below) == 2:
            shared = min(each.shape[1] for each in below)
            # the least at which the subtrees keep the gap at every depth
            distance = float((below[0][1, :shared] - below[1][0, :shared]).max()) + gap
            distance = math.ceil(distance / grid) * grid if grid else distance
            offsets[children[i][0]], offsets[children[i][1]] = -distance / 2, distance / 2
            left, right = below[0] - distance / 2, below[1] + distance / 2
            right[0, :shared], left[1, :shared] = left[0, :shared], right[1, :shared]
            below = [right if right.shape[1] > shared else left]
        finished.append(np.concatenate([[[-widths[i] / 2], [widths[i] / 2]], *below], axis=1))
    return offsets


# -- in a terminal -----------------------------------------------------------------------

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
