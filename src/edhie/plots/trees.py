"""Two expressions as trees side by side, with the changes from one to the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from edhie.expr import Expr
from edhie.expr.difference import Difference, difference
from edhie.expr.drawing import draw_figure
from edhie.plots.style import CURVE, DPI, QUIET, SMALL, TEXT_SIZE, any_letters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND = 14.0  # points, below the trees, besides the margin that they have
HEADING = 4.0  # above them
HEADING_MIDDLE = 11.0  # from the top
NARROWEST = 330.0  # so that the legend has room


@dataclass(frozen=True)
class _Mark:
    """A style for changed nodes: by colour, and by their border for those who do not see colours."""

    fill: str
    edge: str
    width: float
    style: Any = "-"


KEPT = _Mark("#ececec", "#9a9a9a", 0.8)
# Okabe and Ito's colours, which everyone can distinguish
REPLACED = _Mark("#f6dd9b", "#8a5a00", 1.6, (0, (1.2, 1.2)))
INSERTED = _Mark("#a8d8c6", "#00543d", 2.2)
DELETED = _Mark("#fbd0b5", "#9c3d00", 1.4, (0, (4, 2)))
LINE_COLOUR = "#b8b8b8"


def plot_difference(before: Expr, after: Expr, *, number_format: str = ".4g") -> Figure:
    """Plot both trees: shared nodes are grey, replaced ones dotted, deleted ones dashed, inserted ones bold."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    changes = difference(before, after)
    with any_letters():
        figure = draw_figure([before, after], number_format=number_format)
    figure.set(dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    panels = figure.axes
    _make_room(figure)
    old, new = (dict.fromkeys((pair[side] for pair in changes.replaced), REPLACED) for side in (0, 1))
    old |= dict.fromkeys(changes.deleted, DELETED)
    new |= dict.fromkeys(changes.inserted, INSERTED)
    for panel, name, marks in zip(panels, ("before", "after"), (old, new), strict=True):
        _colour(panel, marks)
        place = panel.get_position()
        figure.text(
            place.x0 + place.width / 2, 1 - HEADING_MIDDLE / _points(figure)[1], name,
            ha="center", va="center", fontsize=TEXT_SIZE, color=QUIET,
        )  # fmt: skip
    _explain(figure, changes)
    with any_letters():
        figure.draw_without_rendering()
    return figure


def _points(figure: Figure) -> tuple[float, float]:
    width, height = figure.get_size_inches()
    return 72 * float(width), 72 * float(height)


def _make_room(figure: Figure) -> None:
    """Add a strip above for headings and one below for the legend."""
    width, height = _points(figure)
    boxes = [panel.get_position() for panel in figure.axes]
    wide, high = max(width, NARROWEST), height + LEGEND + HEADING
    figure.set_size_inches(wide / 72, high / 72)
    for panel, box in zip(figure.axes, boxes, strict=True):
        left = box.x0 * width + (wide - width) / 2
        panel.set_position((
            left / wide, (box.y0 * height + LEGEND) / high, box.width * width / wide, box.height * height / high,
        ))  # fmt: skip


def _colour(panel: Axes, marks: Mapping[int, _Mark]) -> None:
    """Colour the nodes, which are the panel's patches in prefix order."""
    for node, patch in enumerate(panel.patches):
        mark = marks.get(node, KEPT)
        patch.set(facecolor=mark.fill, edgecolor=mark.edge, linewidth=mark.width, linestyle=mark.style)
    for lines in panel.collections:
        lines.set_color(LINE_COLOUR)
    for node, label in enumerate(panel.texts):
        label.set_color(CURVE if node in marks else QUIET)
        label.set_fontweight("bold" if node in marks else "normal")


def _explain(figure: Figure, changes: Difference) -> None:
    """Add a legend of the kinds of changes."""
    from matplotlib.patches import Patch

    is_there = {
        "kept": (KEPT, any(changes.kept)),
        "replaced": (REPLACED, bool(changes.replaced)),
        "inserted": (INSERTED, bool(changes.inserted)),
        "deleted": (DELETED, bool(changes.deleted)),
    }
    shown = [
        Patch(facecolor=mark.fill, edgecolor=mark.edge, linewidth=mark.width, linestyle=mark.style, label=name)
        for name, (mark, is_used) in is_there.items()
        if is_used
    ]
    figure.legend(
        handles=shown, loc="lower center", ncols=len(shown), frameon=False, fontsize=SMALL, handlelength=1.8,
        handleheight=1.2, columnspacing=1.6, borderaxespad=0.4,
    )  # fmt: skip
