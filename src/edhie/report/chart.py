"""The front as a drawing whose points can be clicked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edhie.fit import Discovery
from edhie.plots.style import Numbers, shown_losses
from edhie.plots.words import equation_text
from edhie.report.equation import equation_id
from edhie.report.fragments import Html, fill, joined

WIDTH, HEIGHT = 480, 340
LEFT, RIGHT, TOP, BOTTOM = 62, WIDTH - 14, 12, HEIGHT - 44
ROOM = 0.06  # around the points, as a share


@dataclass(frozen=True)
class _Axis:
    """From numbers to pixels."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (math.log10(v) for v in (self.low, self.high, value)) if self.is_log else (
            self.low, self.high, value,
        )  # fmt: skip
        return round(self.start + (self.end - self.start) * (at - low) / (high - low), 2)

    @property
    def ticks(self) -> list[float]:
        from matplotlib.ticker import LogLocator, MaxNLocator

        locator = LogLocator(numticks=6) if self.is_log else MaxNLocator(nbins=6, steps=[1, 2, 5, 10])
        return [float(at) for at in locator.tick_values(self.low, self.high) if self.low <= at <= self.high]


def front_chart(discovery: Discovery, article: str) -> Html:
    """Return the chart of loss against complexity; each point links to its equation."""
    equations = discovery.equations
    complexity = np.array([each.complexity for each in equations])
    loss, is_log = shown_losses(np.array([each.loss for each in equations]))
    across, up = _across(complexity), _up(loss, is_log)
    points = [
        fill(
            "point",
            id=equation_id(article, k),
            current=fill("current") if k == discovery.index else "",
            kind=" chosen" if k == discovery.index else "",
            label=f"complexity {each.complexity:g}, loss {each.loss:.3g}: {equation_text(each)}",
            x=across(each.complexity),
            y=up(float(loss[k])),
            radius=6.5 if k == discovery.index else 4.5,
        )
        for k, each in enumerate(equations)
    ]
    return fill(
        "chart", width=WIDTH, height=HEIGHT, left=LEFT, right=RIGHT, top=TOP, bottom=BOTTOM,
        middle=(LEFT + RIGHT) / 2, centre=(TOP + BOTTOM) / 2, foot=HEIGHT - 8, points=joined(points),
        steps=_steps(across, up, complexity, loss), ticks=_ticks(across, up),
    )  # fmt: skip


def _across(complexity: Numbers) -> _Axis:
    low, high = float(complexity.min()), float(complexity.max())
    room = max(ROOM * (high - low), 1.0)
    return _Axis(low - room, high + room, LEFT, RIGHT)


def _up(loss: Numbers, is_log: bool) -> _Axis:
    low, high = float(loss.min()), float(loss.max())
    if not is_log:
        return _Axis(0.0, (1 + ROOM) * high or 1.0, BOTTOM, TOP)
    factor = (high / low) ** ROOM if high > low else 10.0
    return _Axis(low / factor, high * factor, BOTTOM, TOP, is_log=True)


def _steps(across: Callable[[float], float], up: Callable[[float], float], x: Numbers, y: Numbers) -> str:
    """Return the line of the front; the chosen equation may lie above it."""
    on_front = y <= np.minimum.accumulate(y)
    first, *rest = zip(x[on_front].tolist(), y[on_front].tolist(), strict=True)
    return f"M{across(first[0])},{up(first[1])}" + "".join(f"H{across(a)}V{up(b)}" for a, b in rest)


def _ticks(across: _Axis, up: _Axis) -> Html:
    below = [fill("tick-x", at=across(at), line=BOTTOM, below=BOTTOM + 18, label=f"{at:g}") for at in across.ticks]
    beside = [fill("tick-y", at=up(at), line=LEFT, beside=LEFT - 7, label=_label(at, up.is_log)) for at in up.ticks]
    return joined(below + beside)


def _label(value: float, is_log: bool) -> Html | str:
    if is_log or (value and not 1e-3 <= abs(value) < 1e5):
        mantissa, _, exponent = f"{value:.2e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
        power = fill("tick-power", exponent=str(int(exponent)).replace("-", "−"))
        return power if mantissa == "1" else Html(f"{mantissa}·{power}")
    return f"{value:g}"
