"""The generator that a search uses, and the symbols of its equations.

The generator is the given one; else that of the resumed search; else one trained before for exactly these variables and
operators; else the shipped general one. It is fine-tuned on the user's corpus, if there is one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from edhie.errors import EdhieError, SearchError, SymbolError
from edhie.expr import Symbol, SymbolLibrary
from edhie.expr.symbols import OPERATORS, constant
from edhie.files import small_text
from edhie.fit.background_training import Wanted, trained_or_started
from edhie.fit.field import field_of
from edhie.fit.settings import Settings
from edhie.generators import HVAE, Generator, LatentGenerator, load
from edhie.generators.base import renamed
from edhie.generators.saving import folder_of, general_for
from edhie.grammar import load as load_grammar
from edhie.search.checkpoint import DESCRIPTION

GENERAL = "general"
INVERSES = {"sin": "asin", "cos": "acos", "tan": "atan", "exp": "log"}
TRAINED_FROM = 30.0  # seconds of a fit; no generator is trained for a shorter one


def with_generator(settings: Settings, n_variables: int, resumed: str | Path | None = None) -> Settings:
    """Return the settings with their generator chosen; `resumed` is the folder of a search that is resumed."""
    if settings.generator is not None:
        return settings
    kept = None if resumed is None else _generator_in(Path(resumed))
    return replace(settings, generator=kept or _trained(settings, n_variables) or general_for(n_variables))


def _generator_in(folder: Path) -> str | None:
    """Return the generator of the search in a folder; None if it is unknown or no longer exists."""
    try:
        asked = json.loads(small_text(folder / DESCRIPTION))["asked"]
        folder_of(asked["generator"])
        return str(asked["generator"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError, EdhieError):  # reported when the search is read
        return None


def _trained(settings: Settings, n_variables: int) -> Path | None:
    """Return a generator trained for exactly these variables and operators; if there is none, start its training."""
    is_long = settings.max_time is not None and settings.max_time >= TRAINED_FROM
    # with a limit on evaluations, the result must not depend on what was trained before
    if settings.max_evaluations is not None or not is_long:
        return None
    operators = settings.operators
    if operators is not None and not all(isinstance(each, str) and each in OPERATORS for each in operators):
        return None
    wanted = Wanted(n_variables, None if operators is None else tuple(operators))
    return None if wanted.is_shipped else trained_or_started(wanted)


def generator_and_library(settings: Settings, names: Sequence[str]) -> tuple[Generator, SymbolLibrary]:
    """Return the generator of the settings, and the symbols of an equation, over these variables."""
    generator = generator_of(settings.generator, len(names))
    # these two searches map the generator's variables to those of the data themselves
    is_mosaic = settings.search_name == "mosaic" or settings.template is not None
    own = len(generator.library.variables)
    if own == 0:
        raise SearchError("the generator has no variables, so it explains nothing; choose another")
    if not is_mosaic and own != len(names):
        raise SearchError(
            f"the search {settings.search_name!r} needs a generator for {len(names)} variables, not {own}; "
            "use the search 'mosaic', other columns or another generator"
        )
    if settings.operators is None:
        library = answer_library(generator, strict=settings.strict, undoing=is_mosaic)
    else:
        library = library_of(settings.operators, generator.library)
        if not is_mosaic:
            generator = _restricted(generator, library)
    if settings.corpus is not None:
        if not isinstance(generator, HVAE):
            kind = type(generator).__name__
            raise SearchError(f"only an HVAE is fine-tuned on a corpus, and the generator is a {kind}; choose another")
        generator = field_of(settings.corpus, generator, names)
    if own == len(names) and (isinstance(generator, LatentGenerator) or not is_mosaic):
        generator = renamed(generator, names)
    return generator, library.with_variables(names)


def _restricted(generator: Generator, library: SymbolLibrary) -> Generator:
    """Return the generator without the operators that a library lacks."""
    operators = [symbol.name for symbol in generator.library.symbols if symbol.kind == "operator"]
    forbidden = [name for name in operators if name not in library]
    if not forbidden:
        return generator
    if not isinstance(generator, HVAE):
        kind, extra = type(generator).__name__, ", ".join(forbidden)
        raise SearchError(f"operators leaves out {extra}, but a {kind} always uses them; choose another generator")
    return generator.constrained(replace(generator.constraints, forbidden=forbidden))


def generator_of(given: Any, n_variables: int) -> Generator:
    """Return the generator with a name or in a folder, or the given one itself; for None the general one."""
    if given is None:
        return load(general_for(n_variables))
    if isinstance(given, str | Path):
        return load(given)
    if isinstance(given, Generator):
        return given
    raise SearchError(f"generator is a model's name, its folder or a Generator, not {given!r}")


def answer_library(generator: Generator, *, strict: bool, undoing: bool = False) -> SymbolLibrary:
    """Return the symbols of an equation: the generator's, and unless `strict` a constant and the general operators.

    `undoing` is for a search that transforms the target: it adds the inverses of the generator's functions to a strict
    library with constants.
    """
    if strict:
        own = generator.library
        inverses = [OPERATORS[inverse] for name, inverse in INVERSES.items() if name in own]
        return own.extended(*inverses) if undoing and own.constant is not None else own
    further: list[Symbol] = [OPERATORS[s.name] for s in load_grammar(GENERAL).library.symbols if s.kind == "operator"]
    if generator.library.constant is None:
        further.append(constant())
    return generator.library.extended(*further)


def library_of(operators: Sequence[Any], own: SymbolLibrary) -> SymbolLibrary:
    """Return a library of these operators, given by name or as symbols, with a constant and a generator's variables."""
    if isinstance(operators, str):
        raise SymbolError(f"operators={operators!r} is one text; give a list of names, such as ['+', '*', 'exp']")
    symbols: list[Symbol] = []
    for each in operators:
        if isinstance(each, Symbol):
            symbols.append(each)
        elif each in OPERATORS:
            symbols.append(OPERATORS[each])
        else:
            SymbolLibrary.of([each], 1)  # raises an error with a suggestion
    variables = [symbol for symbol in own.symbols if symbol.kind == "variable"]
    kept = next((symbol for symbol in own.symbols if symbol.kind == "constant"), constant())
    return SymbolLibrary((*dict.fromkeys(symbols), *variables, kept))
