"""Recipes: the settings that determine a built corpus, and the named ones of the paper."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from edhie.errors import CorpusError, suggestion
from edhie.expr import SymbolLibrary, standard_libraries
from edhie.expr.symbols import OPERATORS, constant
from edhie.grammar import PCFG, load, names

LIBRARIES: dict[str, Callable[[int], SymbolLibrary]] = {
    name: getattr(standard_libraries, name) for name in ("ae", "trig", "nguyen", "feynman")
}


@dataclass(frozen=True)
class Recipe:
    """Settings that determine a corpus; two builds of one recipe are the same to the byte."""

    grammar: str
    """Name of a grammar, or the path of a .pcfg file."""
    size: int
    """Number of distinct expressions."""
    max_height: int
    """Greatest height of a tree, in nodes."""
    simplify: bool = False
    """Simplify each expression with SymPy; numbers become constants to be fitted."""
    seed: int = 0
    """Seed of the random numbers."""
    name: str = ""
    """Name of the corpus; by default that of the folder."""
    variables: int | None = None
    """Number of variables, x0, x1, …; by default those of the grammar."""

    def __post_init__(self) -> None:
        for field, least in (("size", 1), ("max_height", 1), ("seed", 0)):
            value = getattr(self, field)
            if not isinstance(value, int) or value < least:
                raise CorpusError(f"{field} must be a whole number of at least {least}, not {value!r}")
        if self.variables is not None and self.variables < 1:
            raise CorpusError(f"variables must be at least 1, not {self.variables}")

    def load_grammar(self) -> PCFG:
        """Return the grammar, over the paper's library where it is one of the paper's.

        To simplify, that library gets what SymPy brings in: powers, and constants for numbers.
        """
        grammar = load(self.grammar)
        library = grammar.library
        make = LIBRARIES.get(self.grammar.partition("-")[0]) if self.grammar in names() else None
        if make is not None:
            library = make(len(library.variables))
        if self.simplify:
            library = library.extended(*(OPERATORS[name] for name in "+-*/^"))
            library = library if library.constant else library.extended(constant())
        if library != grammar.library:
            grammar = load(self.grammar, library)
        if self.variables is not None:
            grammar = grammar.with_variables([f"x{i}" for i in range(self.variables)])
        return grammar

    def as_provenance(self) -> dict[str, Any]:
        """Return the recipe as it is written into a corpus."""
        return {key: value for key, value in asdict(self).items() if key != "name" and value is not None}


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files("edhie.corpora") / "recipes.toml").read_text(encoding="utf-8"))


def recipe_names() -> list[str]:
    """Return the names of corpora that can be built by name."""
    return list(_tables())


def named_recipe(name: str) -> Recipe:
    """Return the recipe of a named corpus; capitals do not matter.

    >>> named_recipe("trig5-15k").max_height
    5
    """
    found = {each.lower(): each for each in _tables()}.get(name.lower())
    if found is None:
        hint = suggestion(name, recipe_names()) or f"; there are {', '.join(recipe_names())}"
        raise CorpusError(f"unknown corpus {name!r}{hint}")
    row = {key: value for key, value in _tables()[found].items() if key != "sha256"}
    return Recipe(**row, name=found)


def known_checksum(name: str) -> str | None:
    """Return the checksum that a named corpus had when its recipe was written, with SymPy 1.14."""
    found: str | None = _tables().get(name, {}).get("sha256")
    return found
