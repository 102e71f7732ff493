"""`revise`: a formula and data in, what has to change out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from edhie.discovery.columns import columns_to_search
from edhie.discovery.generator import generator_of, library_of
from edhie.discovery.preparing import prepared, warm_up_if_timed
from edhie.discovery.revision.revision import Original, Revision
from edhie.discovery.revision.steps import front_steps, loss_of
from edhie.discovery.settings import Settings
from edhie.errors import SearchError
from edhie.evaluate import Data, Evaluator
from edhie.events import Event
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import constant
from edhie.generators import Generator
from edhie.generators.answers import answer_library, over
from edhie.generators.base import LatentGenerator
from edhie.generators.renamed import Renamed
from edhie.results import Candidate, SearchResult
from edhie.results.description import Criterion
from edhie.search import run
from edhie.search.revision import Revise, ReviseConfig, formula_over, refitted
from edhie.search.revision.formula import thorough

Listener = Callable[[Event], None]


def revise(
    formula: str | Expr,
    data: Data,
    settings: Settings = Settings(),  # noqa: B008 -- frozen
    *,
    target: str = "y",
    validation: Data | None = None,
    on_event: Listener | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
) -> Revision:
    """Look for the least change to a formula after which it explains the data.

    The formula is over the data's columns, with `c` for constants that are not known; numbers are where their fit
    begins. Where a column is called `c`, write a number. Without a `validation` set some rows are held out where
    there are many. Ctrl-C ends the search, and what was found comes back.
    """
    whole = prepared(data, validation)
    given = _read(formula, whole.train.names)
    searched = whole.only(columns_to_search(whole.train, settings, also=given.variables))
    given = _read(formula, searched.train.names)
    generator, library = _sources(settings, searched.train.names, given)
    evaluator = searched.evaluator(library, settings)
    strategy = _strategy(settings, given)
    warm_up_if_timed(settings, generator, library, strategy)
    criterion = Criterion(noise=settings.noise_model)
    result = run(
        generator, evaluator, strategy=strategy, budget=settings.budget, rng=settings.seed,
        on_event=on_event, folder=folder, resume=resume, asked=settings.asked(), criterion=criterion,
    )  # fmt: skip
    start = formula_over(str(given), evaluator.library)
    fitted = strategy.fitted or refitted(start, evaluator.data, thorough(evaluator.constants))[0]
    return _revision(
        given, fitted, evaluator, result, target=target, columns=searched.columns, validation=searched.validation,
        criterion=criterion,
    )  # fmt: skip


def _revision(
    given: Expr,
    fitted: Expr,
    evaluator: Evaluator,
    result: SearchResult,
    *,
    target: str,
    columns: Sequence[str],
    validation: Data | None,
    criterion: Criterion,
) -> Revision:
    error = loss_of(given, evaluator) if None not in given.constants else None
    loss, executed_at = loss_of(fitted, evaluator), min(1, result.counts.executed)
    first = Candidate(fitted, loss, _weight(fitted, evaluator), executed_at)
    steps = front_steps(first, result.candidates, evaluator, target=target, validation=validation, criterion=criterion)
    return Revision(target, tuple(columns), Original(given, error), steps, result, evaluator.negligible)


def _weight(expr: Expr, evaluator: Evaluator) -> float:
    return float(evaluator.complexities(Forest.from_exprs([expr], evaluator.library))[0])


def _read(formula: str | Expr, names: Sequence[str]) -> Expr:
    """The formula as it was given, over every operator and the data's variables."""
    if not isinstance(formula, str | Expr):
        raise SearchError(f"a formula is a text such as 'c*x0 + c', or an Expr, not {formula!r}")
    if isinstance(formula, Expr):
        own = [symbol for symbol in formula.library.symbols if symbol.is_custom]
        return formula.cast(everything(names).extended(*own))
    return parse(formula.strip(), everything(names))


def _sources(settings: Settings, names: Sequence[str], formula: Expr) -> tuple[Generator, SymbolLibrary]:
    """What has codes of expressions, and the symbols of a revision: those of the formula are among them."""
    generator = generator_of(settings.generator, len(names))
    if settings.operators is None:
        library = answer_library(generator, strict=settings.strict)
    else:
        library = library_of(settings.operators, generator.library)
    if library.constant is None:
        library = library.extended(constant())
    library = over(library, names)
    used = (formula.library[token] for token in formula.tokens)
    library = library.extended(*(symbol for symbol in used if symbol.kind == "operator"))
    if isinstance(generator, LatentGenerator) and len(names) == len(generator.library.variables):
        return Renamed(generator, names), library
    return generator, library


def _strategy(settings: Settings, formula: Expr) -> Revise:
    given = settings.strategy.config if isinstance(settings.strategy, Revise) else ReviseConfig()
    return Revise(replace(given, formula=str(formula)))
