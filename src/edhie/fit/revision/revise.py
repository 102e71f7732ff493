"""`revise`: the least change to a formula after which it explains the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from edhie.errors import SearchError
from edhie.evaluate import Data
from edhie.evaluate.parallel import using_threads
from edhie.events import Event
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import constant
from edhie.fit.column_choice import columns_to_search
from edhie.fit.generator import answer_library, generator_of, library_of
from edhie.fit.problem import Problem
from edhie.fit.revision.revision import Original, Revision
from edhie.fit.revision.steps import front_steps, loss_of
from edhie.fit.settings import Settings
from edhie.fit.warm_up import warm_up_if_timed
from edhie.generators import Generator
from edhie.generators.base import LatentGenerator, Renamed
from edhie.results import Candidate
from edhie.search import run
from edhie.search.revision import Revise, ReviseConfig, formula_over, refitted
from edhie.search.revision.formula import thorough
from edhie.selection.description import Criterion

Listener = Callable[[Event], None]


def revise(
    formula: str | Expr,
    problem: Problem | Data,
    settings: Settings = Settings(),  # noqa: B008 -- frozen
    *,
    on_event: Listener | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
) -> Revision:
    """Find the least change to a formula after which it explains the target.

    The formula is over the columns, with `c` for unknown constants; numbers are constants that start at their values.
    If a column is called `c`, write a number instead. Ctrl-C ends the search; what was found until then is returned.
    `jobs` is the number of cores to use; it does not change the result.
    """
    problem = Problem.of(problem)
    with using_threads(jobs):
        given = _read(formula, problem.train.names)
        searched = problem.only(columns_to_search(problem.train, settings, also=given.variables))
        given = _read(formula, searched.train.names)
        generator, library = _sources(settings, searched.train.names, given)
        evaluator = searched.evaluator(library, settings)
        config = settings.search.config if isinstance(settings.search, Revise) else ReviseConfig()
        strategy = Revise(replace(config, formula=str(given)))
        warm_up_if_timed(settings, generator, library, strategy)
        criterion = Criterion(noise=settings.noise_model)
        result = run(
            generator, evaluator, strategy=strategy, budget=settings.budget, rng=settings.seed,
            on_event=on_event, folder=folder, resume=resume, asked=settings.identity(), criterion=criterion,
        )  # fmt: skip
        start = formula_over(str(given), evaluator.library)
        fitted = strategy.fitted or refitted(start, evaluator.data, thorough(evaluator.constants))[0]
        weight = float(evaluator.complexities(Forest.from_exprs([fitted], evaluator.library))[0])
        first = Candidate(fitted, loss_of(fitted, evaluator), weight, min(1, result.counts.executed))
        steps = front_steps(first, result.candidates, evaluator, searched, criterion)
        error = loss_of(given, evaluator) if None not in given.constants else None
        return Revision(problem.target, searched.columns, Original(given, error), steps, result, evaluator.negligible)


def _read(formula: str | Expr, names: Sequence[str]) -> Expr:
    """Return the formula as given, over all operators and the data's variables."""
    if not isinstance(formula, str | Expr):
        raise SearchError(f"a formula is a text such as 'c*x0 + c', or an Expr, not {formula!r}")
    if isinstance(formula, Expr):
        own = [symbol for symbol in formula.library.symbols if symbol.is_custom]
        return formula.cast(everything(names).extended(*own))
    return parse(formula.strip(), everything(names))


def _sources(settings: Settings, names: Sequence[str], formula: Expr) -> tuple[Generator, SymbolLibrary]:
    """Return the generator, and the library of revisions, which has the formula's symbols."""
    generator = generator_of(settings.generator, len(names))
    if settings.operators is None:
        library = answer_library(generator, strict=settings.strict)
    else:
        library = library_of(settings.operators, generator.library)
    if library.constant is None:
        library = library.extended(constant())
    library = library.with_variables(names)
    used = (formula.library[token] for token in formula.tokens)
    library = library.extended(*(symbol for symbol in used if symbol.kind == "operator"))
    if isinstance(generator, LatentGenerator) and len(names) == len(generator.library.variables):
        return Renamed(generator, names), library
    return generator, library
