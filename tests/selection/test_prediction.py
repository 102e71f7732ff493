"""The choice for prediction: errors on unseen rows, constants fitted again, and nothing that rows cannot resolve."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from edhie.evaluate import Data, fit_constants, read_data
from edhie.evaluate.losses import LOSSES
from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.selection.choice import FROM_HERE
from edhie.selection.noise import CONSTANT
from edhie.selection.refitting import refitted
from edhie.selection.rules import FOLDS, cross_validated, folds, most_predictive
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


def chosen(forest: Forest, data: Data = DATA, **options: Any) -> int:
    """The position that is chosen, with cross-validation unless options say otherwise."""
    return most_predictive(forest, forest.sizes.astype(float), data, RMSE, **({"refit": refit} | options))


@pytest.mark.parametrize("n_rows", [2, 7, 10, 11, 99])
def test_every_row_is_in_one_fold_and_folds_are_of_one_size(n_rows: int) -> None:
    masks = np.array(folds(n_rows))
    assert len(masks) == min(FOLDS, n_rows)
    assert (masks.sum(axis=0) == 1).all()
    assert np.ptp(masks.sum(axis=1)) <= 1


def test_cross_validated_errors_are_those_of_fits_without_each_fold() -> None:
    errors = cross_validated(fitted(*POLYNOMIALS), DATA, RMSE, refit)
    for degree, by_fold in enumerate(errors):
        for fold, error in zip(folds(len(X)), by_fold, strict=True):
            rest = DATA.y[fold] - np.polyval(np.polyfit(X[~fold], DATA.y[~fold], degree), X[fold])
            assert error == pytest.approx(np.sqrt(np.square(rest).mean()), rel=1e-6)


def test_the_simplest_that_is_not_clearly_worse_is_chosen() -> None:
    least = []
    for seed in range(12):
        data = replace(DATA, y=1 + 3 * X + 0.4 * np.random.default_rng(seed).normal(size=40))
        forest = fitted(*POLYNOMIALS, data=data)
        errors = cross_validated(forest, data, RMSE, refit)
        least.append(int(np.argmin(errors.mean(axis=1))))
        more = errors - errors[least[-1]]
        is_good = more.mean(axis=1) <= more.std(axis=1, ddof=1) / np.sqrt(FOLDS)
        simplest = int(np.flatnonzero(is_good)[0])  # sizes are in ascending order
        assert chosen(forest, data) == simplest
        assert 3 - chosen(forest.take([3, 2, 1, 0]), data) == simplest  # in any order
    assert max(least) > 1  # a longer one had the least error by chance


def test_clearly_smaller_errors_are_worth_any_size() -> None:
    data = replace(DATA, y=1 + 3 * X - 2 * X**3 + 0.1 * np.sin(99 * X))
    assert chosen(fitted(*POLYNOMIALS, data=data), data) == 3


def test_held_out_rows_alone_decide_if_there_are_any() -> None:
    forest = fitted(*POLYNOMIALS)
    for k, each in enumerate(forest):
        told = np.polyval([value or 0.0 for value in reversed(each.constants)], X)
        held_out = read_data(X, told + 1e-3 * np.sin(99 * X), names=["x"])
        assert chosen(forest, held_out=held_out) == k


@pytest.mark.parametrize("n_rows", [1, 2, 5])
@pytest.mark.parametrize("loss", ["rmse", "nrmse", "one_minus_r2", "mae"])
def test_few_held_out_rows_are_enough(n_rows: int, loss: str) -> None:
    forest = fitted(*POLYNOMIALS)
    held_out = read_data(
        X[:n_rows], values(forest, DATA.columns[:, :n_rows])[2], names=["x"], allow_constant_target=True
    )
    sizes = forest.sizes.astype(float)
    assert most_predictive(forest, sizes, DATA, LOSSES[loss], held_out=held_out) == 2


def test_rows_of_weight_0_do_not_count() -> None:
    wild = read_data(np.append(X, [5.0, 6.0]), np.append(DATA.y, [1e3, -1e3]), names=["x"])
    weighted = replace(wild, weights=np.append(np.ones(40), [0.0, 0.0]))
    few, all_rows = (cross_validated(fitted(*POLYNOMIALS), data, RMSE, refit) for data in (DATA, weighted))
    np.testing.assert_allclose(few, all_rows, rtol=1e-9)


def test_held_out_rows_of_weight_0_do_not_count() -> None:
    forest = fitted(*POLYNOMIALS)
    told = read_data(X, values(forest, DATA.columns)[1], names=["x"])
    wild = replace(told, y=np.where(X > 1, 1e3, told.y), weights=np.where(X > 1, 0.0, 1.0))
    assert chosen(forest, held_out=wild) == 1


def test_without_held_out_rows_and_fits_the_rows_themselves_decide() -> None:
    forest = fitted(*POLYNOMIALS)
    assert chosen(forest, refit=None) == chosen(forest, held_out=DATA)


def test_of_equal_errors_the_simplest_is_chosen() -> None:
    exact = read_data(X, 1 + 3 * X, names=["x"])
    assert chosen(fitted(*POLYNOMIALS, data=exact), exact, negligible=1e-9) == 1


def test_one_row_is_enough() -> None:
    assert chosen(fitted("c*x", "c"), DATA.take([0])) in (0, 1)


def test_a_pole_between_rows_is_not_chosen_unless_all_have_one() -> None:
    x = np.linspace(0, 2, 40)
    middle = 0.5 * (x[9] + x[10])
    data = read_data(x, 1 + 3 * x + 0.1 / (x - middle), names=["x"])
    forest = fit_constants(forest_of(LIBRARY, "c + c*x", "c + c*x + c/(x - c)"), data).forest
    forest = forest.with_values(np.append(forest.values[:2], [1, 3, 0.1, middle]))
    errors = cross_validated(forest, data, RMSE, refit).mean(axis=1)
    assert errors[1] < errors[0]
    assert chosen(forest, data) == 0
    assert chosen(forest.take([1]), data) == 0  # the only one
