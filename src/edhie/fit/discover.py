"""The pipeline of a fit: problem, generator, search, selection, result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from edhie.evaluate import Data
from edhie.evaluate.parallel import using_threads
from edhie.events import Event
from edhie.expr import Forest, SymbolLibrary
from edhie.fit.column_choice import columns_to_search
from edhie.fit.field import formulas_in, score_formulas
from edhie.fit.first_look import first_look
from edhie.fit.generator import generator_and_library, with_generator
from edhie.fit.guesses import castable, check_affordable, read_guesses, score_guesses
from edhie.fit.problem import Problem
from edhie.fit.result import Discovery
from edhie.fit.settings import Settings
from edhie.fit.warm_up import warm_up_if_timed
from edhie.fit.workers import Workers
from edhie.generators.base import Generator
from edhie.results import Candidates, Front, SearchResult
from edhie.search import run
from edhie.search.islands import Islands
from edhie.search.strategies import strategy_of
from edhie.selection.description import Criterion
from edhie.selection.prior.known_forms import KnownForms
from edhie.selection.prior.structure_prior import FIELD_WEIGHT, StructurePrior

Listener = Callable[[Event], None]


def discover(
    problem: Problem | Data,
    settings: Settings = Settings(),  # noqa: B008 -- frozen
    *,
    on_event: Listener | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    criterion: Criterion | None = None,
    workers: Workers = Workers(),  # noqa: B008 -- frozen
) -> Discovery:
    """Find equations that explain the target of a problem.

    `folder` keeps checkpoints, and `resume` continues the search saved there. `criterion` compares equations; its
    default follows from the settings. Ctrl-C ends the search; what was found until then is returned.
    """
    problem = Problem.of(problem)
    with closing(workers.open(settings.islands)) as engine, using_threads(workers.jobs):
        searched = problem.only(columns_to_search(problem.train, settings))
        settings = with_generator(settings, len(searched.columns), folder if resume else None)
        generator, library = generator_and_library(settings, searched.train.names)
        strategy = settings.search
        if settings.template is not None:  # its parts use the library as it is, but its form may need more symbols
            from edhie.fit.template import template_library, template_strategy

            strategy = template_strategy(settings.template, library)
            library = template_library(settings.template, library)
        evaluator = searched.evaluator(library, settings)
        if on_event is not None and settings.is_least_squares and not resume:
            seen = first_look(evaluator.data, library)
            if seen is not None:
                on_event(seen)
        guesses = read_guesses(settings.guesses, library, searched.columns)
        check_affordable(guesses, settings.max_evaluations)
        warm_up_if_timed(settings, generator, library, strategy)
        recalled = Forest.from_exprs(castable(settings.recalled, library), library)
        if len(given := Forest.concatenate([guesses, recalled]).unique()):
            score_guesses(evaluator, given, settings.max_evaluations)
        if settings.corpus is not None and settings.template is None:
            score_formulas(evaluator, formulas_in(generator, library), settings.max_evaluations)
        criterion = criterion or criterion_of(settings, generator, library)
        if settings.islands is None and engine.is_remote:
            settings = replace(settings, islands=engine.workers)
        if settings.islands is not None:
            strategy = Islands(strategy_of(strategy), settings.islands, engine)
        result = run(
            generator, evaluator, strategy=strategy, budget=settings.budget, rng=settings.seed, on_event=on_event,
            folder=folder, resume=resume, asked=settings.identity(), criterion=criterion,
        )  # fmt: skip
        if searched is not problem:  # equations are over all columns of the table
            result = _cast(result, library.with_variables(problem.train.names))
        return Discovery.of(result, problem, settings, criterion, tuple(guesses))


def criterion_of(settings: Settings, generator: Generator, library: SymbolLibrary) -> Criterion:
    """Return the criterion of a fit: its noise model, and the priors of forms, shifted towards a user's corpus."""
    prior, forms = StructurePrior.shipped(), KnownForms.shipped()
    if settings.corpus is not None:
        own = formulas_in(generator, library)
        prior, forms = prior.shifted(own), forms.shifted(own, FIELD_WEIGHT)
    return Criterion(prior=prior, forms=forms, noise=settings.noise_model)


def _cast(result: SearchResult, library: SymbolLibrary) -> SearchResult:
    """Return the result over another library."""

    def cast(candidates: Candidates) -> Candidates:
        return replace(candidates, forest=candidates.forest.cast(library))

    candidates, leaders = cast(result.candidates), None if result.leaders is None else cast(result.leaders)
    front = Front.of(candidates, negligible=result.front.negligible)
    return replace(result, candidates=candidates, front=front, leaders=leaders)
