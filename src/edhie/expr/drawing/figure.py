"""Expression trees drawn with Matplotlib, one or several in a figure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from edhie.expr.drawing.layout import PlacedNode, math_labels, tree_layout
from edhie.expr.expression import Expr
from edhie.expr.notation import to_infix
from edhie.expr.symbols import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path
    from numpy.typing import NDArray

# in points, at full scale
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


def draw_figure(
    exprs: Expr | Sequence[Expr],
    *,
    titles: Sequence[str] | None = None,
    columns: int | None = None,
    axes: Axes | Sequence[Axes] | NDArray[Any] | None = None,
    number_format: str = ".4g",
) -> Figure:
    """Return a figure of one tree, or of several in a grid at one scale; titles are infix notation.

    The figure is as large as its trees need. With `axes`, one for each expression, the trees
    are drawn into those instead, smaller where they must be, and their figure is returned.
    """
    trees = [exprs] if isinstance(exprs, Expr) else list(exprs)
    if not trees:
        raise ValueError("there is no expression to draw")
    if titles is not None and len(titles) != len(trees):
        raise ValueError(f"{len(trees)} expressions were given and {len(titles)} titles; the counts must agree")
    drawings = [_drawing(tree, None if titles is None else titles[i], number_format) for i, tree in enumerate(trees)]
    if columns is not None and columns < 1:
        raise ValueError(f"a grid of {columns} columns has no panels")
    if axes is None:
        rows = math.ceil(len(trees) / LONGEST_ROW)
        panels = _panels(drawings, columns or math.ceil(len(trees) / rows))  # even rows: 3 and 3, not 5 and 1
    else:
        panels = list(np.ravel(np.array(axes, dtype=object)))
        if len(panels) != len(trees):
            raise ValueError(f"{len(trees)} expressions were given and {len(panels)} axes; the counts must agree")
    scale = 1.0  # at which all drawings fit
    for panel, drawing in zip(panels, drawings, strict=True):
        width, height = _size(panel)
        scale = min(scale, width / _panel_width(drawing), height / (drawing.height * UNIT))
    for panel, drawing in zip(panels, drawings, strict=True):
        _draw(panel, drawing, scale)
    return panels[0].figure.figure


# -- what to draw ---------------------------------------------------------------------


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


# -- where to draw it -----------------------------------------------------------------


def _panel_width(drawing: _Drawing) -> float:
    """Return the width of a tree and its title, in points."""
    return max(drawing.width * UNIT, *(_text_width(line, TITLE_SIZE) for line in drawing.title.split("\n")))


def _panels(drawings: list[_Drawing], columns: int) -> list[Axes]:
    """Return axes in a grid in a new figure, each as large as its row and column need at full scale."""
    from matplotlib.figure import Figure

    columns = min(columns, len(drawings))
    rows = [drawings[i : i + columns] for i in range(0, len(drawings), columns)]
    widths = [max(_panel_width(drawing) for drawing in drawings[i::columns]) for i in range(columns)]
    total_width = sum(widths) + PANEL_GAP * (columns + 1)
    heights = [max(drawing.height * UNIT for drawing in row) for row in rows]
    title_heights = [max(drawing.title_height for drawing in row) for row in rows]
    total_height = sum(heights) + sum(title_heights) + PANEL_GAP * (len(rows) + 1)
    figure = Figure(figsize=(total_width / 72, total_height / 72))
    axes, bottom = [], total_height
    for row, height, title_height in zip(rows, heights, title_heights, strict=True):
        bottom -= PANEL_GAP + title_height + height
        left = PANEL_GAP
        for width, _ in zip(widths, row, strict=False):
            box = (left / total_width, bottom / total_height, width / total_width, height / total_height)
            axes.append(figure.add_axes(box))
            left += width + PANEL_GAP
    return axes


def _size(panel: Axes) -> tuple[float, float]:
    box, points = panel.get_window_extent(), 72 / panel.figure.dpi
    return box.width * points, box.height * points


# -- drawing --------------------------------------------------------------------------


def _draw(panel: Axes, drawing: _Drawing, scale: float) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import PathPatch

    across, down = (length / (UNIT * scale) for length in _size(panel))
    middle, top = drawing.width / 2 - MARGIN, 0.5 + MARGIN
    panel.set(xlim=(middle - across / 2, middle + across / 2), ylim=(top - down, top), aspect="equal")
    panel.axis("off")
    if drawing.title:
        panel.set_title(drawing.title, fontsize=TITLE_SIZE * scale, pad=TITLE_PAD * scale, usetex=False)
    width = LINE_WIDTH * scale
    # from the bottom of each parent to the top of each child, so that no line runs behind a node
    pairs = [(drawing.nodes[node.parent], node) for node in drawing.nodes if node.parent is not None]
    edges = [[(one.x, _height_of(one) - 0.5), (other.x, _height_of(other) + 0.5)] for one, other in pairs]
    panel.add_collection(LineCollection(edges, colors=LINE_COLOUR, linewidths=width, zorder=1))
    for node, kind in zip(drawing.nodes, drawing.kinds, strict=True):
        (fill, rounding), y = LOOKS.get(kind, NUMBER_LOOK), _height_of(node)
        box = _box(node.x, y, node.width, rounding)
        panel.add_patch(PathPatch(box, facecolor=fill, edgecolor=LINE_COLOUR, linewidth=width, zorder=2))
        label = panel.text(node.x, y - BASELINE, node.label, ha="center", va="baseline", zorder=3)
        label.set(fontsize=LABEL_SIZE * scale, color=LABEL_COLOUR, usetex=False)


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
