"""A task run, and what it finds judged."""

from __future__ import annotations

import math
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.bench.answering import Answering
from edhie.bench.methods import Method, answer_library, generator_for, in_problem_names
from edhie.bench.metrics import bounded_r2, evaluated_to_success, rank_of_truth, success_threshold
from edhie.bench.own import blamed_on
from edhie.bench.problem import Problem, chosen, load_problems
from edhie.bench.sameness import is_equivalent
from edhie.bench.task import COLUMNS, Outcome, Settings, Task
from edhie.evaluate import (
    CHEAP,
    Data,
    Evaluator,
    FitConfig,
    fit_constants,
    read_columns,
    read_data,
    squared_errors,
    values,
)
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.generators import Generator
from edhie.results import SearchResult
from edhie.search import Budget, Strategy, run, strategy_named
from edhie.search.importing import imported
from edhie.selection.choice import shortest_description

Numbers = NDArray[np.float64]
MOSAIC = "mosaic"
REFITTED = 300  # candidates
WARM_UP = Budget(evaluations=64, seconds=1.0)
MANY_FITS = FitConfig(rows=256)
"""How constants are fitted where every expression's are: on a few rows first, and only the good ones on all."""


def execute(task: Task) -> Outcome:
    """Run a task and judge what it finds."""
    problem, settings = _problem(task.benchmark, task.problem), task.settings
    X, y = problem.data("train", task.run, task.noise)  # noqa: N806
    with nullcontext() if task.own is None else blamed_on(task.method):
        strategy = _strategy(task.how)
        is_mosaic = strategy.name == MOSAIC
        generator, library = _sources(task.how, problem, settings)
        _warm_up(task.how, problem, settings)
        evaluator = Evaluator(library, X, y, constants=CHEAP if is_mosaic else MANY_FITS)
        # under noise the right one is not the best; mosaic stops by itself, at rounding, which approximations are not
        target = success_threshold(y) if task.noise == 0 and not is_mosaic else None
        budget = Budget(settings.evaluations or None, settings.seconds, target)
        result = run(generator, evaluator, strategy=strategy, budget=budget, rng=task.run)
    found = _judged(task, problem, result, evaluator.data)
    counts = result.counts
    row = {
        "problem": problem.id, "method": task.method, "run": task.run, "seed": task.run, "noise": task.noise,
        "evaluated": counts.executed, "screened": counts.screened, "refits": counts.refits,
        "invalid": counts.invalid + counts.undecodable, "seconds": round(result.seconds, 3),
        "stopped": result.stopped, **found,
    }  # fmt: skip
    curve = _curve(result, evaluator.data)
    if isinstance(strategy, Answering):  # what it did is its own to count
        row["evaluated"] = strategy.executed
        row["evaluated_to_success"] = strategy.executed if row["success"] else None
        curve = [] if strategy.executed is None else [[float(strategy.executed), *point[1:]] for point in curve]
    return Outcome({name: row[name] for name in COLUMNS}, curve)


def _strategy(method: Method) -> Strategy:
    """A new one for every run, whatever another has left in it."""
    return Answering(imported(method.strategy)) if method.source == "none" else strategy_named(method.strategy)


@lru_cache(maxsize=4)
def _problem(benchmark: str, name: str) -> Problem:
    return chosen(load_problems(benchmark), [name])[0]


@lru_cache(maxsize=2)
def _sources(method: Method, problem: Problem, settings: Settings) -> tuple[Generator, SymbolLibrary]:
    """What gives expressions, and the symbols that an answer may have."""
    generator = generator_for(method, problem, settings.model)
    if method.source == "none":
        return generator, generator.library  # whatever its formulas are made of
    strict = method.strict if settings.strict is None else settings.strict
    return generator, answer_library(generator, strict=strict, undoing=_strategy(method).name == MOSAIC)


@lru_cache(maxsize=2)
def _warm_up(method: Method, problem: Problem, settings: Settings) -> None:
    """A small search on numbers that mean nothing: a first call may compile, which is no part of a run's time.

    Not of a function of the data, of which nobody knows how long it takes.
    """
    if method.source == "none":
        return
    generator, library = _sources(method, problem, settings)
    noise = np.random.default_rng(0).uniform(1, 2, (32, len(library.variables) + 1))
    evaluator = Evaluator(library, noise[:, :-1], noise[:, -1])
    run(generator, evaluator, strategy=_strategy(method), budget=WARM_UP)


# -- judging --------------------------------------------------------------------------


def _judged(task: Task, problem: Problem, result: SearchResult, data: Data) -> dict[str, Any]:
    """Everything that is said of what was found."""
    X, y = problem.data("train", task.run)  # noqa: N806
    clean = read_data(X, y, allow_constant_target=True)
    limit = success_threshold(clean.y)
    errors, executed_at = result.candidates.errors, result.candidates.executed_at
    rank = None
    if task.noise:
        noisy = _rmse(result.candidates.forest, data)
        errors = _clean_errors(result.candidates.forest, noisy, clean)
        rank = rank_of_truth(noisy, errors, limit)
    found = result.best
    selected = shortest_description(result.candidates, data)
    return {
        "success": found is not None and (found.error < limit if not task.noise else rank is not None),
        "equivalent": _verdict(None if found is None else found.expr, problem, task),
        "rmse": math.inf if found is None else found.error,
        "r2_test": 0.0 if found is None else _r2_test(found.expr, problem, task.run, float(clean.y.mean())),
        "evaluated_to_success": evaluated_to_success(errors, executed_at, limit),
        "expression": "" if found is None else str(in_problem_names(found.expr, problem)),
        "rank": rank,
        "selected": "" if selected is None else str(in_problem_names(selected.expr, problem)),
        "selected_equivalent": _verdict(None if selected is None else selected.expr, problem, task),
    }


def _verdict(expr: Expr | None, problem: Problem, task: Task) -> str | None:
    if expr is None:
        return None if problem.truth is None else "no"
    return is_equivalent(in_problem_names(expr, problem), problem, seed=task.run, refit=task.noise > 0)


def _r2_test(expr: Expr, problem: Problem, seed: int, train_mean: float) -> float:
    X, y = problem.data("test", seed)  # noqa: N806
    return bounded_r2(y, values(Forest.from_exprs([expr]), read_columns(X))[0], train_mean)


def _rmse(forest: Forest, data: Data) -> Numbers:
    """The errors of all expressions in full, whatever bound the search had; infinite where a constant has no value."""
    unfitted = np.add.reduceat(np.append(np.isnan(forest.values), False), forest.value_offsets[:-1])
    is_whole = (unfitted == 0) | (np.diff(forest.value_offsets) == 0)
    found = np.full(len(forest), np.inf)
    found[is_whole] = np.sqrt(squared_errors(forest[is_whole], data) / data.n_rows)
    return found


def _clean_errors(forest: Forest, noisy: Numbers, clean: Data) -> Numbers:
    """The errors without noise; the first by noisy error have their constants, which follow the noise, fitted again."""
    found = _rmse(forest, clean)
    first = np.argsort(noisy, kind="stable")[:REFITTED]
    first = first[np.isfinite(noisy[first]) & (np.diff(forest.value_offsets)[first] > 0)]
    if len(first):
        again = np.sqrt(fit_constants(forest[first], clean).squared_errors / clean.n_rows)
        found[first] = np.minimum(found[first], again)
    return found


def _curve(result: SearchResult, data: Data) -> list[list[float]]:
    """The best error at each improvement, and the bounded R² that it means on the training data."""
    history = result.history
    whole = data.squares_about_mean
    r2 = np.maximum(0.0, 1 - np.square(history.error) * data.n_rows / whole) if whole else np.zeros(len(history))
    columns = history.executed, history.screened, history.seconds.round(3), history.error, r2
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]
