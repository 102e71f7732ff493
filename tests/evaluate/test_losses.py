from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from edhie.errors import DataError, LossError
from edhie.evaluate.data import Data, squares_about_mean, squares_about_zero
from edhie.evaluate.losses import DEFAULT_LOSS, LOSS_ALIASES, LOSSES, Loss, loss_named, r2

Values = NDArray[np.float64]
OF_SQUARES = [name for name, loss in LOSSES.items() if loss.from_sum_of_squares is not None]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Values, Values, Values | None]:
    """A target that varies, predictions, and weights or none."""
    n = draw(st.integers(2, 12))
    numbers = st.integers(-1000, 1000).map(lambda k: k / 8)
    y, y_hat = (np.array(draw(st.lists(numbers, min_size=n, max_size=n))) for _ in range(2))
    weights = np.array(draw(st.lists(st.integers(0, 8).map(lambda k: k / 4), min_size=n, max_size=n)))
    chosen = weights if draw(st.booleans()) else None
    counting = y if chosen is None else y[chosen > 0]
    assume(len(set(counting.tolist())) > 1)
    return y, y_hat, chosen


def plainly(name: str, y: Sequence[float], y_hat: Sequence[float], weights: Sequence[float]) -> float:
    """The loss by the book, one row at a time."""
    total = math.fsum(weights)
    rows = list(zip(y, y_hat, weights, strict=True))
    mean = math.fsum(w * a for a, _, w in rows) / total
    variance = math.fsum(w * (a - mean) ** 2 for a, _, w in rows) / total
    mse = math.fsum(w * (a - b) ** 2 for a, b, w in rows) / total
    return {
        "rmse": math.sqrt(mse),
        "mse": mse,
        "mae": math.fsum(w * abs(a - b) for a, b, w in rows) / total,
        "one_minus_r2": mse / variance,
        "nrmse": math.sqrt(mse / variance),
        "nmse": mse / variance,
        "max": max(abs(a - b) for a, b, w in rows if w > 0),
        "student": student([a - b for a, b, _ in rows], [w / total for _, _, w in rows]),
    }[name]


def student(residuals: Sequence[float], shares: Sequence[float]) -> float:
    """At the scale, on a grid, that makes residuals most likely, over that of a normal distribution."""
    largest = max(abs(r) for r, share in zip(residuals, shares, strict=True) if share > 0)
    if largest == 0:
        return 0.0
    scales = largest * np.logspace(-15, 0, 60_001)
    told = sum(
        2 * share * np.log1p((r / scales) ** 2 / 3) for r, share in zip(residuals, shares, strict=True) if share > 0
    )
    return float(np.min(scales * np.exp(told)) / 1.5820874386663533)


def data_of(y: Values, weights: Values | None) -> Data:
    return Data(np.zeros((0, len(y))), y, weights, ())


# -- gross errors ---------------------------------------------------------------------


def test_the_robust_loss_is_the_standard_deviation_of_normal_residuals() -> None:
    residuals = 2.5 * np.random.default_rng(0).standard_normal(200_000)
    assert LOSSES["student"].of_values(np.zeros(200_000), residuals, None) == pytest.approx(2.5, rel=0.01)


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_gross_errors_change_the_robust_loss_little(share: float) -> None:
    rng = np.random.default_rng(0)
    residuals = rng.standard_normal(1000)
    residuals[: int(1000 * share)] *= 100
    student, rmse = (LOSSES[name].of_values(np.zeros(1000), residuals, None) for name in ("student", "rmse"))
    assert student < 4
    assert rmse > 20


def test_where_most_residuals_are_0_the_robust_loss_is_nearly_0() -> None:
    residuals = np.where(np.arange(100) < 10, 5.0, 0.0)
    assert LOSSES["student"].of_values(np.zeros(100), residuals, None) < 1e-6
    assert LOSSES["student"].of_values(np.zeros(100), np.zeros(100), None) == 0


# -- the table ------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
@given(cases())
def test_a_loss_is_what_the_books_say(name: str, case: tuple[Values, Values, Values | None]) -> None:
    y, y_hat, weights = case
    ones = [1.0] * len(y) if weights is None else weights.tolist()
    assert LOSSES[name].of_values(y, y_hat, weights) == pytest.approx(plainly(name, y.tolist(), y_hat.tolist(), ones))


@given(cases())
def test_losses_agree_with_scikit_learn(case: tuple[Values, Values, Values | None]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    y, y_hat, weights = case
    for name, theirs in (("mse", "mean_squared_error"), ("mae", "mean_absolute_error")):
        expected = getattr(metrics, theirs)(y, y_hat, sample_weight=weights)
        assert LOSSES[name].of_values(y, y_hat, weights) == pytest.approx(expected)
    assert r2(y, y_hat, weights) == pytest.approx(metrics.r2_score(y, y_hat, sample_weight=weights))


@pytest.mark.parametrize("name", LOSSES)
@given(case=cases(), power=st.integers(-30, 30))
def test_only_the_ratios_of_weights_count(name: str, case: tuple[Values, Values, Values | None], power: int) -> None:
    y, y_hat, weights = case
    row_weights = np.ones(len(y)) if weights is None else weights
    scaled = row_weights * 2.0**power
    error = LOSSES[name].of_values(y, y_hat, weights)
    assert LOSSES[name].of_values(y, y_hat, scaled) == pytest.approx(error)
    repeats = (row_weights * 4).astype(int)  # a whole weight is a number of copies
    assert LOSSES[name].of_values(np.repeat(y, repeats), np.repeat(y_hat, repeats), None) == pytest.approx(error)


@pytest.mark.parametrize("name", LOSSES)
@given(cases())
def test_only_an_exact_prediction_has_no_error(name: str, case: tuple[Values, Values, Values | None]) -> None:
    y, y_hat, weights = case
    counting = slice(None) if weights is None else weights > 0
    assert LOSSES[name].of_values(y, y, weights) == 0
    assert (LOSSES[name].of_values(y, y_hat, weights) == 0) == np.array_equal(y[counting], y_hat[counting])


@pytest.mark.parametrize("name", OF_SQUARES)
@given(cases())
def test_sums_of_squares_tell_the_error_and_back(name: str, case: tuple[Values, Values, Values | None]) -> None:
    y, y_hat, weights = case
    loss, data = LOSSES[name], data_of(y, weights)
    assert loss.from_sum_of_squares is not None
    assert loss.to_sum_of_squares is not None
    squares = np.array([0.0, squares_about_zero(y_hat - y, weights), 1e-30, 1e30, np.inf])
    errors = loss.from_sum_of_squares(squares, data)
    assert errors.shape == squares.shape
    assert errors[1] == loss.of_values(y, y_hat, weights)
    bounds = loss.to_sum_of_squares(errors, data)
    assert np.all(bounds >= squares), "what is as good as the bound would be given up"
    np.testing.assert_allclose(bounds, squares, rtol=1e-14)
    assert np.all(np.diff(loss.from_sum_of_squares(np.sort(squares), data)) >= 0)
    assert loss.to_sum_of_squares(-1.0, data) < 0
    assert loss.from_sum_of_squares(np.nan, data) == np.inf


def test_the_others_have_no_way_from_sums_of_squares() -> None:
    assert OF_SQUARES == ["rmse", "mse", "one_minus_r2", "nrmse", "nmse"]
    for name in ("mae", "max"):
        assert LOSSES[name].to_sum_of_squares is None


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 1.0]])
def test_one_prediction_that_is_not_finite_makes_the_error_infinite(
    name: str, bad: float, weights: list[float] | None
) -> None:
    assert LOSSES[name].of_values([1.0, 2.0, 4.0], [1.0, bad, 4.0], weights) == math.inf


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weights", [None, [1.0, 0.0]])
def test_what_overflows_is_large_in_silence(name: str, weights: list[float] | None) -> None:
    assert LOSSES[name].of_values([-1e308, 1.0], [1.7e308, -1.7e308], weights) == math.inf


@pytest.mark.parametrize("name", LOSSES)
def test_one_number_predicts_every_row(name: str) -> None:
    y = np.array([1.0, 2.0, 4.0])
    assert LOSSES[name].of_values(y, 2.5, None) == LOSSES[name].of_values(y, np.full(3, 2.5), None)


@pytest.mark.parametrize("name", ["one_minus_r2", "nrmse", "nmse"])
def test_a_constant_target_is_met_or_missed(name: str) -> None:
    y = np.full(3, 0.1)  # whose mean, plainly computed, is not 0.1
    loss, data = LOSSES[name], data_of(y, None)
    assert loss.of_values(y, y, None) == 0
    assert loss.of_values(y, y + 1e-9, None) == math.inf
    assert loss.to_sum_of_squares is not None
    assert loss.to_sum_of_squares([0.5, np.inf], data).tolist() == [0.0, np.inf]


def test_no_weight_no_variance() -> None:
    y = np.array([7.0, 0.1, 0.1, 0.1])
    assert squares_about_mean(y, np.array([0.0, 0.3, 0.7, 0.9])) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [1.0, 2.0, 3.0], None), r"y has shape \(2,\) and y_hat has \(3,\); give one column each"),
        (([1.0, 2.0], [[1.0], [2.0]], None), r"y has shape \(2,\) and y_hat has \(2, 1\)"),
        (([1.0, 2.0], [1.0, 2.0], [1.0]), r"y has shape \(2,\) and weights has \(1,\)"),
        (([1.0, 2.0], [1.0, 2.0], [0.0, 0.0]), r"all weights are 0; give a weight above 0"),
        (([], [], None), r"y has no values, so there is no error; give at least one"),
    ],
)
def test_parts_that_do_not_fit_are_refused(arguments: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        LOSSES["rmse"].of_values(*arguments)


# -- R² -------------------------------------------------------------------------------


@given(cases())
def test_r2_is_one_less_the_loss(case: tuple[Values, Values, Values | None]) -> None:
    y, y_hat, weights = case
    assert r2(y, y_hat, weights) == 1 - LOSSES["one_minus_r2"].of_values(y, y_hat, weights)
    assert r2(y, y, weights) == 1
    assert r2(y, np.average(y, weights=weights), weights) == pytest.approx(0, abs=1e-9)


def test_r2_of_what_is_not_finite() -> None:
    assert r2([1.0, 2.0], [1.0, np.nan]) == -math.inf
    assert r2([1.0, 1.0], [1.0, 2.0]) == -math.inf


# -- by name, and of the user's -------------------------------------------------------


def test_names_find_their_losses() -> None:
    assert loss_named() is LOSSES[DEFAULT_LOSS] is LOSSES["rmse"]
    for name, loss in LOSSES.items():
        assert loss_named(name) is loss
        assert loss_named(loss) is loss
        assert loss.name == name
    for alias, name in LOSS_ALIASES.items():
        assert loss_named(alias) is LOSSES[name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rsme", r"unknown loss 'rsme'; use one of rmse, mse, .*, student, or a function; did you mean 'rmse'\?$"),
        ("", r"unknown loss ''; use one of .* or a function$"),
        (3, r"a loss is a name \(rmse, .*\) or a function of y, y_hat and weights, not 3$"),
    ],
)
def test_unknown_losses_are_refused(name: Any, message: str) -> None:
    with pytest.raises(LossError, match=message):
        loss_named(name)


@pytest.mark.parametrize(
    ("returned", "error"),
    [(2, 2.0), (np.float32(0.5), 0.5), (np.array(1.5), 1.5), (True, 1.0), (np.True_, 1.0), (np.nan, math.inf)],
)
def test_a_function_s_number_is_the_error(returned: Any, error: float) -> None:
    def quantile(y: Values, y_hat: Values, weights: Values | None) -> Any:
        return returned

    loss = loss_named(quantile)
    assert (loss.name, loss.from_sum_of_squares, loss.to_sum_of_squares) == ("quantile", None, None)
    assert loss.of_values([1.0], [2.0], None) == error
    assert isinstance(loss.of_values([1.0], [2.0], None), float)


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (np.zeros(2), r"an array of shape \(2,\)"),
        (np.array(1j), r"an array of shape \(\)"),
        (None, "None"),
        ("1.0", "'1.0'"),
        (1j, "1j"),
        ([1.0], r"\[1\.0\]"),
    ],
)
def test_a_function_that_returns_no_number_is_told(returned: Any, shown: str) -> None:
    def mine(y: Values, y_hat: Values, weights: Values | None) -> Any:
        return returned

    with pytest.raises(LossError, match=f"the loss 'mine' returned {shown}; it must return one real number"):
        loss_named(mine).of_values([1.0], [2.0], None)


def test_a_function_sees_the_rows_and_cannot_change_them() -> None:
    seen: list[Any] = []

    def mine(y: Values, y_hat: Values, weights: Values | None) -> float:
        seen.extend((y.tolist(), y_hat.tolist(), weights))
        assert not y.flags.writeable
        assert not y_hat.flags.writeable
        return float(np.log(y - y)[0])  # NumPy would warn of log(0)

    y = np.array([1.0, 2.0])
    assert loss_named(mine).of_values(y, [3.0, 4.0], None) == -math.inf
    assert seen == [[1.0, 2.0], [3.0, 4.0], None]
    assert y.flags.writeable


def test_a_function_is_not_called_for_predictions_that_are_not_finite() -> None:
    def never(y: Values, y_hat: Values, weights: Values | None) -> float:
        raise AssertionError("called")

    assert loss_named(never).of_values([1.0, 2.0], [1.0, np.inf], None) == math.inf


def test_an_object_that_can_be_called_is_a_loss_too() -> None:
    class Huber:
        def __call__(self, y: Values, y_hat: Values, weights: Values | None) -> float:
            return 1.0

    assert loss_named(Huber()).name == "Huber"
    assert isinstance(loss_named(Huber()), Loss)
