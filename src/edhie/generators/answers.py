"""What an answer may be made of, and over which variables."""

from __future__ import annotations

from edhie.expr import Symbol, SymbolLibrary
from edhie.expr.symbols import OPERATORS, constant
from edhie.generators.base import Generator
from edhie.grammar import load as load_grammar

GENERAL = "general"
INVERSES = {"sin": "asin", "cos": "acos", "tan": "atan", "exp": "log"}


def answer_library(generator: Generator, *, strict: bool, undoing: bool = False) -> SymbolLibrary:
    """The symbols that an answer may have: those of the generator, and if not `strict` constants and all of general.

    A search that looks at the target through functions needs what undoes them: `undoing` adds, to a library with
    constants, the inverses of its own functions. Without constants an answer is of the library's symbols alone.
    """
    if strict:
        own = generator.library
        inverses = [OPERATORS[inverse] for name, inverse in INVERSES.items() if name in own]
        return own.extended(*inverses) if undoing and own.constant is not None else own
    further: list[Symbol] = [OPERATORS[s.name] for s in load_grammar(GENERAL).library.symbols if s.kind == "operator"]
    if generator.library.constant is None:
        further.append(constant())
    return generator.library.extended(*further)
