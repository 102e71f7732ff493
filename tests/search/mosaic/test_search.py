"""The default search, end to end: whatever data, library, loss and generator it is given."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.evaluate import Evaluator
from edhie.evaluate.archive import Archive
from edhie.evaluate.losses import LOSSES
from edhie.events import Progressed
from edhie.expr import SymbolLibrary, operator
from edhie.expr import standard_libraries as standard
from edhie.generators.base import Generator
from edhie.grammar import load as load_grammar
from edhie.results import SearchResult
from edhie.search import Budget, run
from edhie.search.mosaic import Mosaic, MosaicConfig
from mosaics import Numbers, free, positive, strict
from searches import HVAE, Grammar, assert_same

RNG = np.random.default_rng(0)
X = positive(2, 60)
A, B = X
GAUSS = operator("gauss", 1, numpy=lambda a: np.exp(-np.square(a)))
both = pytest.mark.parametrize("make", [free, strict], ids=["free", "strict"])


def searched(
    library: SymbolLibrary,
    columns: Numbers,
    y: Any,
    *,
    evaluations: int = 600,
    generator: Generator = HVAE,
    **options: Any,
) -> SearchResult:
    used = Evaluator(library, np.asarray(columns).T, y, **options)
    result = run(generator, used, budget=Budget(evaluations))
    assert result.strategy == "mosaic"
    assert used.counts.executed == result.counts.executed <= evaluations
    assert result.candidates.forest.library == library
    for each in result.front:
        found = each.expr(**dict(zip(library.variables, np.asarray(columns), strict=True)))
        error = used.loss.of_values(used.data.y, np.broadcast_to(found, used.data.y.shape), used.data.weights)
        assert error == pytest.approx(each.error, rel=1e-6, abs=1e-9 * np.abs(used.data.y).max())
    return result


def is_exact(result: SearchResult, y: Any) -> bool:
    return result.best is not None and result.best.error <= 1e-9 * np.abs(y).max()


# -- small problems -------------------------------------------------------------------


@both
def test_a_few_laws_are_found_and_the_search_ends(make: Any) -> None:
    for y in (A**2 + np.sin(A), A * np.sin(B), np.sqrt(A * B + 1), -np.exp(A) / B, A**3 * B, 1 / (A + B)):
        result = searched(make(), X, y)
        assert is_exact(result, y)
        assert result.stopped == "finished"


def test_constants_of_any_size() -> None:
    for y in (3.7 * np.sin(1.9 * A) + 0.2, 1e-30 * A * B**2, 6.67e20 * A / B**2):
        assert is_exact(searched(free(), X, y, evaluations=4000), y)


@both
def test_one_variable(make: Any) -> None:
    y = np.sin(A) + A**2
    assert is_exact(searched(make(1), X[:1], y), y)


@pytest.mark.slow
@both
def test_thirty_variables_of_which_two_matter(make: Any) -> None:
    columns = RNG.uniform(0.5, 4, (30, 200))
    y = columns[3] * columns[7] + np.sin(columns[3])
    began = time.perf_counter()
    result = searched(make(30), columns, y, evaluations=400)
    assert time.perf_counter() - began < 30
    assert result.best is not None
    assert result.best.error < 0.1 * np.std(y)
    assert {"x3", "x7"} <= set(result.best.expr.tokens)


def test_a_wave_of_a_product_is_found_in_columns_that_were_centred() -> None:
    rng = np.random.default_rng(0)
    columns = rng.uniform(0, 1, (2, 200))
    y = np.sin(np.pi * columns[0] * columns[1]) + 0.02 * rng.normal(size=200)
    short = [each.error for each in searched(free(), columns - 0.5, y, evaluations=2000).front if each.complexity <= 16]
    assert min(short) < 0.022


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 20])
@both
def test_few_rows(make: Any, n_rows: int) -> None:
    columns = X[:, :n_rows]
    y = columns[0] / columns[1] + 1
    result = searched(make(), columns, y, allow_constant_target=True)
    assert result.best is not None
    assert is_exact(result, y) or n_rows == 1


@both
def test_many_rows_take_little_longer(make: Any) -> None:
    columns = RNG.uniform(0.5, 4, (2, 300_000))
    y = columns[0] * np.sin(columns[1])
    began = time.perf_counter()
    result = searched(make(), columns, y, evaluations=400)
    assert is_exact(result, y)
    assert time.perf_counter() - began < 20


def test_seconds_are_kept_but_for_a_step() -> None:
    columns = RNG.uniform(0.5, 4, (2, 20_000))
    used = Evaluator(free(), columns.T, columns[0] * np.sin(columns[1]) + RNG.normal(size=20_000))
    result = run(HVAE, used, budget=Budget(None, seconds=0.5))
    assert result.stopped == "seconds"
    assert result.seconds < 6


# -- columns and targets --------------------------------------------------------------


@both
def test_a_constant_column_and_one_that_is_there_twice(make: Any) -> None:
    y = A**2 * np.cos(A) + A
    for columns in (np.stack([A, np.full(60, 2.0)]), np.stack([A, np.zeros(60)]), np.stack([A, A])):
        result = searched(make(), columns, y, evaluations=2000)
        assert is_exact(result, y)
        assert result.best is not None
        assert result.best.complexity <= 9


@pytest.mark.parametrize(
    "y",
    [
        np.where(np.arange(60) % 3 == 0, 0.0, A), -np.abs(RNG.normal(size=60)), np.round(3 * A).astype(int),
        (np.arange(60) % 2).astype(bool), RNG.normal(size=60), np.where(np.arange(60) == 7, 1e12, A),
    ],
    ids=["zeros", "negative", "whole", "two values", "noise", "an outlier"],
)  # fmt: skip
@both
def test_any_target(make: Any, y: Any) -> None:
    result = searched(make(), X, y, evaluations=250)
    assert result.best is not None
    mean = np.mean(y) if make is free else 0.0
    assert result.best.error <= np.sqrt(np.mean(np.square(y - mean))) * (1 + 1e-9)


@both
def test_a_constant_target(make: Any) -> None:
    for value in (0.0, 2.0, -3.0):
        y = np.full(60, value)
        for loss in ("rmse", "nrmse", "mae"):
            result = searched(make(), X, y, allow_constant_target=True, loss=loss)
            assert result.best is not None
            assert result.best.error == 0
            assert result.stopped == "finished"
    assert is_exact(searched(free(), X, np.full(60, np.pi), allow_constant_target=True), np.pi)


@both
def test_weights_decide_what_counts(make: Any) -> None:
    weights = (np.arange(60) % 4 > 0) * RNG.uniform(0.5, 2, 60)
    y = np.where(weights > 0, np.exp(A) / B, 100.0)
    assert is_exact(searched(make(), X, y, weights=weights), y)


HOSTILE: dict[str, tuple[Numbers, Numbers]] = {
    "x of any size": (10.0 ** RNG.uniform(-300, 300, (2, 60)) * RNG.choice([-1, 1], (2, 60)), RNG.normal(size=60)),
    "y of any size": (X, 10.0 ** RNG.uniform(-140, 140, 60) * RNG.choice([-1, 1], 60)),
    "y small": (X, 1e-140 * (A + B)),
    "y large": (X, 1e140 * (A + B)),
    "x large": (1e200 * X, A**2),
    "x below normal": (1e-310 * X, A**2),
    "x 0 and negative": (np.round(RNG.normal(size=(2, 60))), RNG.normal(size=60)),
    "one distinct x": (np.full((2, 60), 1.5), RNG.normal(size=60)),
    "x in a narrow range": (100 + 1e-6 * X, A),
    "x 0": (np.zeros((2, 60)), RNG.normal(size=60)),
}


@pytest.mark.parametrize("name", HOSTILE)
@both
def test_hostile_data(make: Any, name: str) -> None:
    columns, y = HOSTILE[name]
    used = Evaluator(make(), columns.T, y)
    result = run(HVAE, used, budget=Budget(250))
    assert result.counts.executed <= 250
    assert result.best is not None


def test_a_grid_with_0_where_numbers_cannot_be_written() -> None:
    grid = np.linspace(-1, 1, 21)[np.newaxis]
    y = 1 / (1 + grid[0] ** 2)
    assert is_exact(searched(strict(1), grid, y), y)


# -- libraries ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("library", "y", "is_reached"),
    [
        (SymbolLibrary.of(["+"], ["x"]), 3 * A, True),
        (SymbolLibrary.of(["+"], ["x"]), np.sin(A), False),
        (SymbolLibrary.of([], ["x"]), np.sin(A), False),
        (SymbolLibrary.of([], ["x"], constant=True), A, True),
        (SymbolLibrary.of(["sin", "exp", "sqrt"], ["x"]), np.sin(np.exp(A)), True),
        (SymbolLibrary.of(["sin", "exp", "sqrt"], ["x"]), A**3 - 2, False),
        (SymbolLibrary.of(["sin", "exp"], ["x"], constant=True), A**3 - 2, False),
        (SymbolLibrary.of(["+", "*"], ["x"], constant=True), 3.7 - 2.2 * A, True),
        (SymbolLibrary.of(["+", "-", "*", "/"], ["x"]), A / (A * A + A), True),
        (SymbolLibrary.of(["+", "*", "/", GAUSS], ["x"], constant=True), 3 * np.exp(-(A**2)) + A, True),
        (SymbolLibrary.of(["+", "-", "/", GAUSS], ["x"]), np.exp(-(A**2)) - A, True),
        (SymbolLibrary.of(["+", "*", "sin"], ["x"], numbers=True), 1.7 * np.sin(A) + A, True),
        (SymbolLibrary.of(["+", "*", "sin"], ["x"], literals=("2", "pi")), 2 * np.sin(A) + A, True),
        (SymbolLibrary.of(["+", "-", "^", "neg", "max", "exp"], ["sin"], constant=True), np.exp(A) + 2, True),
        (standard.everything(["x"]), np.sin(A) ** 2 + A, True),
    ],
    ids=str,
)  # fmt: skip
def test_any_library(library: SymbolLibrary, y: Numbers, is_reached: bool) -> None:
    result = searched(library, X[:1], y, evaluations=500)
    assert result.best is not None
    assert is_exact(result, y) == is_reached


def test_where_nothing_new_is_left_the_search_ends() -> None:
    for operators in ([], ["sin"]):
        used = Evaluator(SymbolLibrary.of(operators, ["x"]), A[:, np.newaxis], np.cos(A))
        assert run(HVAE, used, budget=Budget(None)).stopped == "finished"


def test_progress_shows_the_shortest_description_and_not_the_lowest_error() -> None:
    events: list[Any] = []
    y = 2.34 * A + 1.57 + 0.5 * np.random.default_rng(0).normal(size=len(A))
    evaluator = Evaluator(free(2), X.T, y)
    strategy = Mosaic()
    run(HVAE, evaluator, strategy=strategy, budget=Budget(800), on_event=events.append)
    last = [event for event in events if isinstance(event, Progressed)][-1]
    assert strategy.best_now is not None
    assert last.chosen == strategy.best_now
    assert last.chosen.complexity <= 5 < last.front[len(last.front) - 1].complexity
    assert last.chosen.error > last.error


def test_rounds_may_be_many() -> None:
    library = SymbolLibrary.of(["sin"], ["x"])
    mosaic = Mosaic()
    run(HVAE, Evaluator(library, A[:, np.newaxis], np.cos(A)), strategy=mosaic, budget=Budget(50))
    mosaic._round = 100_000
    assert isinstance(mosaic.step(np.random.default_rng(0)), bool)


# -- losses ---------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@both
def test_every_loss(make: Any, loss: str) -> None:
    result = searched(make(), X, np.exp(A) / B + A, loss=loss)
    assert result.best is not None
    assert result.best.error < 1e-9
    assert result.stopped == "finished"


def test_a_loss_of_the_user_s_that_may_be_negative() -> None:
    def gain(y: Numbers, y_hat: Numbers, weights: Numbers | None) -> float:
        return float(np.mean((y - y_hat) ** 2) - 100)

    result = searched(free(), X, np.sin(A) * B + np.exp(-A), loss=gain, evaluations=500)
    assert result.stopped == "evaluations"
    assert result.best is not None
    assert result.best.error < -99.9


# -- generators -----------------------------------------------------------------------


@pytest.mark.parametrize("n_variables", [1, 3])
@pytest.mark.parametrize("generator", [Grammar(), load_grammar("general"), HVAE], ids=["nguyen-1", "general", "HVAE"])
def test_any_generator(generator: Generator, n_variables: int) -> None:
    columns = positive(n_variables, 60)
    y = columns[0] ** 2 + np.sin(columns[-1]) / columns[0]
    for library in (free(n_variables), strict(n_variables), SymbolLibrary.of(["+", "-", "tanh"], n_variables)):
        result = searched(library, columns, y, generator=generator, evaluations=200)
        assert result.best is not None
        assert result.best.error < 0.1 * np.std(y) or "*" not in library


# -- settings, seeds, folders ---------------------------------------------------------


@pytest.mark.parametrize("name", [each.name for each in fields(MosaicConfig) if each.type == "bool"])
def test_every_part_can_be_left_out(name: str) -> None:
    y = np.sin(A) * B + np.exp(-A) + 0.01 * RNG.normal(size=60)
    used = Evaluator(free(), X.T, y)
    config = replace(MosaicConfig(), **{name: False})
    result = run(HVAE, used, strategy=Mosaic(config), budget=Budget(250))
    assert result.best is not None
    assert result.best.error < np.std(y)
    if name == "refits":
        assert result.counts.refits == 0


@pytest.mark.parametrize(
    "config",
    [
        MosaicConfig(rows=1), MosaicConfig(rows=5, first_pieces=1, most_pieces=1),
        MosaicConfig(kept_pieces=2, elites=1, frames=0),
        MosaicConfig(largest_piece=1), MosaicConfig(largest_expression=1), MosaicConfig(written_a_round=0),
        MosaicConfig(enumeration=False, samples=False), MosaicConfig(evolution=False, latent=False, samples=False),
    ],
)  # fmt: skip
def test_small_settings(config: MosaicConfig) -> None:
    for library in (free(), strict()):
        used = Evaluator(library, X.T, np.sin(A) * B + A)
        assert run(HVAE, used, strategy=Mosaic(config), budget=Budget(120)).counts.executed <= 120


@both
def test_memory_of_the_evaluator_may_be_small(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Archive, "capacity", 2)
    assert is_exact(searched(make(), X, np.sin(A) + B), A)


@pytest.mark.slow
@both
def test_a_folder_and_going_on_change_nothing(make: Any, tmp_path: Path) -> None:
    y = np.sin(A) * B + np.exp(-A) + 0.01 * RNG.normal(size=60)
    plain = run(HVAE, Evaluator(make(), X.T, y), budget=Budget(400), rng=5)
    kept = run(HVAE, Evaluator(make(), X.T, y), budget=Budget(400), rng=5, folder=tmp_path / "run")
    assert_same(plain, kept)
    again = run(HVAE, Evaluator(make(), X.T, y), budget=Budget(400), folder=tmp_path / "run", resume=True)
    assert_same(plain, again)


SCRIPT = """
import sys; sys.path.insert(0, {tests!r})
import numpy as np
from mosaics import free, positive
from searches import HVAE
from edhie.evaluate import Evaluator
from edhie.search import Budget, run
X = positive(2, 60)
y = np.sin(X[0]) * X[1] + np.exp(-X[0]) + 0.01 * np.random.default_rng(0).normal(size=60)
result = run(HVAE, Evaluator(free(), X.T, y), budget=Budget(400), rng=5)
print([(each.error, str(each.expr)) for each in result.candidates])
"""


@pytest.mark.slow
def test_the_hash_seed_changes_nothing() -> None:
    script = SCRIPT.format(tests=str(Path(__file__).parents[2]))
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert len(outputs[0]) > 1000
    assert outputs[0] == outputs[1]
