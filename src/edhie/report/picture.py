"""Pictures of fits inside of a page, of those equations that a reader looks at first."""

from __future__ import annotations

import io
from base64 import b64encode

from edhie.fit import Discovery
from edhie.plots import plot_fit
from edhie.plots.saving import png
from edhie.plots.words import equation_text
from edhie.report.fragments import Html, fill

MOST_PICTURES = 12
DPI = 130
COLOURS = 48
SHOWN_AT = 100  # pixels of the page to an inch


def pictured(discovery: Discovery) -> frozenset[int]:
    """Return which equations get a picture: the chosen one, and those with the highest scores."""
    index = discovery.index
    order = sorted(range(len(discovery.equations)), key=lambda k: (k != index, -discovery.equations[k].score, k))
    return frozenset(order[:MOST_PICTURES])


def fit_picture(discovery: Discovery, k: int) -> Html:
    """Return a picture of data, prediction and residuals of one equation."""
    equation = discovery.equations[k]
    figure = plot_fit(discovery, k, titled=False)
    width, height = figure.get_size_inches() * SHOWN_AT
    against = discovery.columns[0] if len(discovery.columns) == 1 else "the prediction"
    return fill(
        "picture",
        base64=b64encode(_few_colours(png(figure, dpi=DPI))).decode("ascii"),
        alt=f"{equation.target} against {against} for {equation_text(equation)}; below, the residuals",
        width=round(width),
        height=round(height),
        caption=f"Measured {equation.target} against {against}; below, what is left over.",
    )


def _few_colours(whole: bytes) -> bytes:
    """Return the same PNG with a palette, at a third of the size."""
    from PIL import Image  # Matplotlib brings it, and writes PNG with it

    buffer = io.BytesIO()
    with Image.open(io.BytesIO(whole)) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
