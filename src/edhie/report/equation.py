"""One equation: its formula, quality, constants and picture."""

from __future__ import annotations

import io
import math
from base64 import b64encode

from edhie.fit import Discovery, Equation
from edhie.plots import plot_fit
from edhie.plots.style import png
from edhie.plots.words import constants_note, constants_of, equation_text, r2_text
from edhie.report.fragments import Html, fill, formula, joined, number, one_row

MOST_PICTURES = 12
DPI = 130
COLOURS = 48
SHOWN_AT = 100  # pixels of the page to an inch


def equation_id(article: str, k: int) -> str:
    """Return the id of the equation at `k` within the page."""
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
    return fill("hero", formula=formula(best), facts=facts(best), notes=notes, constants=constants_table(best))


def equation_section(discovery: Discovery, k: int, article: str, *, has_picture: bool) -> Html:
    """Return the section of one equation: mathematics, texts to copy, constants and fit."""
    each, name, is_chosen = discovery.equations[k], equation_id(article, k), k == discovery.index
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
        constants=constants_table(each),
        picture=fit_picture(discovery, k) if has_picture else unseen,
    )


def constants_table(equation: Equation) -> Html:
    """Return the constants with standard errors, under the equation with letters in their places."""
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


def pictured(discovery: Discovery) -> frozenset[int]:
    """Return which equations get a picture: the chosen one, and those with the highest scores."""
    index = discovery.index
    order = sorted(range(len(discovery.equations)), key=lambda k: (k != index, -discovery.equations[k].score, k))
    return frozenset(order[:MOST_PICTURES])


def fit_picture(discovery: Discovery, k: int) -> Html:
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
