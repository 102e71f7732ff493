"""The section about rows and columns."""

from __future__ import annotations

import numpy as np

from edhie.expr.mathml import mathml_name
from edhie.expr.symbols import is_name
from edhie.fit import Discovery
from edhie.plots.style import Numbers
from edhie.report.fragments import Html, fill, joined, number

BINS, BIN_WIDTH, HEIGHT = 24, 5, 26
MOST_COLUMNS = 50  # that are all listed


def data_section(discovery: Discovery, article: str) -> Html:
    """Return the section about rows and columns."""
    parts = [part for part in (discovery.train, discovery.validation) if part is not None]
    target = np.concatenate([part.y for part in parts])
    columns = np.concatenate([part.columns for part in parts], axis=1)
    name = discovery.target
    rows = [_column(f"{name} (target)", Html(mathml_name(name) if is_name(name) else ""), target)]
    names = zip(discovery.columns, discovery.train.names, columns, strict=True)
    shown = _shown(discovery)
    rows += [_column(name, Html(mathml_name(symbol)), values) for name, symbol, values in names if symbol in shown]
    return fill("data", id=article, sentence=_sentence(discovery, len(shown)), rows=joined(rows))


def _shown(discovery: Discovery) -> set[str]:
    """Return the variables that are listed: in a wide table, those that an equation has."""
    names = discovery.train.names
    if len(names) <= MOST_COLUMNS:
        return set(names)
    return {name for equation in discovery.equations for name in equation.expr.variables}


def _sentence(discovery: Discovery, n_shown: int) -> str:
    fitted, searched, held_out = discovery.n_rows, discovery.train.n_rows, discovery.validation
    text = f"{fitted:,} rows were fitted to; "
    text += "" if searched == fitted else f"a sample of {searched:,} was searched, and is shown here; "
    text += "none was held out." if held_out is None else f"{held_out.n_rows:,} were held out, to judge by."
    text = text if discovery.train.weights is None else f"{text} Rows count by their weights."
    n_columns = discovery.train.n_variables
    return text if n_shown == n_columns else f"{text} Of {n_columns:,} columns those in equations are listed."


def _column(name: str, symbol: Html, values: Numbers) -> Html:
    return fill(
        "column",
        name=name,
        symbol=fill("symbol", inside=symbol) if symbol else "",
        least=number(float(values.min())),
        median=number(float(np.median(values))),
        largest=number(float(values.max())),
        histogram=histogram(values, f"Histogram of {name}"),
    )


def histogram(values: Numbers, label: str) -> Html:
    """Return a small histogram as SVG."""
    scaled = values / (np.abs(values).max() or 1.0)  # so that no difference of two overflows
    counts, _ = np.histogram(scaled, BINS)
    heights = (counts / counts.max() * (HEIGHT - 2)).round(1)
    bars = [
        f"M{k * BIN_WIDTH},{HEIGHT}v-{height}h{BIN_WIDTH - 1}v{height}z" for k, height in enumerate(heights) if height
    ]
    return fill("histogram", width=BINS * BIN_WIDTH, height=HEIGHT, label=label, bars="".join(bars))
