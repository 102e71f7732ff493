"""`write_report`: the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from edhie import __version__
from edhie.errors import EdhieError, raised_as
from edhie.files import replace_file
from edhie.fit import Discovery
from edhie.plots.words import one_line
from edhie.report.data import data_section, search_section
from edhie.report.equation import hero
from edhie.report.fragments import Html, as_it_is, fill, joined
from edhie.report.front import front_section

NAME = "report.html"


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
    is_alone = len(discoveries) == 1
    articles = [
        _article(each, name, "The chosen equation" if is_alone else f"The equation for {each.target}", command)
        for each, name in zip(discoveries, ids, strict=True)
    ]
    items = [fill("contents-item", id=name, target=each.target) for each, name in zip(discoveries, ids, strict=True)]
    return fill(
        "page",
        version=__version__,
        title=title or _title(discoveries),
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
        data=data_section(discovery, name),
        search=search_section(discovery, name, command),
    )


def _title(discoveries: Sequence[Discovery]) -> str:
    first, others = one_line(discoveries[0].target, 44), len(discoveries) - 1
    return f"Equations for {first}" + (f" and {others} more" if others else "")
