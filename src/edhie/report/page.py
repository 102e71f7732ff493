"""`write_report`: the page, with its sections about rows and columns, and about the search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edhie import __version__
from edhie.arrays import Numbers
from edhie.console import help_of
from edhie.errors import EdhieError, raised_as
from edhie.expr.mathml import mathml_name
from edhie.expr.symbols import is_name
from edhie.files import replace_file
from edhie.fit import Discovery
from edhie.plots.words import one_line
from edhie.report.equations import front_section, hero
from edhie.report.fragments import Html, as_it_is, fill, joined, number
from edhie.results import SearchCounts

NAME = "report.html"
BINS, BIN_WIDTH, BAR_HEIGHT = 24, 5, 26  # of histograms
MOST_COLUMNS = 50  # that are all listed
STOPPED = {
    "target": "It ended because the loss that was asked for was reached, or nothing but rounding was left.",
    "evaluations": "It ended because as many expressions were executed as were asked for.",
    "seconds": "It ended because its time was up; on a faster or slower machine it may find more or less.",
    "patience": "It ended early because no better equation was found for as many rounds as it took to find the best.",
    "interrupted": "It was interrupted; this is what was found until then.",
    "finished": "It ended because nothing was left to try.",
}
SELECTION = {
    "mdl": "the shortest description of the data",
    "best": "the best score among the most accurate",
    "accuracy": "errors on unseen rows, by the one-standard-error rule",
    "score": "the largest fall of the loss for its complexity",
}


def write_report(
    found: Discovery | Sequence[Discovery], path: str | Path, *, command: str | None = None, title: str | None = None
) -> Path:
    """Write one page about one discovery or several, and return its path.

    `path` is a folder, in which the page is called report.html, or a name that ends in .html. The page is whole in
    itself. `command` is shown as the command that made it.
    """
    discoveries = [found] if isinstance(found, Discovery) else list(found)
    if not discoveries:
        raise EdhieError("there is no discovery to report; give at least one")
    whole = Path(path)
    file = whole if whole.suffix.lower() in (".html", ".htm") else whole / NAME
    page = report_page(discoveries, command=command, title=title)
    with raised_as(EdhieError, f"cannot write the report to {file}"):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, page.encode())
    return file


def report_page(discoveries: Sequence[Discovery], *, command: str | None = None, title: str | None = None) -> Html:
    """Return the page as text; it depends on the discoveries alone."""
    ids = [f"t{k + 1}" for k in range(len(discoveries))]
    is_alone, others = len(discoveries) == 1, f" and {len(discoveries) - 1} more" if len(discoveries) > 1 else ""
    articles = [
        _article(each, name, "The chosen equation" if is_alone else f"The equation for {each.target}", command)
        for each, name in zip(discoveries, ids, strict=True)
    ]
    items = [fill("contents-item", id=name, target=each.target) for each, name in zip(discoveries, ids, strict=True)]
    return fill(
        "page",
        version=__version__,
        title=title or f"Equations for {one_line(discoveries[0].target, 44)}" + others,
        style=as_it_is("style.css"),
        contents="" if is_alone else fill("contents", items=joined(items)),
        articles=joined(articles),
        reference=as_it_is("paper.txt").strip(),
        bibtex=fill("copy", id="bibtex", label="BibTeX", text=as_it_is("paper.bib").strip()),
        script=as_it_is("script.js"),
    )


def _article(discovery: Discovery, name: str, heading: str, command: str | None) -> Html:
    return fill(
        "article",
        id=name,
        heading=heading,
        hero=fill("nothing") if discovery.is_empty else hero(discovery),
        front="" if discovery.is_empty else front_section(discovery, name),
        data=_data_section(discovery, name),
        search=_search_section(discovery, name, command),
    )


# -- rows and columns, and the search -------------------------------------------------------


def _data_section(discovery: Discovery, article: str) -> Html:
    parts = [part for part in (discovery.train, discovery.validation) if part is not None]
    target = np.concatenate([part.y for part in parts])
    columns = np.concatenate([part.columns for part in parts], axis=1)
    name = discovery.target
    rows = [_column(f"{name} (target)", Html(mathml_name(name) if is_name(name) else ""), target)]
    names = zip(discovery.columns, discovery.train.names, columns, strict=True)
    shown = set(discovery.train.names)
    if len(shown) > MOST_COLUMNS:  # those that an equation has
        shown = {name for equation in discovery.equations for name in equation.expr.variables}
    rows += [_column(name, Html(mathml_name(symbol)), values) for name, symbol, values in names if symbol in shown]
    return fill("data", id=article, sentence=_sentence(discovery, len(shown)), rows=joined(rows))


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
    heights = (counts / counts.max() * (BAR_HEIGHT - 2)).round(1)
    bars = [
        f"M{k * BIN_WIDTH},{BAR_HEIGHT}v-{height}h{BIN_WIDTH - 1}v{height}z"
        for k, height in enumerate(heights)
        if height
    ]
    return fill("histogram", width=BINS * BIN_WIDTH, height=BAR_HEIGHT, label=label, bars="".join(bars))


def _search_section(discovery: Discovery, article: str, command: str | None) -> Html:
    """Return the section about the search, by which a reader can judge and repeat it."""
    result = discovery.result
    told = {
        "strategy": result.strategy,
        "chosen by": SELECTION.get(discovery.settings.selection, discovery.settings.selection),
        "seed": result.seed,
        "seconds": f"{result.seconds:.1f}",
        "edhie": __version__,
    }
    again = fill("copy", id=f"{article}-command", label="The command that made this page", text=command or "")
    return fill(
        "search",
        id=article,
        stopped=STOPPED.get(result.stopped, f"It ended: {result.stopped}."),
        facts=joined(fill("fact", label=label, value=value) for label, value in told.items()),
        counts=joined(
            fill("count", name=name, value=f"{value:,}", meaning=help_of(SearchCounts, name))
            for name, value in vars(result.counts).items()
        ),
        command=again if command else "",
    )
