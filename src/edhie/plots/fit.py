"""Plot of data and prediction, with the residuals below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from edhie.arrays import Indices, Numbers
from edhie.evaluate import Data
from edhie.fit import Discovery, Equation
from edhie.plots import style
from edhie.plots.words import equation_text, one_line, r2_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 5000  # more would be one blot
GRID = 600  # points of a curve
DEVIATIONS = 2.0  # that the band reaches to each side
LEAST_BAND = 1e-3  # of the height: a narrower band is not seen
BREAK = 1.5  # heights of the picture that a curve may jump from one point of the grid to the next
FAR = 3.0  # decades from which on an axis of the data is logarithmic
NAME = 34  # letters of a target that fit beside a panel
MANY = 1000  # points that a vector picture holds one by one


Predict = Callable[[Numbers], Numbers]


@dataclass(frozen=True, eq=False)
class Part:
    """Rows to draw, of those fitted to or of those held out, with predictions; NaN where there is none."""

    rows: Data
    places: Indices
    """The places of these rows among all of the part."""
    predicted: Numbers
    is_held_out: bool
    n_rows: int
    """The number of all rows of the part."""

    def residuals(self, *, relative: bool = False) -> Numbers:
        """Return residuals; relative to the prediction if values span decades."""
        with np.errstate(all="ignore"):
            left = self.rows.y - self.predicted
            return left / self.predicted if relative else left

    def draw(self, panel: Axes, x: Numbers, y: Numbers) -> None:
        """Draw points, smaller and fainter the more there are."""
        crowd = np.clip(np.log10(max(len(x), 1) / 100) / 2, 0, 1)  # 0 up to a hundred, 1 from ten thousand on
        some = "" if len(x) == self.n_rows else f" ({len(x):,} of {self.n_rows:,})"
        panel.scatter(
            x, y, s=18 - 13 * crowd, alpha=0.85 - 0.55 * crowd, linewidths=0, zorder=2, rasterized=len(x) > MANY,
            color=style.HELD_OUT if self.is_held_out else style.FITTED,
            label=f"{'held-out' if self.is_held_out else 'fitted'} rows{some}",
        )  # fmt: skip


def parts_of(train: Data, validation: Data | None, predict: Predict, *, most: int = MOST_ROWS) -> list[Part]:
    """Return training and held-out rows with predictions: all of them, or a fixed random sample of each in proportion.

    At most so many rows are drawn; they share a picture as they share the table.
    """
    sets = [train] if validation is None else [train, validation]
    share, found = min(1.0, most / sum(data.n_rows for data in sets)), []
    for data in sets:
        places = np.arange(data.n_rows)
        if share < 1:
            wanted = max(1, round(share * data.n_rows))
            places = np.sort(np.random.default_rng(0).choice(data.n_rows, wanted, replace=False))
        rows = data if share == 1 else replace(data, weights=None).take(places)
        predicted = predict(np.ascontiguousarray(rows.columns))
        predicted = np.where(np.isfinite(predicted), predicted, np.nan)
        found.append(Part(rows, places, predicted, data is validation, data.n_rows))
    return found


def plot_fit(found: Discovery | Equation, index: int | None = None, *, titled: bool = True) -> Figure:
    """Plot the data and the prediction of an equation, and the residuals below.

    The equation is the chosen one, or the one at `index` of the discovery. With one variable the target is plotted
    against it; with several, against the prediction, so that a residual is the distance from the diagonal.
    """
    equation = found if isinstance(found, Equation) else found.best if index is None else found.equations[index]
    parts = parts_of(equation.train, equation.validation, equation.predict)
    figure = style.new_figure(6.4, 5.2)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.3))
    if equation.train.n_variables == 1:
        names = found.columns if isinstance(found, Discovery) else equation.train.names
        _against_variable(above, below, equation, parts, one_line(names[0]))
    else:
        _against_prediction(above, below, parts, one_line(equation.target, NAME))
    below.axhline(0, color=style.CURVE, linewidth=0.8, zorder=1)
    for panel in (above, below):
        style.tidy(panel)
    figure.align_ylabels((above, below))
    if titled:
        above.set_title(_title(equation, parts), loc="left", fontsize=style.TEXT_SIZE, parse_math=False)
    return figure


def _title(equation: Equation, parts: list[Part]) -> str:
    line = f"R² = {r2_text(equation.r2)}"
    if equation.validation is not None:
        line += f", held out {r2_text(equation.r2_validation)}"
    missing = sum(int(np.isnan(part.predicted).sum()) for part in parts)
    if missing:
        line += f"; {missing:,} of the rows drawn have no value"
    return f"{equation_text(equation)}\n{line}"


def _against_variable(above: Axes, below: Axes, equation: Equation, parts: list[Part], name: str) -> None:
    xs = np.concatenate([part.rows.columns[0] for part in parts])
    heights = np.concatenate([values for part in parts for values in (part.rows.y, part.predicted)])
    is_log_x, is_log_y = style.spans_decades(xs, FAR), style.spans_decades(heights, FAR)
    above.set_ylim(style.padded(heights, logarithmic=is_log_y, share=0.08))
    above.set(xscale="log" if is_log_x else "linear", yscale="log" if is_log_y else "linear")
    above.set_xlim(style.padded(xs, logarithmic=is_log_x, share=0.03))
    _draw(above, below, [(part, part.rows.columns[0]) for part in parts], relative=is_log_y)
    _curve(above, equation, (np.geomspace if is_log_x else np.linspace)(xs.min(), xs.max(), GRID))
    style.name_axes(above, y=one_line(equation.target, NAME))
    style.name_axes(below, name)
    style.legend(above, loc="best")


def _curve(panel: Axes, equation: Equation, grid: Numbers) -> None:
    """Draw the equation between the measurements, broken at poles, with the band of its constants' uncertainty."""
    columns = grid[np.newaxis]
    low, high = panel.get_ylim()
    curve = equation.predict(columns)
    curve[~np.isfinite(curve)] = np.nan
    with np.errstate(all="ignore"):
        jumps = np.abs(np.diff(curve)) > BREAK * (high - low)
        reach = DEVIATIONS * equation.standard_deviations(columns)
    curve[1:][jumps] = np.nan
    panel.plot(grid, curve, color=style.CURVE, linewidth=1.3, label="equation", zorder=3)
    if np.isfinite(reach).all() and reach.max(initial=0.0) > LEAST_BAND * (high - low):
        label = f"±{DEVIATIONS:g} standard deviations of it"
        panel.fill_between(grid, curve - reach, curve + reach, color=style.QUIET, alpha=0.22, linewidth=0, label=label)


def _against_prediction(above: Axes, below: Axes, parts: list[Part], target: str) -> None:
    both = np.concatenate([values for part in parts for values in (part.rows.y, part.predicted)])
    is_log = style.spans_decades(both, FAR)
    limits = style.padded(both, logarithmic=is_log)
    scale = "log" if is_log else "linear"
    above.set(xscale=scale, yscale=scale, xlim=limits, ylim=limits)
    above.plot(limits, limits, color=style.CURVE, linewidth=0.8, label="measured = predicted", zorder=1)
    _draw(above, below, [(part, part.predicted) for part in parts], relative=is_log)
    style.name_axes(above, y=f"{target}, measured")
    style.name_axes(below, f"{target}, predicted")
    style.legend(above, loc="upper left")


def _draw(above: Axes, below: Axes, parts: list[tuple[Part, Numbers]], *, relative: bool) -> None:
    """Draw measurements and residuals at their places across, with as much room above a residual of 0 as below."""
    residuals = [part.residuals(relative=relative) for part, _ in parts]
    for (part, x), left in zip(parts, residuals, strict=True):
        part.draw(above, x, part.rows.y)
        part.draw(below, x, left)
    every = np.concatenate(residuals)
    farthest = float(np.abs(every[np.isfinite(every)]).max(initial=0.0)) or 1.0
    below.set_ylim(-1.12 * farthest, 1.12 * farthest)
    style.name_axes(below, y="residual\n÷ predicted" if relative else "residual")
