"""Where expressions come from, and what equations may be made of, for given settings and variables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from edhie.discovery.settings import Settings
from edhie.errors import SearchError, SymbolError
from edhie.expr import Symbol, SymbolLibrary
from edhie.expr.symbols import OPERATORS, constant
from edhie.generators import Generator, load
from edhie.generators.answers import answer_library, over
from edhie.generators.base import LatentGenerator
from edhie.generators.renamed import Renamed
from edhie.generators.shipped import general_for


def sources(settings: Settings, names: Sequence[str]) -> tuple[Generator, SymbolLibrary]:
    """What gives expressions, and the symbols of an equation, over these variables."""
    generator = generator_of(settings.generator, len(names))
    is_mosaic = settings.strategy == "mosaic" or getattr(settings.strategy, "name", None) == "mosaic"
    _check_fits(generator, names, is_mosaic=is_mosaic)
    if settings.operators is None:
        library = answer_library(generator, strict=settings.strict, undoing=is_mosaic)
    else:
        library = library_of(settings.operators, generator.library)
    answers = over(library, names)
    # mosaic itself places a generator's variables on those of the data, where they are not as many
    if isinstance(generator, LatentGenerator) and len(names) == len(generator.library.variables):
        return Renamed(generator, names), answers
    return generator, answers


def generator_of(given: Any, n_variables: int) -> Generator:
    """The generator that is meant: a name, a folder, one itself, or none for the general one."""
    if given is None:
        return load(general_for(n_variables))
    if isinstance(given, str | Path):
        return load(given)
    if isinstance(given, Generator):
        return given
    raise SearchError(f"generator is a model's name, its folder or a Generator, not {given!r}")


def library_of(operators: Sequence[Any], own: SymbolLibrary) -> SymbolLibrary:
    """A library of these operators, by name or as symbols of the user's, with constants and a generator's variables."""
    if isinstance(operators, str):
        raise SymbolError(f"operators={operators!r} is one text; give a list of names, such as ['+', '*', 'exp']")
    symbols: list[Symbol] = []
    for each in operators:
        if isinstance(each, Symbol):
            symbols.append(each)
        elif each in OPERATORS:
            symbols.append(OPERATORS[each])
        else:
            SymbolLibrary.of([each], 1)  # raises, and names what is near
    variables = [symbol for symbol in own.symbols if symbol.kind == "variable"]
    kept = next((symbol for symbol in own.symbols if symbol.kind == "constant"), constant())
    return SymbolLibrary((*dict.fromkeys(symbols), *variables, kept))


def _check_fits(generator: Generator, names: Sequence[str], *, is_mosaic: bool) -> None:
    own = len(generator.library.variables)
    if own == 0:
        raise SearchError("the generator has no variables, so it explains nothing; choose another")
    if not is_mosaic and own != len(names):
        raise SearchError(
            f"this strategy needs a generator for {len(names)} variables, and this one has {own}; "
            "use the strategy 'mosaic', other columns or another generator"
        )
