"""The strategies by name; each is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module

from edhie.errors import SearchError, shortened, suggestion
from edhie.search.base import Strategy

STRATEGIES: dict[str, str] = {
    "draw": "edhie.search.sampling:Draw",
    "evolve": "edhie.search.evolution:Evolve",
    "mosaic": "edhie.search.mosaic:Mosaic",
    "revise": "edhie.search.revision:Revise",
    "template": "edhie.search.template:TemplateSearch",
}
"""By name: where the class is."""


def strategy_named(name: str) -> Strategy:
    """The strategy of that name, with its default settings."""
    if name not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise SearchError(f"unknown strategy {shortened(name)!r}; use one of {known}{suggestion(name, STRATEGIES)}")
    module, attribute = STRATEGIES[name].split(":")
    strategy = getattr(import_module(module), attribute)()
    assert isinstance(strategy, Strategy)
    return strategy


def strategy_of(given: object) -> Strategy:
    """A strategy, or the one of a name."""
    if isinstance(given, Strategy):
        return given
    if isinstance(given, str):
        return strategy_named(given)
    raise SearchError(f"a strategy is a name ({', '.join(STRATEGIES)}) or a Strategy, not {given!r}")
