"""Draws the pictures of the documentation into `docs/assets`: python docs/figures.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from edhie import EDHiERegressor, Forest, parse
from edhie.expr.drawing import draw_figure
from edhie.generators import load
from edhie.plots import plot_difference, plot_fit, plot_front, save
from edhie.plots.style import CURVE, FITTED, HELD_OUT, QUIET, SMALL, new_figure, tidy

ROOT = Path(__file__).parents[1]
ASSETS = Path(__file__).parent / "assets"


def kepler() -> None:
    """The front and the fit of the tutorial."""
    orbits = pd.read_csv(ROOT / "examples" / "data" / "orbits.csv")
    model = EDHiERegressor(max_time=None, max_evaluations=5000).fit(orbits[["axis", "mass"]], orbits["period"])
    save(plot_front(model.discoveries_[0]), ASSETS / "kepler-front.png")
    save(plot_fit(model.discoveries_[0]), ASSETS / "kepler-fit.png")


def revision() -> None:
    """What the page about revisions changes."""
    after = parse("59.83*exp(-0.2515*minutes) + 20.18").numbers_to_constants()
    save(plot_difference(parse("c*exp(-c*minutes)"), after), ASSETS / "revision.png")


def autoencoder() -> None:
    """A formula, its code in a shipped model, and what points further and further from it are decoded to."""
    model = load("general-2")
    formula = parse("c*x0*exp(-x1)", model.library)
    mean, _ = model.encode(Forest.from_exprs([formula]))
    direction = np.random.default_rng(2).standard_normal(mean.shape).astype(np.float32)
    direction /= np.linalg.norm(direction)
    figure = new_figure(8.4, 2.9)
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.5, 1.5, 2.4))
    draw_figure(formula, titles=[""], axes=left)
    left.set_title("a formula, as a tree", fontsize=SMALL, color=QUIET)
    middle.bar(np.arange(mean.shape[1]), mean[0], color=FITTED, width=0.8)
    middle.set_title(f"encoder →  its code, {mean.shape[1]} numbers", fontsize=SMALL, color=QUIET)
    middle.set_xticks([])
    tidy(middle)
    right.set_axis_off()
    right.set_title("decoder →  formulas, near and further off", fontsize=SMALL, color=QUIET)
    steps, shown = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0), []
    for step in steps:
        found = model.decode(mean + np.float32(step) * direction).forest
        shown.append(f"distance {step:g}:   {found[0]}")
    for k, text in enumerate(shown):
        right.text(0.04, 0.9 - 0.155 * k, text, fontsize=SMALL, family="monospace", transform=right.transAxes)
    save(figure, ASSETS / "autoencoder.png")


def mosaic() -> None:
    """The fifth Nguyen equation: two pieces, each of which explains little alone, and their sum, which explains all."""
    x = np.linspace(-2, 2, 400)
    target = np.sin(x**2) * np.cos(x) - 1
    pieces = {"sin(x + x²)": np.sin(x + x**2), "sin(x² − x)": np.sin(x**2 - x)}
    figure = new_figure(8.4, 2.5)
    panels = figure.subplots(1, 4, sharex=True)
    _curve(panels[0], x, target, "the target y", CURVE)
    for panel, (name, values) in zip(panels[1:], pieces.items(), strict=False):
        share = np.corrcoef(values, target)[0, 1] ** 2
        _curve(panel, x, values, f"{name}: explains {100 * share:.0f} %", FITTED)
    columns = np.column_stack([*pieces.values(), np.ones_like(x)])
    weights, *_ = np.linalg.lstsq(columns, target, rcond=None)
    left = np.abs(columns @ weights - target).max()
    assert left < 1e-12, left
    title = f"{weights[0]:.2g}·first + {weights[1]:.2g}·second − {-weights[2]:.0f}: all"
    _curve(panels[3], x, columns @ weights, title, HELD_OUT)
    save(figure, ASSETS / "mosaic.png")


def _curve(panel: Axes, x: np.ndarray, y: np.ndarray, title: str, colour: str) -> None:
    panel.plot(x, y, color=colour, linewidth=1.5)
    panel.set_title(title, fontsize=SMALL)
    tidy(panel)


def main() -> None:
    """All of them."""
    ASSETS.mkdir(exist_ok=True)
    for draw in (kepler, revision, autoencoder, mosaic):
        draw()


if __name__ == "__main__":
    main()
