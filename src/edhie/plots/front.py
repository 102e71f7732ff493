"""The front as a picture: how much each step of complexity buys, and which equation was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from edhie.fit import Discovery, Equation
from edhie.plots.labels import Labels
from edhie.plots.style import (
    CURVE,
    FAINT,
    FITTED,
    HELD_OUT,
    QUIET,
    SMALL,
    TEXT_SIZE,
    Numbers,
    name_axes,
    new_figure,
    shown_losses,
    tidy,
)
from edhie.plots.words import equation_text, r2_text, right_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OTHERS = 4  # labelled besides the chosen one, where there is room
CHOSEN_WIDTH, OTHER_WIDTH = 56, 34  # letters


def plot_front(discovery: Discovery) -> Figure:
    """Plot loss against complexity of all equations; the chosen one is marked and a few others are labelled."""
    index, equations = discovery.index, discovery.equations
    complexity = np.array([each.complexity for each in equations])
    loss = np.array([each.loss for each in equations])
    shown, is_log = shown_losses(loss)
    figure = new_figure(6.4, 4.0)
    panel = figure.subplots()
    _draw(panel, complexity, shown, index, chosen_is_exact=loss[index] == 0)
    _scale(panel, complexity, shown, is_log=is_log)
    name_axes(panel, "complexity", "loss")
    tidy(panel)
    _label(panel, equations, shown, index)
    return figure


def _draw(panel: Axes, x: Numbers, y: Numbers, index: int, *, chosen_is_exact: bool) -> None:
    """Draw the front as a line; the chosen equation may lie above it."""
    lowest = np.minimum.accumulate(y)
    on_front = y <= lowest
    panel.plot(x[on_front], y[on_front], color=FAINT, linewidth=1.2, drawstyle="steps-post", zorder=1)
    others = np.arange(len(x)) != index
    panel.scatter(x[others], y[others], s=26, color=FITTED, linewidths=0, zorder=2)
    marker = "v" if chosen_is_exact else "o"
    panel.scatter(x[[index]], y[[index]], s=70, marker=marker, color=HELD_OUT, linewidths=0, zorder=3)


def _scale(panel: Axes, x: Numbers, y: Numbers, *, is_log: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    span = float(x.max() - x.min())
    panel.set_xlim(x.min() - max(0.08 * span, 1), x.max() + max(0.12 * span, 1))
    panel.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=bool((x == x.round()).all())))
    if is_log:
        panel.set_yscale("log")
        decades = np.log10(y.max() / y.min())
        panel.set_ylim(y.min() / 10 ** (0.12 * decades), y.max() * 10 ** (0.12 * decades))
    else:
        panel.set_ylim(0, 1.18 * float(y.max()) or 1.0)


def _label(panel: Axes, equations: Sequence[Equation], y: Numbers, index: int) -> None:
    """Label the chosen equation, then those with the highest scores, where there is room."""
    at = [(each.complexity, float(loss)) for each, loss in zip(equations, y, strict=True)]
    best = equations[index]
    words = f"{equation_text(best, CHOSEN_WIDTH)}\nloss {best.loss:.3g}, R² = {r2_text(best.r2)}"
    labels = Labels(panel, at)
    if not labels.place(at[index], words, anywhere=True, color=CURVE, fontsize=TEXT_SIZE):
        panel.set_title(f"chosen: {words}", loc="left", color=CURVE, fontsize=TEXT_SIZE, parse_math=False)
        labels = Labels(panel, at)  # the panel is smaller now
    left = OTHERS
    for k in sorted(range(len(equations)), key=lambda k: -equations[k].score):
        words = right_side(equations[k], OTHER_WIDTH)
        is_apart = equations[k].complexity != best.complexity  # or its label would be taken for the chosen one's
        if is_apart and left and labels.place(at[k], words, color=QUIET, fontsize=SMALL):
            left -= 1
