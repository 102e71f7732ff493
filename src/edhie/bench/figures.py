"""Figures of a benchmark: success rates and learning curves."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from edhie.arrays import Numbers
from edhie.bench.problem_files import ProblemError
from edhie.bench.records import CURVES, Row, curve_name
from edhie.bench.report import paper_figures, summarised
from edhie.plots.style import FAINT, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#1f5f99", "#d1662b", "#5b8c3e", "#8a5a9e", "#8c8c8c", "#b8860b", "#3b8686")
GRID = 200  # points of a mean curve


def success_figure(tables: Mapping[str, Sequence[Row]], benchmark: str) -> Figure:
    """Plot the share of runs that found each problem's formula, by method; the paper's share in grey."""
    problems = list(dict.fromkeys(row["problem"] for rows in tables.values() for row in rows))
    places = {problem: k for k, problem in enumerate(problems)}
    figure = new_figure(max(6.4, 0.28 * len(problems) * max(len(tables), 2)), 3.6)
    panel = figure.subplots()
    method, rows = next(iter(tables.items()), ("", []))
    label, paper = paper_figures(benchmark, method, float(rows[0]["noise"]) if rows else 0.0)
    known = [problem for problem in problems if problem in paper]
    if known:
        shares = [paper[problem]["successes"] / 10 for problem in known]
        panel.bar([places[each] for each in known], shares, width=0.9, color=FAINT, label=label)
    width = 0.7 / max(len(tables), 1)
    for k, (method, rows) in enumerate(tables.items()):
        lines = summarised(rows)
        at = [places[line.problem] - 0.35 + width * (k + 0.5) for line in lines]
        heights = [line.successes / line.runs for line in lines]
        panel.bar(at, heights, width=0.9 * width, color=COLOURS[k % len(COLOURS)], label=method)
    panel.set_xticks(range(len(problems)), problems, rotation=90 if len(problems) > 16 else 0)
    panel.set_ylim(0, 1.05)
    panel.set_ylabel("share of runs that found it")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


class Curve(NamedTuple):
    """The mean learning curve of several runs: a step function."""

    evaluated: Numbers
    """Expressions executed, ascending."""
    r2: Numbers
    """Mean over the runs of the best bounded R² so far."""
    deviation: Numbers
    """Standard deviation over the runs."""


def curves_figure(curves: Mapping[str, Mapping[str, Curve]], *, columns: int = 3) -> Figure:
    """Plot the best bounded R² against expressions evaluated: a panel per problem, a line per method.

    `curves` is indexed by method, then by problem. A band shows the standard deviation over the runs.
    """
    problems = list(dict.fromkeys(problem for by_problem in curves.values() for problem in by_problem))
    if not problems:
        raise ProblemError("there are no learning curves to draw")
    height = -(-len(problems) // columns)
    figure = new_figure(3.1 * min(columns, len(problems)), 2.3 * height)
    panels = figure.subplots(height, min(columns, len(problems)), sharex=True, sharey=True, squeeze=False).ravel()
    last = max(curve.evaluated[-1] for by_problem in curves.values() for curve in by_problem.values())
    for panel, problem in zip(panels, problems, strict=False):
        for k, (method, by_problem) in enumerate(curves.items()):
            if problem in by_problem:
                _draw_curve(panel, by_problem[problem], last, COLOURS[k % len(COLOURS)], method)
        panel.set_title(problem, fontsize=9)
        panel.set_xscale("log")
        panel.set_ylim(-0.02, 1.02)
        panel.spines[["top", "right"]].set_visible(False)
    for place, panel in enumerate(panels):
        panel.set_visible(place < len(problems))
        panel.xaxis.set_tick_params(labelbottom=place + columns >= len(problems))  # if no panel is below
    panels[0].legend(frameon=False, fontsize=8)
    figure.supxlabel("expressions evaluated", fontsize=9)
    figure.supylabel("best R² so far, mean and deviation over runs", fontsize=9)
    return figure


def _draw_curve(panel: Axes, curve: Curve, last: float, colour: str, label: str) -> None:
    """Draw a step function and its band up to `last`."""
    x, y, deviation = np.append(curve.evaluated, last), *(np.append(each, each[-1:]) for each in curve[1:])
    low, high = np.clip(y - deviation, 0, 1), np.clip(y + deviation, 0, 1)
    panel.fill_between(x, low, high, step="post", color=colour, alpha=0.15, linewidth=0)
    panel.plot(x, y, color=colour, linewidth=1.4, drawstyle="steps-post", label=label)


def mean_curve(runs: Sequence[Numbers], last: float) -> Curve:
    """Return R² on a logarithmic grid up to `last`: a step function, 0 before a run's first expression.

    Each run is an array of (expressions executed, R²).
    """
    grid: Numbers = np.unique(np.geomspace(1, max(last, 2), GRID).round())
    steps = [np.append(0.0, run[:, 1])[np.searchsorted(run[:, 0], grid, side="right")] for run in runs]
    return Curve(grid, np.mean(steps, axis=0), np.std(steps, axis=0))


def read_curves(folder: Path, table: str, rows: Sequence[Row]) -> dict[str, list[Numbers]]:
    """Return the learning curves of these rows, by problem: expressions executed and R² of each run."""
    found: dict[str, list[Numbers]] = {}
    for row in rows:
        name = curve_name(table, row["problem"], int(row["run"]), float(row["noise"]))
        path = folder / CURVES / name
        try:
            with path.open(encoding="utf-8", newline="") as file:
                steps = [(float(step["executed"]), float(step["r2"])) for step in csv.DictReader(file)]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ProblemError(f"the learning curve {path} cannot be read: {error}") from None
        found.setdefault(row["problem"], []).append(np.array(steps).reshape(-1, 2))
    return found
