"""Trees drawn for the terminal and as figures."""

from edhie.expr.drawing.figure import draw_figure
from edhie.expr.drawing.layout import draw_text

__all__ = ["draw_figure", "draw_text"]
