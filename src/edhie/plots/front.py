"""The front as a picture: how much each step of complexity buys, and which equation was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from edhie.arrays import Numbers
from edhie.fit import Discovery, Equation
from edhie.plots import style
from edhie.plots.words import equation_text, r2_text, right_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OTHERS = 4  # labelled besides the chosen one, where there is room
CHOSEN_WIDTH, OTHER_WIDTH = 56, 34  # letters
Point = tuple[float, float]

PLACES = ((7, 5, "left", "bottom"), (-7, -5, "right", "top"))
"""In points from the labelled one: where the line falls, above on the right and below on the left is room."""
ANYWHERE = (*PLACES, (-7, 5, "right", "bottom"))
"""For one label that matters: there it may be taken for another point's."""
REACH = 4.5  # of a point to each side, in points
LINE = 1.0


@dataclass(frozen=True, eq=False)
class Chart:
    """The front as a chart: a point for each equation, the line of the front, and the limits of both axes."""

    x: Numbers
    """Complexity."""
    y: Numbers
    """Loss as it is shown: on a logarithmic axis one of 0 lies below all others."""
    is_log: bool
    x_limits: Point
    y_limits: Point

    @classmethod
    def of(cls, discovery: Discovery) -> Chart:
        """Return the chart of all equations."""
        x = np.array([each.complexity for each in discovery.equations])
        y, is_log = style.shown_losses(np.array([each.loss for each in discovery.equations]))
        span = float(x.max() - x.min())
        y_limits = style.padded(y, logarithmic=True, share=0.12) if is_log else (0.0, 1.18 * float(y.max()) or 1.0)
        x_limits = float(x.min() - max(0.08 * span, 1)), float(x.max() + max(0.12 * span, 1))
        return cls(x, y, is_log, x_limits, y_limits)

    @property
    def line(self) -> list[Point]:
        """The points of the front, from the least complex on; the chosen equation may lie above it."""
        on_front = self.y <= np.minimum.accumulate(self.y)
        return list(zip(self.x[on_front].tolist(), self.y[on_front].tolist(), strict=True))


def plot_front(discovery: Discovery) -> Figure:
    """Plot loss against complexity of all equations; the chosen one is marked and a few others are labelled."""
    from matplotlib.ticker import MaxNLocator

    index, equations, chart = discovery.index, discovery.equations, Chart.of(discovery)
    figure = style.new_figure(6.4, 4.0)
    panel = figure.subplots()
    panel.plot(*zip(*chart.line, strict=True), color=style.FAINT, linewidth=1.2, drawstyle="steps-post", zorder=1)
    others = np.arange(len(equations)) != index
    panel.scatter(chart.x[others], chart.y[others], s=26, color=style.FITTED, linewidths=0, zorder=2)
    marker = "v" if equations[index].loss == 0 else "o"
    panel.scatter(chart.x[index], chart.y[index], s=70, marker=marker, color=style.HELD_OUT, linewidths=0, zorder=3)
    panel.set(xlim=chart.x_limits, yscale="log" if chart.is_log else "linear", ylim=chart.y_limits)
    is_whole = bool((chart.x == chart.x.round()).all())
    panel.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=is_whole))
    style.name_axes(panel, "complexity", "loss")
    style.tidy(panel)
    _label(panel, equations, chart.y, index)
    return figure


def _label(panel: Axes, equations: Sequence[Equation], y: Numbers, index: int) -> None:
    """Label the chosen equation, then those with the highest scores, where there is room."""
    at = [(each.complexity, float(loss)) for each, loss in zip(equations, y, strict=True)]
    best = equations[index]
    words = f"{equation_text(best, CHOSEN_WIDTH)}\nloss {best.loss:.3g}, R² = {r2_text(best.r2)}"
    labels = _Labels(panel, at)
    if not labels.place(at[index], words, anywhere=True, color=style.CURVE, fontsize=style.TEXT_SIZE):
        panel.set_title(f"chosen: {words}", loc="left", color=style.CURVE, fontsize=style.TEXT_SIZE, parse_math=False)
        labels = _Labels(panel, at)  # the panel is smaller now
    left = OTHERS
    for k in sorted(range(len(equations)), key=lambda k: -equations[k].score):
        words = right_side(equations[k], OTHER_WIDTH)
        is_apart = equations[k].complexity != best.complexity  # or its label would be taken for the chosen one's
        if is_apart and left and labels.place(at[k], words, color=style.QUIET, fontsize=style.SMALL):
            left -= 1


class _Labels:
    """Labels on a falling line of points, where none lies on another, on a point or on the line.

    The limits and names of the panel must be set already.
    """

    def __init__(self, panel: Axes, points: Sequence[Point]) -> None:
        from matplotlib.transforms import Bbox

        figure = panel.get_figure(root=True)
        assert figure is not None
        self.panel = panel
        with style.any_letters():
            figure.draw_without_rendering()  # so that the panel is where it will be
        unit = figure.dpi / 72
        pixels = [tuple(pixel) for pixel in panel.transData.transform(points)]
        line = [((x0, y0), (x1, y0)) for (x0, y0), (x1, _) in pairwise(pixels)]
        drops = [((x1, y0), (x1, y1)) for (_, y0), (x1, y1) in pairwise(pixels)]
        self.taken = [Bbox([pixel, pixel]).padded(REACH * unit) for pixel in pixels]
        self.taken += [Bbox([one, other]).padded(LINE * unit) for one, other in line + drops]

    def place(self, at: Point, words: str, *, anywhere: bool = False, **how: Any) -> bool:
        """Place a label at this point if there is room; return whether there was."""
        inside = self.panel.bbox
        for right, up, across, along in ANYWHERE if anywhere else PLACES:
            label = self.panel.annotate(
                words, at, (right, up), textcoords="offset points", ha=across, va=along, parse_math=False, **how
            )
            label.set_in_layout(False)  # it takes no room from the panel
            with style.any_letters():
                box = label.get_window_extent()
            is_within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            if is_within and not box.count_overlaps(self.taken):
                self.taken.append(box)
                return True
            label.remove()
        return False
