"""`discover`: data and settings in, equations out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from edhie.discovery.columns import columns_to_search
from edhie.discovery.discovery import Discovery
from edhie.discovery.glimpse import glimpse
from edhie.discovery.going_on import with_generator
from edhie.discovery.guesses import castable, check_affordable, read_guesses, score_guesses
from edhie.discovery.names import variable_names
from edhie.discovery.settings import Settings
from edhie.discovery.sources import sources
from edhie.discovery.template import template_library, template_strategy
from edhie.discovery.warming import is_first_time, warm_up
from edhie.evaluate import Constraints, Data, Evaluator
from edhie.events import Event
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.answers import over
from edhie.results import Front, SearchResult
from edhie.results.validation import split
from edhie.search import run

SPLIT_SEED = 0  # the same rows are held out whatever the seed of the search: results can be compared
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
) -> Discovery:
    """Look for equations that explain the data.

    Without a `validation` set some rows are held out where there are many. `folder` keeps the search, and
    `resume` goes on with it. Ctrl-C ends the search, and what was found comes back.
    """
    columns = data.names
    names = variable_names(columns)
    data = _renamed(data, names)
    if validation is None:
        data, validation = split(data, np.random.default_rng(SPLIT_SEED))
    else:
        validation = _renamed(validation, names)
    searched = columns_to_search(data, settings)
    settings = with_generator(settings, len(searched), folder if resume else None)
    generator, library = sources(settings, [names[k] for k in searched])
    strategy = settings.strategy
    if settings.template is not None:  # parts are of the library as it is, the form may need more
        strategy = template_strategy(settings.template, library)
        library = template_library(settings.template, library)
    evaluator = Evaluator(
        library,
        data.columns[searched].T,
        data.y,
        weights=data.weights,
        loss=settings.loss,
        constants=settings.constants,
        complexity=settings.complexity,
        constraints=_over(settings.constraints, columns, names),
        allow_constant_target=True,
    )
    if on_event is not None and settings.is_plain and not resume:
        seen = glimpse(evaluator.data, library)
        if seen is not None:
            on_event(seen)
    guesses = read_guesses(settings.guesses, library, [columns[k] for k in searched])
    check_affordable(guesses, settings.max_evaluations)
    recalled = Forest.from_exprs(castable(settings.recalled, library), library)
    guesses = Forest.concatenate([guesses, recalled]).unique()
    if settings.max_time is not None or is_first_time():
        warm_up(generator, library, strategy)
    if len(guesses):
        score_guesses(evaluator, guesses, settings.max_evaluations)
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
    )
    train = evaluator.data
    if len(searched) < len(names):
        train = replace(train, columns=data.columns, names=names)
        result = _over_all(result, over(library, names))
    return Discovery(target, tuple(columns), train, validation, result, settings.selection)


def _over_all(result: SearchResult, library: SymbolLibrary) -> SearchResult:
    """What was found in some columns, over a library of all of them."""
    candidates = replace(result.candidates, forest=result.candidates.forest.cast(library))
    return replace(result, candidates=candidates, front=Front.of(candidates, negligible=result.front.negligible))


def _renamed(data: Data, names: Sequence[str]) -> Data:
    return Data(data.columns, data.y, data.weights, tuple(names))


def _over(constraints: Constraints | None, columns: Sequence[str], names: Sequence[str]) -> Constraints | None:
    """Constraints that name variables as the table does, over their identifiers."""
    if not isinstance(constraints, Constraints):
        return constraints  # None, or what the evaluator will not take
    return constraints.renamed(dict(zip(columns, names, strict=True)))
