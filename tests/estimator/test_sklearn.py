"""scikit-learn's own battery, and its tools around the regressor: pipelines, searches over settings, tables."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from edhie import EDHiERegressor
from edhie.errors import SearchError, UnexplainedWarning

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3, (120, 2))
Y = 2 * X[:, 0] * np.exp(-0.5 * X[:, 1])


def quick(n: int = 400, **more: object) -> EDHiERegressor:
    return EDHiERegressor(max_time=None, max_evaluations=n, **more)


@parametrize_with_checks([quick(60)])
def test_scikit_learns_battery(estimator: EDHiERegressor, check: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the battery does on purpose
        check(estimator)  # type: ignore[operator]


@pytest.fixture(scope="module")
def fitted() -> EDHiERegressor:
    return quick(2000).fit(pd.DataFrame(X, columns=["dose", "time (h)"]), pd.Series(Y, name="level"))


def test_it_finds_the_law_and_says_it_with_the_columns_names(fitted: EDHiERegressor) -> None:
    assert fitted.score(pd.DataFrame(X, columns=["dose", "time (h)"]), Y) > 1 - 1e-12
    assert fitted.best_.target == "level"
    assert {"dose", "time_h"} == {str(symbol) for symbol in fitted.sympy().free_symbols}
    assert "dose" in fitted.latex()
    assert fitted.discoveries_[0].columns == ("dose", "time (h)")


def test_the_table_of_equations(fitted: EDHiERegressor) -> None:
    table = fitted.equations_
    assert list(table.columns)[:5] == ["complexity", "loss", "score", "r2", "r2_validation"]
    assert table["complexity"].is_monotonic_increasing
    assert len(table) == len(fitted.discoveries_[0].equations)
    for constants, errors in zip(table["constants"], table["standard_errors"], strict=True):
        assert len(constants) == len(errors)
    chosen = fitted.discoveries_[0].index
    assert table["weight"].idxmax() == chosen
    assert set(table["noise"]) == {"constant"}
    assert table["equation"][chosen] == f"{fitted.best_.expr:.6g}"
    assert len(fitted.explored_) >= len(fitted.front_) > 0


def test_a_search_that_was_too_short_has_no_weights(fitted: EDHiERegressor) -> None:
    assert fitted.equations_["weight"].notna().any()  # it has ended by itself, with an exact law
    noisy = Y + np.random.default_rng(0).normal(size=len(Y))
    for n, has_weights in ((50, False), (1000, True)):
        model = quick(n).fit(X, noisy)
        assert model.equations_["weight"].notna().any() == has_weights
        assert any("too few to say" in note for note in model.discoveries_[0].notes) != has_weights


def test_predictions_by_row_of_the_table_and_their_deviations(fitted: EDHiERegressor) -> None:
    rows = pd.DataFrame(X[:5], columns=["dose", "time (h)"])
    np.testing.assert_allclose(fitted.predict(rows), Y[:5], rtol=1e-9)
    for k, r2 in enumerate(fitted.equations_["r2"]):
        whole = fitted.predict(pd.DataFrame(X, columns=rows.columns), index=k)
        assert 1 - np.square(Y - whole).sum() / np.square(Y - Y.mean()).sum() == pytest.approx(r2)
    with pytest.raises(IndexError, match="there is no equation 99"):
        fitted.predict(rows, index=99)
    predicted, deviations = fitted.predict(rows, return_std=True)
    assert predicted.shape == deviations.shape == (5,)
    assert (deviations >= 0).all()
    _, with_doubt = fitted.predict(rows, return_std=True, doubt="equations")
    np.testing.assert_allclose(with_doubt, fitted.discoveries_[0].standard_deviations(np.ascontiguousarray(X[:5].T)))
    with pytest.raises(SearchError, match="unknown doubt 'noise'; choose one of constants, equations"):
        fitted.predict(rows, return_std=True, doubt="noise")


def test_deviations_are_those_of_a_linear_model() -> None:
    x = RNG.uniform(0, 4, (60, 1))
    y = 3.1234 + 2.0987 * x[:, 0] + 0.003 * RNG.normal(size=60)  # so precise that no plain number stands for them
    model = quick(100, operators=["+", "*"]).fit(x, y)
    line = next(k for k, each in enumerate(model.discoveries_[0].equations) if each.complexity == 5)
    design = np.column_stack([np.ones(60), x[:, 0]])
    beta, rest, *_ = np.linalg.lstsq(design, y, rcond=None)
    covariance = np.linalg.inv(design.T @ design) * rest[0] / 58
    _, deviations = model.predict(x, index=line, return_std=True)
    np.testing.assert_allclose(deviations, np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design)), rtol=1e-6)
    np.testing.assert_allclose(model.predict(x, index=line), design @ beta, rtol=1e-6)


def test_plain_numbers_are_not_certain() -> None:
    x = RNG.uniform(0, 4, (60, 1))
    y = 3 + 2 * x[:, 0] + 1e-4 * RNG.normal(size=60)  # so precise that constants take more bits
    model = quick(100, operators=["+", "*"]).fit(x, y)
    assert sorted(str(model.best_.expr).replace("*x0", "").split(" + ")) == ["2", "3"]
    design = np.column_stack([np.ones(60), x[:, 0]])
    covariance = np.linalg.inv(design.T @ design) * np.sum((y - 3 - 2 * x[:, 0]) ** 2) / 58
    _, deviations = model.predict(x, return_std=True)
    np.testing.assert_allclose(deviations, np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design)), rtol=1e-6)


def test_tables_of_every_kind_give_the_same() -> None:
    polars = pytest.importorskip("polars")
    by_array = quick().fit(X, Y)
    frame = pd.DataFrame(X, columns=["x0", "x1"])
    for table in (frame, polars.DataFrame({"x0": X[:, 0], "x1": X[:, 1]})):
        model = quick().fit(table, Y)
        assert str(model.best_) == str(by_array.best_)
        assert list(model.feature_names_in_) == ["x0", "x1"]
        np.testing.assert_array_equal(model.predict(table), by_array.predict(X))


def test_several_targets_each_have_equations() -> None:
    both = pd.DataFrame({"a": X[:, 0] + X[:, 1], "b": X[:, 0] * X[:, 1]})
    model = quick().fit(X, both)
    assert [each.target for each in model.discoveries_] == ["a", "b"]
    assert set(model.equations_["target"]) == {"a", "b"}
    np.testing.assert_allclose(model.predict(X), both.to_numpy(), rtol=1e-9)
    assert model.score(X, both) > 1 - 1e-12


def test_it_works_in_scikit_learns_tools() -> None:
    pipeline = make_pipeline(StandardScaler(), quick(300)).set_output(transform="pandas")
    assert cross_val_score(pipeline, X, Y, cv=2).shape == (2,)
    search = GridSearchCV(quick(200), {"selection": ["mdl", "accuracy"]}, cv=2).fit(X, Y)
    assert search.best_params_["selection"] in ("mdl", "accuracy")
    copy = clone(quick(300, operators=["+", "*"]))
    assert copy.get_params()["operators"] == ["+", "*"]
    with pytest.raises(NotFittedError):
        copy.predict(X)


def test_the_seed_decides() -> None:
    features, y = make_regression(80, 3, noise=5.0, random_state=0)
    one, same = (quick(500, random_state=1).fit(features, y) for _ in range(2))
    assert [str(each) for each in one.discoveries_[0].equations] == [str(e) for e in same.discoveries_[0].equations]
    for state in (None, np.random.RandomState(0)):
        quick(50, random_state=state).fit(features, y)


def test_a_fitted_regressor_can_be_pickled(fitted: EDHiERegressor) -> None:
    again = pickle.loads(pickle.dumps(fitted))
    rows = pd.DataFrame(X, columns=["dose", "time (h)"])
    np.testing.assert_array_equal(again.predict(rows), fitted.predict(rows))
    assert str(again.best_) == str(fitted.best_)


def test_a_validation_set_of_the_users_decides() -> None:
    noisy = Y + 0.05 * RNG.normal(size=len(Y))
    model = quick(1500).fit(X[:80], noisy[:80], validation=(X[80:], noisy[80:]))
    found = model.discoveries_[0]
    assert found.validation is not None
    assert found.validation.n_rows == 40
    assert found.best.r2_validation is not None
    assert found.best.r2_validation > 0.9
    with pytest.raises(ValueError, match="dimensions"):
        model.fit(X, Y, validation=(X, np.column_stack([Y, Y])))


def test_weights_count() -> None:
    y = np.where(np.arange(120) < 60, X[:, 0], 5 * X[:, 1])
    first = (np.arange(120) < 60).astype(float)
    model = quick(200).fit(X, y, sample_weight=first)
    np.testing.assert_allclose(model.predict(X)[:60], X[:60, 0], rtol=1e-9)


def test_rows_without_a_value_are_told() -> None:
    x = RNG.uniform(0.1, 5, (80, 1))
    model = quick(500, operators=["+", "*", "log"]).fit(x, 3 * np.log(x[:, 0]))
    with pytest.warns(RuntimeWarning, match=r"no value in 1 of 2 rows.*row 1"):
        predicted = model.predict([[1.0], [-1.0]])
    assert np.isfinite(predicted[0])
    assert not np.isfinite(predicted[1])


def test_where_nothing_beats_a_constant_it_is_said() -> None:
    told = "the columns do not explain y: no equation describes it better than a constant"
    with pytest.warns(UnexplainedWarning, match=told):
        quick(100).fit(X[:60], np.random.default_rng(5).normal(size=60))


def test_a_constant_target_is_that_constant() -> None:
    with pytest.warns(UserWarning, match=r"'y' is 3\.5 in every row, so there is nothing to explain; the equation is"):
        model = quick(100).fit(X, np.full(120, 3.5))
    np.testing.assert_allclose(model.predict(X), 3.5)
