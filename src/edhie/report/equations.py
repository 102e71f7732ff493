"""Equations of the report: the front, with a chart whose points lead to each equation, and the equations themselves."""

from __future__ import annotations

import io
import math
from base64 import b64encode
from dataclasses import dataclass

from edhie.fit import Discovery, Equation
from edhie.plots import plot_fit
from edhie.plots.front import Chart
from edhie.plots.style import png
from edhie.plots.words import constants_note, constants_of, equation_text, r2_text, right_side
from edhie.report.fragments import Html, fill, formula, joined, number, one_row

TEXT_WIDTH = 64  # letters of an equation in the table
WIDTH, HEIGHT = 480, 340
LEFT, RIGHT, TOP, BOTTOM = 62, WIDTH - 14, 12, HEIGHT - 44
MOST_PICTURES = 12
DPI = 130
COLOURS = 48
SHOWN_AT = 100  # pixels of the page to an inch


def front_section(discovery: Discovery, article: str) -> Html:
    """Return the chart and the table of all equations, and a section for each."""
    count = range(len(discovery.equations))
    drawn = sorted(count, key=lambda k: (k != discovery.index, -discovery.equations[k].score, k))[:MOST_PICTURES]
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
        equations=joined(_section(discovery, k, article, has_picture=k in drawn) for k in count),
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
        id=_id(article, k),
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
    chart = Chart.of(discovery)
    across, up = _Axis(*chart.x_limits, LEFT, RIGHT), _Axis(*chart.y_limits, BOTTOM, TOP, chart.is_log)
    ticks = [fill("tick-x", at=across(at), line=BOTTOM, below=BOTTOM + 18, label=f"{at:g}") for at in across.ticks]
    ticks += [fill("tick-y", at=up(at), line=LEFT, beside=LEFT - 7, label=_label(at, chart.is_log)) for at in up.ticks]
    points = [
        fill(
            "point",
            id=_id(article, k),
            current=fill("current") if k == discovery.index else "",
            kind=" chosen" if k == discovery.index else "",
            label=f"complexity {each.complexity:g}, loss {each.loss:.3g}: {equation_text(each)}",
            x=across(each.complexity),
            y=up(float(chart.y[k])),
            radius=6.5 if k == discovery.index else 4.5,
        )
        for k, each in enumerate(discovery.equations)
    ]
    (x, y), *rest = chart.line
    return fill(
        "chart", width=WIDTH, height=HEIGHT, left=LEFT, right=RIGHT, top=TOP, bottom=BOTTOM,
        middle=(LEFT + RIGHT) / 2, centre=(TOP + BOTTOM) / 2, foot=HEIGHT - 8, points=joined(points),
        steps=f"M{across(x)},{up(y)}" + "".join(f"H{across(a)}V{up(b)}" for a, b in rest), ticks=joined(ticks),
    )  # fmt: skip


def _label(value: float, is_log: bool) -> Html | str:
    if is_log or (value and not 1e-3 <= abs(value) < 1e5):
        mantissa, _, exponent = f"{value:.2e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
        power = fill("tick-power", exponent=str(int(exponent)).replace("-", "−"))
        return power if mantissa == "1" else Html(f"{mantissa}·{power}")
    return f"{value:g}"


# -- one equation ---------------------------------------------------------------------------


def _id(article: str, k: int) -> str:
    return f"{article}-e{k}"


def facts(equation: Equation) -> Html:
    """Return the quality and the complexity of an equation."""
    told: list[tuple[str, object]] = [("R²", r2_text(equation.r2))]
    if equation.validation is not None:
        told.append(("R² on held-out rows", r2_text(equation.r2_validation)))
    told += [("loss", number(equation.loss)), ("complexity", number(equation.complexity))]
    told += [("weight", equation.confidence)] if equation.confidence else []
    return joined(fill("fact", label=label, value=value) for label, value in told)


def hero(discovery: Discovery) -> Html:
    """Return the chosen equation in large type."""
    best = discovery.best
    notes = joined(fill("note", text=f"{note[0].upper()}{note[1:]}.") for note in discovery.notes)
    return fill("hero", formula=formula(best), facts=facts(best), notes=notes, constants=_constants(best))


def _section(discovery: Discovery, k: int, article: str, *, has_picture: bool) -> Html:
    each, name, is_chosen = discovery.equations[k], _id(article, k), k == discovery.index
    texts = {"Text, all digits": each.text(None), "LaTeX": each.latex_equation()}
    copies = [
        fill("copy", id=f"{name}-text{n}", label=label, text=text) for n, (label, text) in enumerate(texts.items())
    ]
    unseen = fill("note", text=f"Not drawn, to keep this page small: edhie.plots.plot_fit(discovery, {k}) draws it.")
    return fill(
        "equation",
        id=name,
        kind=" selected" if is_chosen else "",
        complexity=number(each.complexity),
        mark=fill("mark") if is_chosen else "",
        formula=formula(each),
        facts=facts(each),
        copies=joined(copies),
        constants=_constants(each),
        picture=_picture(discovery, k) if has_picture else unseen,
    )


def _constants(equation: Equation) -> Html:
    if not equation.expr.constants:
        return fill("no-constants")
    rows, note = [], constants_note(equation)
    for each in constants_of(equation):
        error, interval = Html("not determined"), Html("")
        if math.isfinite(each.error):
            error = number(each.error, 2, padded=True)
        if math.isfinite(each.low + each.high):
            interval = fill("interval", lower=number(each.low, each.digits), upper=number(each.high, each.digits))
        if each.is_held:
            error, interval = Html("given"), Html("")
        letter, value = equation.expr.library.constant, number(each.value, each.digits)
        rows.append(fill("constant", letter=letter, number=each.number, value=value, error=error, interval=interval))
    noted = fill("note", text=note) if note else ""
    return fill("constants", letters=one_row(equation, numbered=True), rows=joined(rows), note=noted)


def _picture(discovery: Discovery, k: int) -> Html:
    """Return a picture of data, prediction and residuals of one equation, with few colours: at a third of the size."""
    from PIL import Image  # Matplotlib brings it, and writes PNG with it

    equation, buffer = discovery.equations[k], io.BytesIO()
    figure = plot_fit(discovery, k, titled=False)
    width, height = figure.get_size_inches() * SHOWN_AT
    against = discovery.columns[0] if len(discovery.columns) == 1 else "the prediction"
    with Image.open(io.BytesIO(png(figure, dpi=DPI))) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return fill(
        "picture",
        base64=b64encode(buffer.getvalue()).decode("ascii"),
        alt=f"{equation.target} against {against} for {equation_text(equation)}; below, the residuals",
        width=round(width),
        height=round(height),
        caption=f"Measured {equation.target} against {against}; below, what is left over.",
    )
