"""Where expressions come from, and what equations may be made of, for given settings and variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from edhie.errors import SearchError, SymbolError
from edhie.expr import Symbol, SymbolLibrary
from edhie.expr.symbols import OPERATORS, constant
from edhie.fit.background import Wanted, trained_or_begun
from edhie.fit.field import field_of
from edhie.fit.settings import Settings
from edhie.generators import Generator, load
from edhie.generators.answers import answer_library
from edhie.generators.base import LatentGenerator
from edhie.generators.hvae.hvae import HVAE
from edhie.generators.renamed import renamed
from edhie.generators.shipped import general_for

TRAINED_FROM = 30.0  # seconds of a fit: for a shorter one nothing is trained


def sources(settings: Settings, names: Sequence[str]) -> tuple[Generator, SymbolLibrary]:
    """What gives expressions, and the symbols of an equation, over these variables."""
    generator = generator_of(chosen_generator(settings, len(names)), len(names))
    # these two place a generator's variables on those of the data themselves
    is_mosaic = settings.search_name == "mosaic" or settings.template is not None
    _check_fits(generator, names, is_mosaic=is_mosaic)
    if settings.operators is None:
        library = answer_library(generator, strict=settings.strict, undoing=is_mosaic)
    else:
        library = library_of(settings.operators, generator.library)
        if not is_mosaic:
            generator = _restricted(generator, library)
    answers = library.with_variables(names)
    if settings.corpus is not None:
        generator = _with_field(generator, settings.corpus, names)
    is_latent = isinstance(generator, LatentGenerator)
    if len(names) == len(generator.library.variables) and (is_latent or not is_mosaic):
        generator = renamed(generator, names)
    return generator, answers


def chosen_generator(settings: Settings, n_variables: int) -> Any:
    """The generator asked for; else one for exactly these variables and operators, whose training may begin now."""
    is_long = settings.max_time is not None and settings.max_time >= TRAINED_FROM
    # what a number of evaluations gives must not depend on what was trained before
    if settings.generator is not None or settings.max_evaluations is not None or not is_long:
        return settings.generator
    operators = settings.operators
    if operators is not None and not all(isinstance(each, str) and each in OPERATORS for each in operators):
        return None
    wanted = Wanted(n_variables, None if operators is None else tuple(operators))
    return None if wanted.is_shipped else trained_or_begun(wanted)


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


def _with_field(generator: Generator, corpus: str | Path | Sequence[str], names: Sequence[str]) -> Generator:
    if not isinstance(generator, HVAE):
        kind = type(generator).__name__
        raise SearchError(f"a corpus is what an HVAE is fine-tuned on, and the generator is a {kind}; choose another")
    return field_of(corpus, generator, names)


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
