"""The pipeline of a fit: problem, generator, search, selection, result; and the workers on which it runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from edhie.errors import SearchError
from edhie.evaluate import Data
from edhie.evaluate.numbers import check_whole
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
from edhie.generators.base import Generator
from edhie.results import Candidates, Front, SearchResult
from edhie.search import run
from edhie.search.islands import Islands
from edhie.search.islands.engines import Dask, Engine, Here, Processes
from edhie.search.strategies import strategy_of
from edhie.selection.description import Criterion
from edhie.selection.prior.known_forms import KnownForms
from edhie.selection.prior.structure_prior import FIELD_WEIGHT, StructurePrior

Listener = Callable[[Event], None]
ENGINES = ("local", "dask")


def cores_of(n_jobs: int | None) -> int:
    """Return the cores for scikit-learn's `n_jobs`; one inside of another parallel loop, which uses the others."""
    import joblib
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return 1 if backend.nesting_level else int(joblib.effective_n_jobs(n_jobs))


@dataclass(frozen=True)
class Workers:
    """Cores of this machine or a cluster, on which a fit runs. They change its duration, not its result."""

    jobs: int = 1
    """Cores of this machine."""
    engine: str = "local"
    """`local`, or `dask` for a cluster."""
    address: str | None = None
    """Address of a Dask scheduler. None: the current client's, or a new cluster on this machine."""

    def __post_init__(self) -> None:
        check_whole("jobs", self.jobs, 1)
        if self.engine not in ENGINES:
            raise SearchError(f"unknown engine {self.engine!r}; choose one of {', '.join(ENGINES)}")
        if self.address is not None and self.engine != "dask":
            raise SearchError('an address is for a cluster; set engine="dask", or leave out the address')

    def open(self, islands: int | None) -> Engine:
        """Return the engine for a number of islands; close it after use."""
        if self.engine == "dask":
            return Dask(self.address, self.jobs)
        return Here(self.jobs) if self.jobs == 1 or islands in (None, 1) else Processes(self.jobs)


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
