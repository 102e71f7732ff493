"""Expression trees drawn with Matplotlib, one or several in a figure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edhie.expr.drawing.layout import PlacedNode, math_labels, tree_layout
from edhie.expr.expression import Expr
from edhie.expr.notation import to_infix
from edhie.expr.symbols import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

# in points
UNIT = 22.0  # the height of a node, and the unit of what follows below
LABEL_SIZE = 11.0
TITLE_SIZE = 10.0
TITLE_PAD = 7.0  # between a title and its tree
NARROWEST_TITLE = 150.0  # no title is broken to be narrower than this, nor narrower than its tree
PANEL_GAP = 20.0  # around and between panels
LINE_WIDTH = 0.9

# in units
ROW = 1.8  # from one depth to the next
GAP = 0.4  # between boxes
PADDING = 0.5  # to the sides of a label in its box, both together
MARGIN = 0.15  # around a tree, so that outlines are not cut
BASELINE = 0.16  # of a label, below the middle of its box: signs and small letters look centred

LINE_HEIGHT = 1.3  # of a title, by its type size
LONGEST_ROW = 5  # panels in a row, unless `columns` says otherwise
BREAK = re.compile(r"(?<=.)(?= [-+] )|(?<=, )|(?<=[*/])")  # where a title may be broken
NESTING_COST = 8  # characters that a line may be off its best length to end outside a pair of parentheses
LINE_COLOUR, LABEL_COLOUR = "#4d4d4d", "#1a1a1a"


LOOKS = {"operator": ("#d3e4f3", 0.5), "variable": ("#fdf3d0", 0.22)}
"""Colour and radius of the corners of nodes, by kind; kinds differ in lightness too."""
NUMBER_LOOK = ("#e7cabd", 0.0)  # constants to fit and literals too


@dataclass(frozen=True)
class _Drawing:
    """A tree ready to be drawn, and its extent in units."""

    nodes: list[PlacedNode]
    kinds: list[Kind]
    title: str
    width: float
    height: float

    @property
    def title_height(self) -> float:
        """Height of the title, in points."""
        return (self.title.count("\n") + 1) * TITLE_SIZE * LINE_HEIGHT + TITLE_PAD if self.title else 0.0

    @property
    def panel_width(self) -> float:
        """Width of the tree and its title, in points."""
        return max(self.width * UNIT, *(_text_width(line, TITLE_SIZE) for line in self.title.split("\n")))


def draw_figure(
    exprs: Expr | Sequence[Expr],
    *,
    titles: Sequence[str] | None = None,
    columns: int | None = None,
    number_format: str = ".4g",
) -> Figure:
    """Return a figure of one tree, or of several in a grid, as large as they need; titles are infix notation."""
    from matplotlib.figure import Figure

    trees = [exprs] if isinstance(exprs, Expr) else list(exprs)
    if not trees:
        raise ValueError("there is no expression to draw")
    if titles is not None and len(titles) != len(trees):
        raise ValueError(f"{len(trees)} expressions were given and {len(titles)} titles; the counts must agree")
    drawings = [_drawing(tree, None if titles is None else titles[i], number_format) for i, tree in enumerate(trees)]
    if columns is not None and columns < 1:
        raise ValueError(f"a grid of {columns} columns has no panels")
    # as few rows as possible, of even length: 3 and 3, not 5 and 1
    columns = min(columns or math.ceil(len(trees) / math.ceil(len(trees) / LONGEST_ROW)), len(trees))
    rows = [drawings[i : i + columns] for i in range(0, len(drawings), columns)]
    widths = [max(drawing.panel_width for drawing in drawings[i::columns]) for i in range(columns)]
    heights = [max(drawing.height * UNIT for drawing in row) for row in rows]
    title_heights = [max(drawing.title_height for drawing in row) for row in rows]
    total_width = sum(widths) + PANEL_GAP * (columns + 1)
    total_height = sum(heights) + sum(title_heights) + PANEL_GAP * (len(rows) + 1)
    figure = Figure(figsize=(total_width / 72, total_height / 72))
    bottom = total_height
    for row, height, title_height in zip(rows, heights, title_heights, strict=True):
        bottom -= PANEL_GAP + title_height + height
        left = PANEL_GAP
        for drawing, width in zip(row, widths, strict=False):
            box = (left / total_width, bottom / total_height, width / total_width, height / total_height)
            _draw(figure.add_axes(box), drawing, width / UNIT, height / UNIT)
            left += width + PANEL_GAP
    return figure


def _drawing(expr: Expr, title: str | None, number_format: str) -> _Drawing:
    def width_of(label: str) -> float:
        return max(1.0, _text_width(label, LABEL_SIZE) / UNIT + PADDING)

    nodes = tree_layout(expr, math_labels(expr, number_format=number_format), width=width_of, gap=GAP)
    kinds = [symbol.kind for _, _, symbol in expr.walk()]
    width = max(node.x + node.width / 2 for node in nodes) + 2 * MARGIN
    if title is None:
        title = _wrapped(to_infix(expr, number_format=number_format), max(width * UNIT, NARROWEST_TITLE))
    height = (expr.height - 1) * ROW + 1 + 2 * MARGIN
    return _Drawing(nodes, kinds, title, width, height)


def _text_width(text: str, size: float) -> float:
    from matplotlib.cbook import is_math_text
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    extent = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), is_math_text(text))
    return float(extent[0])


def _wrapped(text: str, width: float) -> str:
    """Break the text into lines of about one length, no wider than `width` where possible."""
    longest = width / _text_width(text, TITLE_SIZE) * len(text)  # in characters, taken to be alike
    lines = []
    while len(text) > longest and (breaks := [match.start() for match in BREAK.finditer(text)]):
        at = min((_badness(text, place, longest), place) for place in breaks)[1]
        lines.append(text[:at].strip())
        text = text[at:].strip()
    return "\n".join([*lines, text])


def _badness(text: str, at: int, longest: float) -> tuple[bool, float]:
    """Rank a line break: lines not too long, then of equal length, not inside many parentheses."""
    target = len(text) / math.ceil(len(text) / longest)
    nesting = text.count("(", 0, at) - text.count(")", 0, at)
    return at > longest, abs(at - target) + NESTING_COST * nesting


def _draw(panel: Axes, drawing: _Drawing, across: float, down: float) -> None:
    """Draw a tree with its title into axes that are `across` wide and `down` high, in units."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import PathPatch

    middle, top = drawing.width / 2 - MARGIN, 0.5 + MARGIN
    panel.set(xlim=(middle - across / 2, middle + across / 2), ylim=(top - down, top), aspect="equal")
    panel.axis("off")
    if drawing.title:
        panel.set_title(drawing.title, fontsize=TITLE_SIZE, pad=TITLE_PAD, usetex=False)
    # from the bottom of each parent to the top of each child, so that no line runs behind a node
    pairs = [(drawing.nodes[node.parent], node) for node in drawing.nodes if node.parent is not None]
    edges = [[(one.x, _height_of(one) - 0.5), (other.x, _height_of(other) + 0.5)] for one, other in pairs]
    panel.add_collection(LineCollection(edges, colors=LINE_COLOUR, linewidths=LINE_WIDTH, zorder=1))
    for node, kind in zip(drawing.nodes, drawing.kinds, strict=True):
        (fill, rounding), y = LOOKS.get(kind, NUMBER_LOOK), _height_of(node)
        box = _box(node.x, y, node.width, rounding)
        panel.add_patch(PathPatch(box, facecolor=fill, edgecolor=LINE_COLOUR, linewidth=LINE_WIDTH, zorder=2))
        label = panel.text(node.x, y - BASELINE, node.label, ha="center", va="baseline", zorder=3)
        label.set(fontsize=LABEL_SIZE, color=LABEL_COLOUR, usetex=False)


def _box(x: float, y: float, width: float, rounding: float) -> Path:
    """Return a box of height 1 around a point with circular corners (`FancyBboxPatch` squares them)."""
    from matplotlib.path import Path

    control = rounding * 0.4477  # a cubic's control points on the sides of a square, for a quarter of a circle
    side = width / 2
    corner = [(side, 0.5 - rounding), (side, 0.5 - control), (side - control, 0.5), (side - rounding, 0.5)]
    points = [
        (x + across * sign_x, y + up * sign_y)
        for sign_x, sign_y in ((1, 1), (-1, 1), (-1, -1), (1, -1))
        for across, up in (corner if sign_x == sign_y else reversed(corner))
    ]
    codes = [Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4] * 4
    return Path([*points, points[0]], [Path.MOVETO, *codes[1:], Path.CLOSEPOLY])


def _height_of(node: PlacedNode) -> float:
    return -(node.depth - 1) * ROW
