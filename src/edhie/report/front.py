"""The front: a chart whose points can be clicked, and a table, that lead to each equation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edhie.arrays import Numbers
from edhie.fit import Discovery
from edhie.plots.style import shown_losses
from edhie.plots.words import equation_text, r2_text, right_side
from edhie.report.equation import equation_id, equation_section, pictured
from edhie.report.fragments import Html, fill, joined, number

TEXT_WIDTH = 64  # letters of an equation in the table
WIDTH, HEIGHT = 480, 340
LEFT, RIGHT, TOP, BOTTOM = 62, WIDTH - 14, 12, HEIGHT - 44
ROOM = 0.06  # around the points, as a share


def front_section(discovery: Discovery, article: str) -> Html:
    """Return the chart and the table of all equations, and a section for each."""
    with_picture = pictured(discovery)
    count = range(len(discovery.equations))
    losses = [each.loss for each in discovery.equations]  # from the least complex on
    is_beside = any(losses[k] >= min(losses[:k]) for k in count if k)
    return fill(
        "front",
        id=article,
        target=discovery.target,
        also=", or one that is likely" if is_beside else "",
        held_out="" if discovery.validation is None else fill("front-held-out"),
        weights=fill("front-weights") if _has_weights(discovery) else "",
        chart=front_chart(discovery, article),
        rows=joined(_row(discovery, k, article) for k in count),
        equations=joined(equation_section(discovery, k, article, has_picture=k in with_picture) for k in count),
    )


def _has_weights(discovery: Discovery) -> bool:
    return any(each.confidence for each in discovery.equations)


def _row(discovery: Discovery, k: int, article: str) -> Html:
    each, is_chosen = discovery.equations[k], k == discovery.index
    numbers: list[object] = [number(each.loss), r2_text(each.r2)]
    if discovery.validation is not None:
        numbers.append(r2_text(each.r2_validation))
    numbers += [each.confidence] * _has_weights(discovery)
    return fill(
        "front-row",
        id=equation_id(article, k),
        current=fill("current") if is_chosen else "",
        complexity=number(each.complexity),
        numbers=joined(fill("front-number", value=value) for value in numbers),
        equation=right_side(each, TEXT_WIDTH),
        mark=fill("mark") if is_chosen else "",
    )


@dataclass(frozen=True)
class _Axis:
    """A linear or logarithmic scale from numbers to pixels."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (math.log10(v) if self.is_log else v for v in (self.low, self.high, value))
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
    least, most = float(complexity.min()), float(complexity.max())
    room = max(ROOM * (most - least), 1.0)
    across, up = _Axis(least - room, most + room, LEFT, RIGHT), _up(loss, is_log)
    ticks = [fill("tick-x", at=across(at), line=BOTTOM, below=BOTTOM + 18, label=f"{at:g}") for at in across.ticks]
    ticks += [fill("tick-y", at=up(at), line=LEFT, beside=LEFT - 7, label=_label(at, is_log)) for at in up.ticks]
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
        steps=_steps(across, up, complexity, loss), ticks=joined(ticks),
    )  # fmt: skip


def _up(loss: Numbers, is_log: bool) -> _Axis:
    low, high = float(loss.min()), float(loss.max())
    if not is_log:
        return _Axis(0.0, (1 + ROOM) * high or 1.0, BOTTOM, TOP)
    factor = (high / low) ** ROOM if high > low else 10.0
    return _Axis(low / factor, high * factor, BOTTOM, TOP, is_log=True)


def _steps(across: _Axis, up: _Axis, x: Numbers, y: Numbers) -> str:
    """Return the line of the front; the chosen equation may lie above it."""
    on_front = y <= np.minimum.accumulate(y)
    first, *rest = zip(x[on_front].tolist(), y[on_front].tolist(), strict=True)
    return f"M{across(first[0])},{up(first[1])}" + "".join(f"H{across(a)}V{up(b)}" for a, b in rest)


def _label(value: float, is_log: bool) -> Html | str:
    if is_log or (value and not 1e-3 <= abs(value) < 1e5):
        mantissa, _, exponent = f"{value:.2e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
        power = fill("tick-power", exponent=str(int(exponent)).replace("-", "−"))
        return power if mantissa == "1" else Html(f"{mantissa}·{power}")
    return f"{value:g}"
