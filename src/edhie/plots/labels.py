"""Labels on a falling line of points, where none lies on another, on a point or on the line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from edhie.plots.style import any_letters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]

PLACES = ((7, 5, "left", "bottom"), (-7, -5, "right", "top"))
"""In points from the labelled one: where the line falls, above on the right and below on the left is room."""
ANYWHERE = (*PLACES, (-7, 5, "right", "bottom"))
"""For one label that matters: there it may be taken for another point's."""
REACH = 4.5  # of a point to each side, in points
LINE = 1.0


class Labels:
    """The labels of one panel, whose limits and names are set already."""

    def __init__(self, panel: Axes, points: Sequence[Point]) -> None:
        from matplotlib.transforms import Bbox

        figure = panel.get_figure(root=True)
        assert figure is not None
        self.panel = panel
        with any_letters():
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
            with any_letters():
                box = label.get_window_extent()
            is_within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            if is_within and not box.count_overlaps(self.taken):
                self.taken.append(box)
                return True
            label.remove()
        return False
