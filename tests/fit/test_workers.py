"""Laws of workers: they change no result, and do not take cores that another loop uses."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from edhie import EDHiERegressor
from edhie.errors import EdhieError
from edhie.fit.discover import Workers, cores_of

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 4, (60, 2))
Y = X[:, 0] * np.exp(-X[:, 1]) + 0.05 * RNG.normal(size=60)


def fitted(**options: Any) -> EDHiERegressor:
    return EDHiERegressor(max_time=None, max_evaluations=1_500, random_state=1, **options).fit(X, Y)


def test_cores_change_no_result() -> None:
    one, two = fitted(), fitted(n_jobs=2)
    np.testing.assert_array_equal(one.explored_.errors, two.explored_.errors)
    assert str(one.best_) == str(two.best_)


@pytest.mark.slow
def test_processes_of_islands_change_no_result() -> None:
    one, two = fitted(islands=2), fitted(islands=2, n_jobs=2)
    np.testing.assert_array_equal(one.explored_.errors, two.explored_.errors)
    assert str(one.best_) == str(two.best_)


def test_jobs_are_those_of_scikit_learn() -> None:
    assert cores_of(None) == 1
    assert cores_of(-1) == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=2):
        assert cores_of(None) == 2
    with pytest.raises(ValueError, match="n_jobs"):
        cores_of(0)
    with pytest.raises(ValueError, match="n_jobs"):
        EDHiERegressor.revise("c*x0", X, Y, n_jobs=0)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_loops_do_not_nest(backend: str) -> None:
    found = joblib.Parallel(2, backend=backend)(joblib.delayed(cores_of)(each) for each in (-1, 2, None))
    assert found == [1, 1, 1]


def test_cross_validation_in_processes() -> None:
    model = EDHiERegressor(max_time=None, max_evaluations=100, n_jobs=-1)
    scores = cross_val_score(model, X, Y, cv=2, n_jobs=2)
    np.testing.assert_array_equal(scores, cross_val_score(model, X, Y, cv=2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "spark"}, "unknown engine 'spark'; choose one of local, dask"),
        ({"address": "tcp://127.0.0.1:1"}, 'set engine="dask"'),
        ({"jobs": 0}, "jobs"),
    ],
)
def test_faults_are_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EdhieError, match=message):
        Workers(**options)
