"""The section about the search: its end, its counts, how to repeat it."""

from __future__ import annotations

from edhie import __version__
from edhie.console import help_of
from edhie.fit import Discovery
from edhie.report.fragments import Html, fill, joined
from edhie.results import SearchCounts

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


def search_section(discovery: Discovery, article: str, command: str | None) -> Html:
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
