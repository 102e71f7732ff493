"""`discover`: data and settings in, equations out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from edhie.discovery.columns import columns_to_search
from edhie.discovery.discovery import Discovery
from edhie.discovery.field import formulas_in, score_formulas
from edhie.discovery.generator import generator_and_library, with_generator
from edhie.discovery.glimpse import glimpse
from edhie.discovery.guesses import castable, check_affordable, read_guesses, score_guesses
from edhie.discovery.preparing import prepared, warm_up_if_timed
from edhie.discovery.settings import Settings
from edhie.discovery.template import template_library, template_strategy
from edhie.evaluate import Data, Evaluator
from edhie.events import Event
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.answers import over
from edhie.generators.base import Generator
from edhie.results import Front, SearchResult
from edhie.results.description import Criterion
from edhie.results.structure_prior import StructurePrior
from edhie.search import run

Listener = Callable[[Event], None]


def discover(
    data: Data,
    settings: Settings = Settings(),  # noqa: B008 -- frozen
    *,
    target: str = "y",
    validation: Data | None = None,
    on_event: Listener | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    criterion: Criterion | None = None,
) -> Discovery:
    """Look for equations that explain the data.

    Without a `validation` set some rows are held out where there are many. `folder` keeps the search, and
    `resume` goes on with it. `criterion` compares equations; None for the one that the settings ask for. Ctrl-C
    ends the search, and what was found comes back.
    """
    whole = prepared(data, validation)
    searched = whole.only(columns_to_search(whole.train, settings))
    settings = with_generator(settings, len(searched.columns), folder if resume else None)
    generator, library = generator_and_library(settings, searched.train.names)
    strategy = settings.strategy
    if settings.template is not None:  # parts are of the library as it is, the form may need more
        strategy = template_strategy(settings.template, library)
        library = template_library(settings.template, library)
    evaluator = searched.evaluator(library, settings)
    if on_event is not None and settings.is_plain and not resume:
        _tell_first_look(evaluator, on_event)
    guesses = read_guesses(settings.guesses, library, searched.columns)
    check_affordable(guesses, settings.max_evaluations)
    warm_up_if_timed(settings, generator, library, strategy)
    recalled = Forest.from_exprs(castable(settings.recalled, library), library)
    if len(given := Forest.concatenate([guesses, recalled]).unique()):
        score_guesses(evaluator, given, settings.max_evaluations)
    if settings.corpus is not None and settings.template is None:
        score_formulas(evaluator, formulas_in(generator, library), settings.max_evaluations)
    criterion = criterion or criterion_of(settings, generator, library)
    result = run(
        generator,
        evaluator,
        strategy=strategy,
        budget=settings.budget,
        rng=settings.seed,
        on_event=on_event,
        folder=folder,
        resume=resume,
        asked=settings.asked(),
        criterion=criterion,
    )
    train = evaluator.data
    if searched is not whole:
        train = replace(train, columns=whole.train.columns, names=whole.train.names)
        result = _over_all(result, over(library, train.names))
    return Discovery(
        target, whole.columns, train, whole.validation, result, settings.selection, settings.template,
        keeps_form=settings.constraints is not None, criterion=criterion, guesses=tuple(guesses),
        loss=settings.loss_name, bounds=(settings.constants.lower, settings.constants.upper),
    )  # fmt: skip


def criterion_of(settings: Settings, generator: Generator, library: SymbolLibrary) -> Criterion:
    """Return how equations are compared: by formulas of science, and those of the user's field, and by the noise."""
    prior = StructurePrior.shipped()
    if settings.corpus is not None:
        prior = prior.shifted(formulas_in(generator, library))
    return Criterion(prior=prior, noise=settings.noise_model)


def _tell_first_look(evaluator: Evaluator, on_event: Listener) -> None:
    seen = glimpse(evaluator.data, evaluator.library)
    if seen is not None:
        on_event(seen)


def _over_all(result: SearchResult, library: SymbolLibrary) -> SearchResult:
    """What was found in some columns, over a library of all of them."""
    candidates = replace(result.candidates, forest=result.candidates.forest.cast(library))
    leaders = None if result.leaders is None else replace(result.leaders, forest=result.leaders.forest.cast(library))
    front = Front.of(candidates, negligible=result.front.negligible)
    return replace(result, candidates=candidates, front=front, leaders=leaders)
