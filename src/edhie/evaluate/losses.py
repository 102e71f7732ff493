"""Losses, of which smaller is better: named ones, and a user's own functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edhie.arrays import Numbers
from edhie.errors import DataError, LossError, shortened, suggestion
from edhie.evaluate.data import Spread, squares_about_mean, squares_about_zero
from edhie.evaluate.numbers import read_only

Formula = Callable[[Numbers, Numbers, Numbers | None], float]
FREEDOM = 3.0  # degrees of freedom of Student's distribution
OF_NORMAL = 1.5820874386663533  # the loss "student" of normal residuals of standard deviation 1, without this factor
ROUNDED_UP = 1 + 8 * float(np.finfo(np.float64).eps)  # covers the roundings on the way to an error and back


@dataclass(frozen=True)
class Loss:
    """A measure of the distance of predictions from the target; smaller is better."""

    name: str
    of_values: Callable[[ArrayLike, ArrayLike, ArrayLike | None], float]
    """The error of predictions: `(y, y_hat, weights or None)`; infinite where any prediction is not finite."""
    from_sum_of_squares: Callable[[ArrayLike, Spread], Numbers] | None = None
    """Errors from weighted sums of squared errors; None where those do not determine it."""
    to_sum_of_squares: Callable[[ArrayLike, Spread], Numbers] | None = None
    """Inverse of `from_sum_of_squares`, rounded up: a larger sum of squares has a larger error."""

    def __reduce__(self) -> tuple[Any, ...]:
        if LOSSES.get(self.name) is self:  # its functions cannot be pickled
            return loss_named, (self.name,)
        return Loss, (self.name, self.of_values, self.from_sum_of_squares, self.to_sum_of_squares)


def r2(y: ArrayLike, y_hat: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return R², the explained share of the target's variance: 1 at best, without bound below.

    It is -inf where a prediction is not finite, and, since there is nothing to explain, for
    predictions that miss a constant target.
    """
    return 1.0 - LOSSES["one_minus_r2"].of_values(y, y_hat, weights)


def _of_squares(name: str, *, relative: bool, root: bool) -> Loss:
    """Make a loss of the sum of squares over the total weight or the target's sum of squares, or of its root."""

    def in_unit(squares: ArrayLike, unit: float) -> Numbers:
        given = np.asarray(squares, dtype=np.float64)
        with np.errstate(all="ignore"):
            # in the unit 0, that of a constant target, any error is infinite
            ratio = given / unit if 0 < unit < math.inf else np.where(given == 0, 0.0, np.inf)
            error = np.sqrt(ratio) if root else ratio
            return np.where(np.isnan(error), np.inf, error)

    def of_values(y: Numbers, y_hat: Numbers, weights: Numbers | None) -> float:
        total_weight = float(len(y) if weights is None else weights.sum())
        unit = squares_about_mean(y, weights) if relative else total_weight
        return float(in_unit(squares_about_zero(y_hat - y, weights), unit))

    def from_sum_of_squares(squares: ArrayLike, data: Spread) -> Numbers:
        return in_unit(squares, data.squares_about_mean if relative else data.total_weight)

    def to_sum_of_squares(error: ArrayLike, data: Spread) -> Numbers:
        given = np.asarray(error, dtype=np.float64)
        unit = data.squares_about_mean if relative else data.total_weight
        with np.errstate(all="ignore"):
            # a bound below 0 stays below 0: nothing is that good
            bound = (given * np.abs(given) if root else given) * unit * ROUNDED_UP
            return np.where(np.isposinf(given), np.inf, bound)  # an infinite error times a unit of 0 is NaN

    return Loss(name, partial(_guarded, of_values), from_sum_of_squares, to_sum_of_squares)


def _mean_absolute(y: Numbers, y_hat: Numbers, weights: Numbers | None) -> float:
    return float(np.average(np.abs(y_hat - y), weights=weights))


def _largest_absolute(y: Numbers, y_hat: Numbers, weights: Numbers | None) -> float:
    """Return the largest absolute error of the rows that have a weight above 0."""
    errors = np.abs(y_hat - y)
    return float((errors if weights is None else errors[weights > 0]).max(initial=0.0))


def _student(y: Numbers, y_hat: Numbers, weights: Numbers | None) -> float:
    """Return the scale of residuals under Student's distribution, in the unit of the target: robust to gross errors.

    It is exp of the mean negative log-likelihood at the maximum-likelihood scale, times the factor that makes it the
    standard deviation of normal residuals.
    """
    from edhie.evaluate.student_kernels import likeliest_square

    shares = np.full(len(y), 1.0 / len(y)) if weights is None else weights / weights.sum()
    squares = np.square(y_hat - y)
    square = likeliest_square(squares, shares, FREEDOM)
    if square == 0.0 or not math.isfinite(square):
        return 0.0 if square == 0.0 and not squares[shares > 0].any() else math.inf
    nats = 0.5 * (FREEDOM + 1.0) * float(shares @ np.log1p(squares / (FREEDOM * square)))
    return math.sqrt(square) * math.exp(nats) / OF_NORMAL


def _guarded(formula: Formula, y: ArrayLike, y_hat: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Call a formula for finite predictions only, without warnings; NaN counts as infinite."""
    target = np.asarray(y, dtype=np.float64)
    predicted = _as_long_as(target, y_hat, "y_hat")
    if not np.isfinite(predicted).all():
        return math.inf
    row_weights = None if weights is None else _as_long_as(target, weights, "weights")
    if row_weights is not None and not row_weights.any():
        raise DataError("all weights are 0; give a weight above 0 to the rows that count")
    with np.errstate(all="ignore"):
        error = formula(target, predicted, row_weights)
    return math.inf if math.isnan(error) else error


def _as_long_as(target: Numbers, values: ArrayLike, what: str) -> Numbers:
    """Return as many values as the target has; a single value is repeated."""
    given = np.asarray(values, dtype=np.float64)
    if target.size == 0:
        raise DataError("y has no values, so there is no error; give at least one")
    if given.shape == target.shape and target.ndim == 1:
        return given
    if given.ndim == 0 and target.ndim == 1:
        return np.full(target.shape, given)
    raise DataError(f"y has shape {target.shape} and {what} has {given.shape}; give one column each, equally long")


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        _of_squares("rmse", relative=False, root=True),  # root of the mean squared error
        _of_squares("mse", relative=False, root=False),  # mean squared error
        Loss("mae", partial(_guarded, _mean_absolute)),  # mean absolute error
        _of_squares("one_minus_r2", relative=True, root=False),  # 1 - R², so that smaller is better
        _of_squares("nrmse", relative=True, root=True),  # RMSE in units of the target's standard deviation
        _of_squares("nmse", relative=True, root=False),  # MSE in units of its variance: the same number as 1 - R²
        Loss("max", partial(_guarded, _largest_absolute)),  # the largest absolute error
        Loss("student", partial(_guarded, _student)),  # as the RMSE for normal residuals, and robust to gross errors
    )
}
"""The losses by name. Weights count by their ratios; deviation and variance are those of the data, not estimates."""

LOSS_ALIASES: dict[str, str] = {"r2": "one_minus_r2"}
"""Other names in use, read but never printed."""

DEFAULT_LOSS = "rmse"


def loss_named(loss: str | Loss | Callable[..., Any] = DEFAULT_LOSS) -> Loss:
    """Return the loss of that name, or that of a function `loss(y, y_hat, weights)`: a number, smaller is better.

    Such a function is called for finite predictions only, with arrays that it cannot change;
    `weights` is None where all rows count the same.

    >>> loss_named("r2").name
    'one_minus_r2'
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        name = LOSS_ALIASES.get(loss, loss)
        if name not in LOSSES:
            hint = suggestion(loss, [*LOSSES, *LOSS_ALIASES])
            raise LossError(f"unknown loss {shortened(loss)!r}; use one of {', '.join(LOSSES)}, or a function{hint}")
        return LOSSES[name]
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        return Loss(name, partial(_guarded, partial(_call_users, loss, name)))
    raise LossError(f"a loss is a name ({', '.join(LOSSES)}) or a function of y, y_hat and weights, not {loss!r}")


def _call_users(function: Callable[..., Any], name: str, y: Numbers, y_hat: Numbers, weights: Numbers | None) -> float:
    given = function(read_only(y), read_only(y_hat), None if weights is None else read_only(weights))
    number = given[()] if isinstance(given, np.ndarray) and given.ndim == 0 else given
    if not isinstance(number, Real | np.bool_):
        kind = f"an array of shape {given.shape}" if isinstance(given, np.ndarray) else shortened(repr(given), 60)
        raise LossError(f"the loss {name!r} returned {kind}; it must return one real number, such as a float")
    return float(number)
