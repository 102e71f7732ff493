"""The choice for prediction: errors on unseen rows, constants fitted again, and nothing that rows cannot resolve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edhie.evaluate import Data, fit_constants, read_data
from edhie.evaluate.losses import LOSSES
from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.results import Candidates, Front
from edhie.selection.choice import FROM_HERE
from edhie.selection.noise import CONSTANT
from edhie.selection.prediction import FOLDS, cross_validated, folds, most_predictive
from edhie.selection.refitting import refitted
from mosaics import forest_of

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^2", "^3"], ["x"], constant=True)
RNG = np.random.default_rng(2)
X = RNG.uniform(0, 2, 40)
DATA = read_data(X, 1 + 3 * X + 0.4 * RNG.normal(size=40), names=["x"])
POLYNOMIALS = ("c", "c + c*x", "c + c*x + c*x^2", "c + c*x + c*x^2 + c*x^3")
RMSE = LOSSES["rmse"]


def refit(forest: Forest, data: Data) -> Forest:
    return refitted(forest, data, CONSTANT, FROM_HERE)


def fitted(*texts: str, data: Data = DATA) -> Forest:
    return fit_constants(forest_of(LIBRARY, *texts), data).forest


def front(forest: Forest, data: Data = DATA, negligible: float = 0.0) -> Front:
    """All expressions as a front, from the simplest on."""
    errors = np.array([RMSE.of_values(data.y, row, data.weights) for row in values(forest, data.columns)])
    return Front(Candidates(forest, errors, forest.sizes.astype(float), np.arange(len(forest))), negligible)


@pytest.mark.parametrize("n_rows", [2, 7, 10, 11, 99])
def test_every_row_is_in_one_fold_and_folds_are_of_one_size(n_rows: int) -> None:
    masks = np.array(folds(n_rows))
    assert len(masks) == min(FOLDS, n_rows)
    assert (masks.sum(axis=0) == 1).all()
    assert np.ptp(masks.sum(axis=1)) <= 1


def test_cross_validated_errors_are_those_of_fits_without_each_fold() -> None:
    errors = cross_validated(fitted(*POLYNOMIALS), DATA, RMSE, refit)
    for degree, error in enumerate(errors):
        rest = np.empty(len(X))
        for fold in folds(len(X)):
            rest[fold] = DATA.y[fold] - np.polyval(np.polyfit(X[~fold], DATA.y[~fold], degree), X[fold])
        assert error == pytest.approx(np.sqrt(np.square(rest).mean()), rel=1e-6)


def test_the_least_error_on_unseen_rows_is_chosen_and_not_the_least_loss() -> None:
    given = front(fitted(*POLYNOMIALS))
    assert given.errors.tolist() == sorted(given.errors, reverse=True)
    chosen = most_predictive(given, DATA, RMSE, held_out=None, refit=refit)
    errors = cross_validated(given.candidates.forest, DATA, RMSE, refit)
    assert chosen.expr == given[int(np.argmin(errors))].expr
    assert chosen.error > given.errors.min()


def test_held_out_rows_alone_decide_if_there_are_any() -> None:
    forest = fitted(*POLYNOMIALS)
    for k, each in enumerate(forest):
        told = np.polyval([value or 0.0 for value in reversed(each.constants)], X)
        held_out = read_data(X, told + 1e-3 * np.sin(99 * X), names=["x"])
        assert most_predictive(front(forest), DATA, RMSE, held_out=held_out, refit=refit).expr == forest[k]


def test_rows_of_weight_0_do_not_count() -> None:
    wild = read_data(np.append(X, [5.0, 6.0]), np.append(DATA.y, [1e3, -1e3]), names=["x"])
    weighted = replace(wild, weights=np.append(np.ones(40), [0.0, 0.0]))
    few, all_rows = (cross_validated(fitted(*POLYNOMIALS), data, RMSE, refit) for data in (DATA, weighted))
    np.testing.assert_allclose(few, all_rows, rtol=1e-9)


def test_without_held_out_rows_and_fits_the_least_error_is_chosen() -> None:
    given = front(fitted(*POLYNOMIALS))
    assert most_predictive(given, DATA, RMSE, held_out=None, refit=None).error == given.errors.min()


def test_of_equal_errors_the_simplest_is_chosen() -> None:
    exact = read_data(X, 1 + 3 * X, names=["x"])
    given = front(fitted(*POLYNOMIALS, data=exact), exact, negligible=1e-9)
    assert most_predictive(given, exact, RMSE, held_out=None, refit=refit).complexity == 5


def test_a_pole_between_rows_is_not_chosen_unless_all_have_one() -> None:
    x = np.linspace(0, 2, 40)
    middle = 0.5 * (x[9] + x[10])
    data = read_data(x, 1 + 3 * x + 0.01 / (x - middle), names=["x"])
    forest = fit_constants(forest_of(LIBRARY, "c + c*x", "c + c*x + c/(x - c)"), data).forest
    forest = forest.with_values(np.append(forest.values[:2], [1, 3, 0.01, middle]))
    errors = cross_validated(forest, data, RMSE, refit)
    assert errors[1] < errors[0]
    assert most_predictive(front(forest, data), data, RMSE, held_out=None, refit=refit).expr == forest[0]
    alone = front(forest.take([1]), data)
    assert most_predictive(alone, data, RMSE, held_out=None, refit=refit).expr == forest[1]
