"""Run a trial and judge what it finds."""

from __future__ import annotations

import math
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from edhie.arrays import Numbers
from edhie.bench.methods import answer_library, generator_for, in_problem_names, problem_symbols
from edhie.bench.metrics import bounded_r2, evaluated_to_success, freed, is_equivalent, rank_of_truth, success_threshold
from edhie.bench.own_methods import Answering, errors_of
from edhie.bench.problem import BenchmarkProblem, chosen, load_problems
from edhie.bench.rivals.isolated import asking, check_installed
from edhie.bench.trial import COLUMNS, NO_ANSWER, Outcome, Trial
from edhie.evaluate import Data, Evaluator, FitConfig, fit_constants, read_columns, read_data, squared_errors, values
from edhie.expr import Expr, Forest
from edhie.fit import Settings, discover
from edhie.fit.warm_up import warm_up
from edhie.generators import Generator
from edhie.results import SearchResult
from edhie.search import Budget, Strategy, run, strategy_named
from edhie.search.strategies import imported
from edhie.selection.choice import shortest_description

MOSAIC = "mosaic"
REFITTED = 300  # candidates of a noisy run whose constants are fitted again without noise
MANY_FITS = FitConfig(rows=256)
"""Fit of the constants of every expression: to some of the rows first, and only the good ones to all."""

_generator = lru_cache(maxsize=2)(generator_for)


class Found(NamedTuple):
    """The outcome of a search."""

    result: SearchResult
    data: Data
    """The rows that it fitted."""
    selected: Expr | None
    """The selected equation."""
    strategy: Strategy | None = None


def execute(trial: Trial, generator: Generator | None = None) -> Outcome:
    """Run a trial and judge what it finds; a given `generator` replaces that of the method.

    The default search runs as it does for users, by `edhie.fit.discover`; the paper's methods run as in the paper.
    """
    problem = _problem(trial.benchmark, trial.problem)
    X, y = problem.data("train", trial.run, trial.noise)  # noqa: N806
    with errors_of(trial.method.name) if trial.method.is_own else nullcontext():
        generator = generator or _generator(trial.method, problem, trial.settings.model)
        found = (_discovered if trial.method.strategy == MOSAIC else _searched)(trial, generator, X, y)
    result, counts = found.result, found.result.counts
    row = {
        "problem": problem.id, "method": trial.method.name, "run": trial.run, "seed": trial.run, "noise": trial.noise,
        "evaluated": counts.executed, "screened": counts.screened, "refits": counts.refits,
        "invalid": counts.invalid + counts.undecodable, "seconds": round(result.seconds, 3),
        "stopped": result.stopped, **_judged(trial, problem, found),
    }  # fmt: skip
    curve = _curve(result, found.data)
    if isinstance(found.strategy, Answering):  # it counts its own evaluations
        executed, seconds, reason = found.strategy.executed, found.strategy.seconds, found.strategy.reason
        row |= {"evaluated": executed, "evaluated_to_success": executed if row["success"] else None}
        row |= {} if seconds is None else {"seconds": round(seconds, 3)}
        row |= {"stopped": f"{NO_ANSWER}{reason}"} if reason else {}
        curve = [] if executed is None else [[float(executed), *point[1:]] for point in curve]
    return Outcome({name: row[name] for name in COLUMNS}, curve)


def prepare(trial: Trial) -> None:
    """Import and load what a trial needs; raise an error if something is missing."""
    if trial.method.is_own and ":" in trial.method.strategy:
        imported(trial.method.strategy)
    check_installed(trial.method)
    _generator(trial.method, _problem(trial.benchmark, trial.problem), trial.settings.model)


def _discovered(trial: Trial, generator: Generator, X: Numbers, y: Numbers) -> Found:  # noqa: N803
    """Search as a user does, with the problem's generator and within the limits of the trial."""
    asked = Settings(
        max_time=trial.settings.seconds, max_evaluations=trial.settings.evaluations or None, generator=generator,
        strict=trial.is_strict, seed=trial.run,
    )  # fmt: skip
    found = discover(read_data(X, y, allow_constant_target=True), asked)
    return Found(found.result, found.train, None if found.is_empty else found.best.expr)


def _searched(trial: Trial, generator: Generator, X: Numbers, y: Numbers) -> Found:  # noqa: N803
    """Search with a method of the paper or of the user."""
    settings, method = trial.settings, trial.method
    is_function = method.source == "none"
    if method.package:
        symbols = problem_symbols(_problem(trial.benchmark, trial.problem))
        strategy: Strategy = Answering(asking(method, symbols, trial.run), keeps_errors=True)
    else:
        strategy = Answering(imported(method.strategy)) if is_function else strategy_named(method.strategy)
    if is_function:  # its formulas may use any symbol
        library = generator.library
    else:
        library = answer_library(generator, strict=trial.is_strict)
        warm_up(generator, library, method.strategy)
    evaluator = Evaluator(library, X, y, constants=MANY_FITS)
    target = success_threshold(y) if trial.noise == 0 else None  # under noise the formula has not the least error
    budget = Budget(settings.evaluations or None, settings.seconds, target)
    result = run(generator, evaluator, strategy=strategy, budget=budget, rng=trial.run)
    selected = shortest_description(result.candidates, evaluator.data)
    return Found(result, evaluator.data, None if selected is None else selected.expr, strategy)


@lru_cache(maxsize=4)
def _problem(benchmark: str, name: str) -> BenchmarkProblem:
    return chosen(load_problems(benchmark), [name])[0]


def _judged(trial: Trial, problem: BenchmarkProblem, end: Found) -> dict[str, Any]:
    """Return the columns that say how good the result is."""
    result, selected = end.result, end.selected
    X, y = problem.data("train", trial.run)  # noqa: N806
    clean = read_data(X, y, allow_constant_target=True)
    limit = success_threshold(clean.y)
    errors, executed_at = result.candidates.errors, result.candidates.executed_at
    rank = None
    if trial.noise:
        noisy = _rmse(result.candidates.forest, end.data)
        errors = _clean_errors(result.candidates.forest, noisy, clean)
        rank = rank_of_truth(noisy, errors, limit)
    found, r2 = result.best, 0.0
    if found is not None:
        X, y = problem.data("test", trial.run)  # noqa: N806
        r2 = bounded_r2(y, values(Forest.from_exprs([found.expr]), read_columns(X))[0], float(clean.y.mean()))
    return {
        "success": found is not None and (found.error < limit if not trial.noise else rank is not None),
        "equivalent": _verdict(None if found is None else found.expr, problem, trial),
        "rmse": math.inf if found is None else found.error,
        "r2_test": r2,
        "evaluated_to_success": evaluated_to_success(errors, executed_at, limit),
        "expression": "" if found is None else str(in_problem_names(found.expr, problem)),
        "rank": rank,
        "selected": "" if selected is None else str(in_problem_names(selected, problem)),
        "selected_equivalent": _verdict(selected, problem, trial),
    }


def _verdict(expr: Expr | None, problem: BenchmarkProblem, trial: Trial) -> str | None:
    if expr is None:
        return None if problem.truth is None else "no"
    answer, is_single = in_problem_names(expr, problem), trial.method.digits < np.finfo(np.float64).precision
    if is_single:  # its numbers have too few digits, so they are fitted again
        form, numbers = freed(answer)
        answer = Expr(form.library, form.tokens, numbers)
    return is_equivalent(answer, problem, seed=trial.run, refit=is_single or trial.noise > 0)


def _rmse(forest: Forest, data: Data) -> Numbers:
    """Return the RMSE of all expressions, also of those that a bound cut short; infinite if a constant is unfitted."""
    unfitted = np.add.reduceat(np.append(np.isnan(forest.values), False), forest.value_offsets[:-1])
    is_fitted = (unfitted == 0) | (np.diff(forest.value_offsets) == 0)
    found = np.full(len(forest), np.inf)
    found[is_fitted] = np.sqrt(squared_errors(forest[is_fitted], data) / data.n_rows)
    return found


def _clean_errors(forest: Forest, noisy: Numbers, clean: Data) -> Numbers:
    """Return the RMSE on data without noise; constants of the best by noisy RMSE are fitted again."""
    found = _rmse(forest, clean)
    first = np.argsort(noisy, kind="stable")[:REFITTED]
    first = first[np.isfinite(noisy[first]) & (np.diff(forest.value_offsets)[first] > 0)]
    if len(first):
        again = np.sqrt(fit_constants(forest[first], clean).squared_errors / clean.n_rows)
        found[first] = np.minimum(found[first], again)
    return found


def _curve(result: SearchResult, data: Data) -> list[list[float]]:
    """Return the learning curve: the columns of `CURVE` at each improvement, with bounded R² on the training data."""
    history = result.history
    whole = data.squares_about_mean
    r2 = np.maximum(0.0, 1 - np.square(history.error) * data.n_rows / whole) if whole else np.zeros(len(history))
    columns = history.executed, history.screened, history.seconds.round(3), history.error, r2
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]
