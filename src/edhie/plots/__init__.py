"""Plots of equations: Matplotlib figures; Matplotlib is loaded when one is drawn.

No state of pyplot is touched: a figure is a value, to be shown in a notebook or saved.
"""

from edhie.plots.fit import plot_fit
from edhie.plots.front import plot_front
from edhie.plots.style import save
from edhie.plots.trees import plot_difference

__all__ = ["plot_difference", "plot_fit", "plot_front", "save"]
