"""Figures of a training and of a walk: everything is in them, at any length."""

from __future__ import annotations

import io
import math
import subprocess
import sys

import pytest

from edhie.expr import parse
from edhie.generators.plots import history_figure, walk_figure
from edhie.generators.walks import Step


def epoch(number: int, **changes: float) -> dict[str, float]:
    return {
        "epoch": number, "loss": 3 / (number + 1), "reconstruction": 2 / (number + 1), "divergence": 5.0 + number,
        "weight": 0.01, "validation": 2.5 / (number + 1), "trees_per_s": 1000.0, **changes,
    }  # fmt: skip


def test_a_history() -> None:
    figure = history_figure([epoch(i) for i in range(40)])
    above, below, weight = figure.axes
    lines = {line.get_label(): line for panel in figure.axes for line in panel.lines}
    assert list(lines) == ["loss", "reconstruction, corpus", "reconstruction, held out", "divergence", "its weight"]
    assert list(lines["divergence"].get_xdata()) == list(range(1, 41))
    assert list(lines["divergence"].get_ydata()) == [5.0 + i for i in range(40)]
    assert above.get_yscale() == "log"
    assert below.get_ylim()[0] == weight.get_ylim()[0] == 0


@pytest.mark.parametrize(
    "history",
    [
        [epoch(0)],
        [epoch(0, validation=math.nan, weight=0.0)],
        [epoch(0, loss=0.0, reconstruction=0.0, divergence=0.0)],
        [epoch(0), epoch(1, loss=math.nan, reconstruction=math.inf)],
    ],
    ids=["one", "unvalidated", "zero", "diverged"],
)
def test_odd_histories_can_be_drawn(history: list[dict[str, float]]) -> None:
    figure = history_figure(history)
    figure.savefig(io.BytesIO())
    assert any("held out" in line.get_label() for line in figure.axes[0].lines) == (
        not all(math.isnan(row["validation"]) for row in history)
    )


def test_no_history() -> None:
    with pytest.raises(ValueError, match="no epoch"):
        history_figure([])


def test_a_walk_is_one_row_with_a_gap_where_there_is_no_expression() -> None:
    walk = [Step(0, parse("x + sin(x)")), Step(1 / 3, None), Step(2 / 3, parse("x")), Step(1, parse("x*y"))]
    figure = walk_figure(walk)
    figure.savefig(io.BytesIO())
    titles = [panel.get_title() for panel in figure.axes]
    assert titles == ["α = 0\nx + sin(x)", "α = 0.333\n(no expression)", "α = 0.667\nx", "α = 1\nx*y"]
    assert [len(panel.patches) for panel in figure.axes] == [4, 0, 1, 3]
    assert len(figure.axes[1].texts) == 0
    boxes = [panel.get_position() for panel in figure.axes]
    assert len({round(box.y0, 6) for box in boxes}) == 1
    assert [box.x0 for box in boxes] == sorted(box.x0 for box in boxes)


def test_many_steps_and_no_expressions_at_all() -> None:
    assert len(walk_figure([Step(i / 11, parse("x")) for i in range(12)]).axes) == 12
    walk_figure([Step(0, None), Step(1, None)]).savefig(io.BytesIO())


def test_importing_it_loads_no_matplotlib() -> None:
    code = "import sys, edhie.generators.plots; print('matplotlib' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
