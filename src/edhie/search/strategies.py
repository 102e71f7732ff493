"""Strategies by name, and a user's own by module or file; each is imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from edhie.errors import SearchError, shortened, suggestion
from edhie.search.base import Strategy
from edhie.search.importing import imported, is_text_of_object

DEFAULT: Final = "mosaic"
"""The name of the default search."""
STRATEGIES: dict[str, str] = {
    "draw": "edhie.search.sampling:Draw",
    "dso": "edhie.search.dso:DSO",
    "evolve": "edhie.search.evolution:Evolve",
    "mosaic": "edhie.search.mosaic:Mosaic",
    "revise": "edhie.search.revision:Revise",
    "template": "edhie.search.template:TemplateSearch",
}
"""By name: the module and class of each strategy."""


def strategy_named(name: str) -> Strategy:
    """Return the strategy of a name, with its default settings; `module:Class` or `file.py:Class` for a user's own.

    >>> strategy_named("edhie.search.sampling:Draw").name
    'draw'
    """
    if name in STRATEGIES:
        module, attribute = STRATEGIES[name].split(":")
        return made_strategy(getattr(import_module(module), attribute), name)
    if is_text_of_object(name):
        return made_strategy(imported(name), name)
    known = ", ".join(STRATEGIES)
    raise SearchError(f"unknown strategy {shortened(name)!r}; use one of {known}{suggestion(name, STRATEGIES)}")


def strategy_of(given: object) -> Strategy:
    """Return a strategy, given itself or its name."""
    if isinstance(given, Strategy):
        return given
    if isinstance(given, str):
        return strategy_named(given)
    raise SearchError(f"a strategy is a name ({', '.join(STRATEGIES)}) or a Strategy, not {given!r}")


def made_strategy(given: object, name: str) -> Strategy:
    """Return the strategy that a class, or a function without arguments, returns. `name` is for errors."""
    try:
        made = given() if callable(given) else given
    except TypeError as error:
        raise SearchError(f"{name!r} returns no Strategy: calling it without arguments raises {error}") from error
    if not isinstance(made, Strategy):
        raise SearchError(f"{name!r} is {made!r}, not a subclass of Strategy or a function that returns one")
    return made
