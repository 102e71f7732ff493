"""What is written keeps to bounds, is looked at once, and is sensible where the target is constant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.evaluate import Evaluator
from edhie.evaluate.constants.fitting import FitConfig
from edhie.evaluate.counting import key_pairs
from edhie.expr import Forest
from edhie.results import SearchResult
from edhie.search import Budget, run
from edhie.search.mosaic.config import Scoring
from edhie.search.mosaic.fitting.scoring import Scorer
from mosaics import Numbers, free, positive, strict
from searches import HVAE, assert_same

X = positive(2, 60)
A, B = X
NOISY = np.sin(A) * B + np.exp(-A) + 0.01 * np.random.default_rng(0).normal(size=60)
both = pytest.mark.parametrize("make", [free, strict], ids=["free", "strict"])


# -- bounds ---------------------------------------------------------------------------

SLOW = [pytest.param(*each, marks=pytest.mark.slow) for each in [(-2.0, 2.0), (0.0, 1.0), (-np.inf, 0.5)]]
BOUNDS = [(3.0, 4.0), (-1e-3, np.inf), *SLOW]


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
@pytest.mark.parametrize("y", [5 * A - 7 * B + 30, 8 * np.exp(-3.3 * A) + B, NOISY], ids=["linear", "exp", "noisy"])
def test_constants_keep_their_bounds(y: Numbers, lower: float, upper: float) -> None:
    used = Evaluator(free(), X.T, y, constants=FitConfig(lower=lower, upper=upper))
    result = run(HVAE, used, budget=Budget(800))
    assert_within(result, lower, upper)
    assert result.best is not None


def test_constants_keep_their_bounds_on_very_many_rows() -> None:
    a, b = columns = positive(2, Scoring.MANY_ROWS + 1)
    used = Evaluator(free(), columns.T, 5 * a - 7 * b + 30, constants=FitConfig(lower=-2.0, upper=2.0))
    assert_within(run(HVAE, used, budget=Budget(200)), -2.0, 2.0)


def test_what_lies_within_bounds_is_found_as_without_them() -> None:
    y = 1.5 * A - 0.5 * np.sin(B)
    plain, bounded = (
        run(HVAE, Evaluator(free(), X.T, y, constants=FitConfig(lower=-bound, upper=bound)), budget=Budget(800))
        for bound in (np.inf, 100.0)
    )
    assert plain.best is not None
    assert bounded.best is not None
    assert max(plain.best.error, bounded.best.error) < 1e-10


def assert_within(result: SearchResult, lower: float, upper: float) -> None:
    found = result.candidates.forest.values
    assert len(found)
    assert lower <= found.min() <= found.max() <= upper


# -- a constant target ----------------------------------------------------------------


@both
@pytest.mark.parametrize("loss", ["r2", "nrmse", "nmse"])
@pytest.mark.parametrize("value", [0.0, 2.0, -3.0])
def test_a_constant_target_in_its_own_unit(make: Any, loss: str, value: float, tmp_path: Path) -> None:
    used = Evaluator(make(), X.T, np.full(60, value), loss=loss, allow_constant_target=True)
    result = run(HVAE, used, budget=Budget(600))
    assert result.stopped == "finished"
    assert result.best is not None
    assert result.best.error == 0
    assert np.isfinite(result.front.negligible)
    assert_same(SearchResult.load(result.save(tmp_path)), result)


def test_a_constant_that_cannot_be_written_is_not_found() -> None:
    used = Evaluator(strict(), X.T, np.full(60, 0.5772156649), loss="r2", allow_constant_target=True)
    result = run(HVAE, used, budget=Budget(600))
    assert (result.stopped, result.best) == ("evaluations", None)


# -- repetitions ----------------------------------------------------------------------


@both
def test_no_changed_expression_is_fitted_twice(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    plain = Scorer.refitted

    def noted(self: Scorer, forest: Forest, data: Any) -> Forest:
        if is_promising[-1:]:
            looked.extend(map(tuple, key_pairs(forest).tolist()))
        return plain(self, forest, data)

    is_promising: list[bool] = []
    score = Scorer.score_promising

    def during(self: Scorer, variants: Forest) -> None:
        is_promising.append(True)
        score(self, variants)
        is_promising.pop()

    monkeypatch.setattr(Scorer, "refitted", noted)
    monkeypatch.setattr(Scorer, "score_promising", during)
    run(HVAE, Evaluator(make(), X.T, NOISY), budget=Budget(4000))
    assert len(looked) > 100
    assert len(set(looked)) == len(looked)


@pytest.mark.slow
@both
def test_a_search_that_goes_on_knows_what_was_looked_at(make: Any, tmp_path: Path) -> None:
    plain = run(HVAE, Evaluator(make(), X.T, NOISY), budget=Budget(4000), rng=5)
    run(HVAE, Evaluator(make(), X.T, NOISY), budget=Budget(2500), rng=5, folder=tmp_path)
    again = run(HVAE, Evaluator(make(), X.T, NOISY), budget=Budget(4000), folder=tmp_path, resume=True)
    assert_same(plain, again)
