"""Libraries of equations: the symbols that an equation may have, over the variables of the data."""

from __future__ import annotations

from edhie.expr import Symbol, SymbolLibrary
from edhie.expr.symbols import OPERATORS, constant
from edhie.generators.base import Generator
from edhie.grammar import load as load_grammar

GENERAL = "general"
INVERSES = {"sin": "asin", "cos": "acos", "tan": "atan", "exp": "log"}


def answer_library(generator: Generator, *, strict: bool, undoing: bool = False) -> SymbolLibrary:
    """Return the symbols of an equation: those of the generator, and unless `strict` constants and all of general.

    `undoing` is for a search that transforms the target: to a strict library with constants it adds the inverses of
    its own functions.
    """
    if strict:
        own = generator.library
        inverses = [OPERATORS[inverse] for name, inverse in INVERSES.items() if name in own]
        return own.extended(*inverses) if undoing and own.constant is not None else own
    further: list[Symbol] = [OPERATORS[s.name] for s in load_grammar(GENERAL).library.symbols if s.kind == "operator"]
    if generator.library.constant is None:
        further.append(constant())
    return generator.library.extended(*further)
