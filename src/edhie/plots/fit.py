"""Data and prediction in one picture, and below what is left over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from edhie.evaluate import Data
from edhie.fit import Discovery, Equation
from edhie.plots.style import (
    CURVE,
    FITTED,
    HELD_OUT,
    QUIET,
    TEXT_SIZE,
    Numbers,
    legend,
    name_axes,
    new_figure,
    padded,
    spans_decades,
    tidy,
)
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


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows to draw: those fitted to, or those held out."""

    equation: Equation
    data: Data
    label: str
    colour: str
    most: int
    """Rows drawn at most."""

    @cached_property
    def rows(self) -> Data:
        """All, or as many as can be told apart, always the same."""
        if self.data.n_rows <= self.most:
            return self.data
        chosen = np.sort(np.random.default_rng(0).choice(self.data.n_rows, self.most, replace=False))
        return replace(self.data, weights=None).take(chosen)

    @cached_property
    def predicted(self) -> Numbers:
        found = self.equation.predict(np.ascontiguousarray(self.rows.columns))
        return np.where(np.isfinite(found), found, np.nan)

    def residuals(self, *, relative: bool) -> Numbers:
        """Return residuals; relative to the prediction if values span decades."""
        with np.errstate(all="ignore"):
            left = self.rows.y - self.predicted
            return left / self.predicted if relative else left

    @property
    def legend(self) -> str:
        drawn, all_rows = self.rows.n_rows, self.data.n_rows
        return self.label if drawn == all_rows else f"{self.label} ({drawn:,} of {all_rows:,})"

    def draw(self, panel: Axes, x: Numbers, y: Numbers) -> None:
        """Draw points, smaller and fainter the more there are."""
        crowd = np.clip(np.log10(max(len(x), 1) / 100) / 2, 0, 1)  # 0 up to a hundred, 1 from ten thousand on
        panel.scatter(
            x, y, s=18 - 13 * crowd, alpha=0.85 - 0.55 * crowd, color=self.colour, linewidths=0, label=self.legend,
            rasterized=len(x) > MANY, zorder=2,
        )  # fmt: skip


def plot_fit(found: Discovery | Equation, index: int | None = None, *, titled: bool = True) -> Figure:
    """The data and what an equation says of them; below, what it leaves.

    It is the chosen equation, or that at `index` of the discovery's. With one variable the target stands
    against it, with several against the prediction, so that a residual is the distance from the diagonal.
    """
    equation = _equation(found, index)
    parts = _parts(equation)
    figure = new_figure(6.4, 5.2)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.3))
    if equation.train.n_variables == 1:
        names = found.columns if isinstance(found, Discovery) else equation.train.names
        _against_variable(above, below, parts, one_line(names[0]))
    else:
        _against_prediction(above, below, parts)
    below.axhline(0, color=CURVE, linewidth=0.8, zorder=1)
    for panel in (above, below):
        tidy(panel)
    figure.align_ylabels((above, below))
    if titled:
        above.set_title(_title(equation, parts), loc="left", fontsize=TEXT_SIZE, parse_math=False)
    return figure


def _equation(found: Discovery | Equation, index: int | None) -> Equation:
    if isinstance(found, Equation):
        return found
    return found.best if index is None else found.equations[index]


def _parts(equation: Equation) -> list[_Part]:
    """Return training and held-out rows, which share the panel as they share the table."""
    sets = [(equation.train, "fitted rows", FITTED)]
    if equation.validation is not None:
        sets.append((equation.validation, "held-out rows", HELD_OUT))
    share = min(1.0, MOST_ROWS / sum(data.n_rows for data, _, _ in sets))
    return [_Part(equation, data, label, colour, max(1, round(share * data.n_rows))) for data, label, colour in sets]


def _title(equation: Equation, parts: list[_Part]) -> str:
    line = f"R² = {r2_text(equation.r2)}"
    if equation.validation is not None:
        line += f", held out {r2_text(equation.r2_validation)}"
    missing = sum(int(np.isnan(part.predicted).sum()) for part in parts)
    if missing:
        line += f"; {missing:,} of the rows drawn have no value"
    return f"{equation_text(equation)}\n{line}"


# -- one variable ---------------------------------------------------------------------


def _against_variable(above: Axes, below: Axes, parts: list[_Part], name: str) -> None:
    xs = np.concatenate([part.rows.columns[0] for part in parts])
    heights = np.concatenate([values for part in parts for values in (part.rows.y, part.predicted)])
    is_log_x, is_log_y = spans_decades(xs, FAR), spans_decades(heights, FAR)
    above.set_ylim(padded(heights, logarithmic=is_log_y, share=0.08))
    _scales(above, is_log_x, is_log_y)
    above.set_xlim(padded(xs, logarithmic=is_log_x, share=0.03))
    for part in parts:
        part.draw(above, part.rows.columns[0], part.rows.y)
        part.draw(below, part.rows.columns[0], part.residuals(relative=is_log_y))
    _curve(above, parts[0].equation, _grid(xs, is_log_x))
    _finish_residuals(below, parts, relative=is_log_y)
    name_axes(above, y=one_line(parts[0].equation.target, NAME))
    name_axes(below, name)
    legend(above, loc="best")


def _grid(xs: Numbers, is_log: bool) -> Numbers:
    between = np.geomspace if is_log else np.linspace
    return between(xs.min(), xs.max(), GRID)


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
    panel.plot(grid, curve, color=CURVE, linewidth=1.3, label="equation", zorder=3)
    if np.isfinite(reach).all() and reach.max(initial=0.0) > LEAST_BAND * (high - low):
        label = f"±{DEVIATIONS:g} standard deviations of it"
        panel.fill_between(grid, curve - reach, curve + reach, color=QUIET, alpha=0.22, linewidth=0, label=label)


# -- several variables ----------------------------------------------------------------


def _against_prediction(above: Axes, below: Axes, parts: list[_Part]) -> None:
    both = np.concatenate([values for part in parts for values in (part.rows.y, part.predicted)])
    is_log = spans_decades(both, FAR)
    limits = padded(both, logarithmic=is_log)
    _scales(above, is_log, is_log)
    above.set_xlim(limits)
    above.set_ylim(limits)
    above.plot(limits, limits, color=CURVE, linewidth=0.8, label="measured = predicted", zorder=1)
    for part in parts:
        part.draw(above, part.predicted, part.rows.y)
        part.draw(below, part.predicted, part.residuals(relative=is_log))
    _finish_residuals(below, parts, relative=is_log)
    target = one_line(parts[0].equation.target, NAME)
    name_axes(above, y=f"{target}, measured")
    name_axes(below, f"{target}, predicted")
    legend(above, loc="upper left")


def _scales(panel: Axes, is_log_x: bool, is_log_y: bool) -> None:
    panel.set_xscale("log" if is_log_x else "linear")
    panel.set_yscale("log" if is_log_y else "linear")


def _finish_residuals(panel: Axes, parts: list[_Part], *, relative: bool) -> None:
    """Give as much room above 0 as below."""
    left = np.concatenate([part.residuals(relative=relative) for part in parts])
    farthest = float(np.abs(left[np.isfinite(left)]).max(initial=0.0)) or 1.0
    panel.set_ylim(-1.12 * farthest, 1.12 * farthest)
    name_axes(panel, y="residual\n÷ predicted" if relative else "residual")
