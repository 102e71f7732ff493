"""Noise models: the standard deviation of each row up to one factor, which is estimated from the residuals.

A new model is one entry in `MODELS` and its weights in `description_kernels.row_weights`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edhie.arrays import Indices, Numbers
from edhie.errors import SearchError, suggestion
from edhie.evaluate.data import Data
from edhie.evaluate.losses import FREEDOM

RATIOS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Ratios of the proportional to the constant part of `BOTH`, at a prediction of typical size."""
GROSS_ROWS = 20  # fewer rows cannot tell gross errors from a curve that is wrong
SMALLEST = 0.25  # times the smallest nonzero target: proportional noise does not fall below that of this prediction


@dataclass(frozen=True)
class NoiseModel:
    """The standard deviation of the noise as a function of the prediction."""

    name: str
    code: int
    """Code of the model in the kernels."""
    description: str
    """Description for users."""
    ratio: float = 0.0
    n_parameters: int = 0
    """Number of parameters besides the scale, which every model has."""
    bits: float = 0.0
    """Cost in bits of choosing this model instead of constant noise."""


CONSTANT = NoiseModel("constant", 0, "constant noise")
PROPORTIONAL = NoiseModel("proportional", 1, "noise proportional to the prediction", bits=3.0)
LOGARITHMIC = 5
"""Code of proportional noise for a target of one sign: errors of its logarithm are normal, too."""
COUNTS = NoiseModel("counts", 2, "counting noise, with a variance proportional to the prediction", bits=4.0)
BOTH = tuple(
    NoiseModel("both", 3, "noise with a constant and a proportional part", ratio, n_parameters=1, bits=8.0)
    for ratio in RATIOS
)
STUDENT = NoiseModel("student", 4, "constant noise with gross errors (Student's distribution)", bits=8.0)
MODELS: dict[str, tuple[NoiseModel, ...]] = {
    "constant": (CONSTANT,),
    "proportional": (PROPORTIONAL,),
    "both": BOTH,
    "counts": (COUNTS,),
    "student": (STUDENT,),
}


def noise_models(noise: str, data: Data) -> tuple[NoiseModel, ...]:
    """Return the models with the name `noise`; "auto" stands for those that the data allow.

    If the rows have standard errors, there is one model: constant, or "student" to allow gross errors.
    """
    if data.sigma is not None:
        return (STUDENT,) if noise == STUDENT.name else (CONSTANT,)
    if noise == "auto":
        counts, gross = (COUNTS,) if is_counts(data.y) else (), (STUDENT,) if data.n_rows >= GROSS_ROWS else ()
        return (CONSTANT, PROPORTIONAL, *counts, *gross)
    if noise not in MODELS:
        names = ("auto", *MODELS)
        raise SearchError(f"unknown noise model {noise!r}; choose one of {', '.join(names)}{suggestion(noise, names)}")
    return MODELS[noise]


def model_of(name: str, ratio: float = 0.0) -> NoiseModel:
    """Return the model with this name and ratio of its parts."""
    found = next((each for each in MODELS[name] if each.ratio == ratio), None)
    if found is None:
        raise SearchError(f"the noise model {name!r} has no ratio {ratio}")
    return found


def is_counts(y: Numbers) -> bool:
    """Return whether a target holds whole numbers from 0 on, not all of them 0 or 1."""
    return bool((y >= 0).all() and y.max(initial=0.0) > 1 and (y == np.floor(y)).all())


def smallest_prediction(y: Numbers) -> float:
    """Return the least size of a prediction for proportional noise, so that its standard deviation is never 0."""
    sizes = np.abs(y[y != 0])
    return SMALLEST * float(sizes.min()) if len(sizes) else 1.0


def has_one_sign(y: Numbers) -> bool:
    """Return whether all targets are positive, or all negative."""
    return bool((y > 0).all() or (y < 0).all())


def codes_of(models: Sequence[NoiseModel], data: Data) -> tuple[Indices, Numbers, Numbers]:
    """Return the models as arguments of kernels: code, ratio and cost in nats of each."""
    costs = [each.bits * math.log(2.0) + 0.5 * each.n_parameters * math.log(data.n_rows) for each in models]
    proportional = LOGARITHMIC if has_one_sign(data.y) else PROPORTIONAL.code
    codes = [proportional if each is PROPORTIONAL else each.code for each in models]
    ratios = [each.ratio for each in models]
    return np.array(codes, np.int64), np.array(ratios), np.array(costs)


def relative_weights(model: NoiseModel, predicted: Numbers, data: Data) -> Numbers | None:
    """Return the weight of each row under a model, with mean 1, for fits of constants; None if all are equal.

    A weight is one over the variance of the row, times its weight in the data.
    """
    from edhie.evaluate.student_kernels import student_scale
    from edhie.selection.description_kernels import row_weights

    base = np.ones(len(predicted)) if data.weights is None else data.weights
    residuals = data.y - predicted
    scale = student_scale(residuals, base, FREEDOM) if model.code == STUDENT.code else 1.0
    weights = row_weights(
        predicted, residuals, base, model.code, model.ratio, smallest_prediction(data.y), scale, FREEDOM
    )
    if model is CONSTANT and data.weights is None:
        return None
    total = float(weights.sum())
    return np.asarray(weights * (len(weights) / total)) if 0 < total < np.inf else None
