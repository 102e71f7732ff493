"""Pictures of a training and of a walk through a latent space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from edhie.expr import Expr, SymbolLibrary
from edhie.expr.drawing import draw_figure
from edhie.generators.walks import Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEARNT, HELD_OUT, TOTAL, WEIGHT = "#1f5f99", "#d1662b", "#8c8c8c", "#5b8c3e"
MARKED = 30  # up to so many epochs each has a dot


def history_figure(history: Sequence[Mapping[str, float]]) -> Figure:
    """Draw the parts of the loss, epoch by epoch: reconstruction above, divergence and its weight below."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter

    if not history:
        raise ValueError("there is no epoch to plot")
    column = {name: np.array([row[name] for row in history], dtype=np.float64) for name in history[0]}
    epochs = column["epoch"] + 1
    figure = Figure(figsize=(6.4, 5.2), layout="constrained", dpi=150)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    _line(above, epochs, column["loss"], TOTAL, "loss", dashed=True)
    _line(above, epochs, column["reconstruction"], LEARNT, "reconstruction, corpus")
    if np.isfinite(column["validation"]).any():
        _line(above, epochs, column["validation"], HELD_OUT, "reconstruction, held out")
    shown = np.concatenate([column["loss"], column["reconstruction"], column["validation"]])
    if (shown[np.isfinite(shown)] > 0).all():
        above.set_yscale("log")
        above.yaxis.set_major_formatter(LogFormatter())  # 0.1, not a power of ten
        above.yaxis.set_minor_formatter(LogFormatter())
    above.set_ylabel("nats per expression")
    above.legend(frameon=False)
    _line(below, epochs, column["divergence"], LEARNT, "divergence")
    below.set_ylabel("divergence, nats", color=LEARNT)
    below.set_ylim(bottom=0)
    weight = below.twinx()
    _line(weight, epochs, column["weight"], WEIGHT, "its weight")
    weight.set_ylabel("its weight in the loss", color=WEIGHT)
    weight.set_ylim(0, 1.1 * float(column["weight"].max()) or 1.0)
    below.set_xlabel("epoch")
    below.set_xlim(0, float(epochs.max()) + 1)
    below.xaxis.get_major_locator().set_params(integer=True)
    for panel in (above, below, weight):
        panel.spines["top"].set_visible(False)
        panel.spines["right"].set_visible(panel is weight)
    return figure


def _line(panel: Axes, x: Floats, y: Floats, colour: str, label: str, *, dashed: bool = False) -> None:
    panel.plot(
        x, y, color=colour, label=label, linewidth=1.4, linestyle="--" if dashed else "-",
        marker="o" if len(x) <= MARKED else "", markersize=3,
    )  # fmt: skip


def walk_figure(walk: Sequence[Step]) -> Figure:
    """Draw the trees of an interpolation in a row; a gap where there is no expression."""
    stand_in = Expr(SymbolLibrary.of([], ["x"]), ["x"])
    trees = [step.expr or stand_in for step in walk]
    titles = [f"α = {step.alpha:.3g}\n{step.expr or '(no expression)'}" for step in walk]
    figure = draw_figure(trees, titles=titles, columns=len(walk))
    for panel, step in zip(figure.axes, walk, strict=True):
        if step.expr is None:
            for drawn in (*panel.patches, *panel.texts, *panel.collections):
                drawn.remove()
    return figure
