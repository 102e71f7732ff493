"""Description length: the number of bits that encode the data with an equation; the shortest is selected.

This is the one measure by which equations are compared, in the search and in the choice. It has five parts: the
structure of the equation under the structure prior, its claims about the units of the columns (`units`), its constants
(each to the precision that the data give it; plain numbers have their own code), the residuals under a noise model, and
what the rows cannot resolve (`between_rows`). Residuals below the resolution of the target and of the columns save
nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Flags, Indices, Numbers
from edhie.evaluate.constants.fitting import with_numbers
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.data import Data
from edhie.evaluate.losses import FREEDOM
from edhie.evaluate.machine.program import plan
from edhie.evaluate.parallel import parallel_for
from edhie.evaluate.values import values, with_custom_operators
from edhie.expr import Forest
from edhie.selection.between_rows import unreliable_bits
from edhie.selection.noise import (
    PROPORTIONAL,
    NoiseModel,
    codes_of,
    noise_models,
    smallest_prediction,
)
from edhie.selection.plain_numbers import literal_bits
from edhie.selection.prior.known_forms import KnownForms
from edhie.selection.prior.structure_prior import StructurePrior
from edhie.selection.units import claim_bits, with_factors

Kernel = tuple[Numbers, Numbers, Numbers, Numbers, float, Indices, Numbers, Numbers, float, float]
"""Arguments of kernels besides expressions; see `description_kernels.lengths`."""
ROUNDING = 1e-12  # share of a target below which its residual saves nothing, and of the spread: then it is exact
ROUNDING_OF_ROW, CANCELLED = 1e-9, 1e-6  # the same of a row's size, which is at least a share of the typical size
SPACING = 4.0 * float(np.finfo(np.float64).eps)  # share of a value that rounding of the value itself may be
ALONE = -3.0  # bits of the structure of a single constant: with 0, 1 of 24 tables of pure noise had an equation
BITS_PER_NAT = 1.0 / math.log(2.0)


@dataclass(frozen=True)
class Criterion:
    """Settings of the description length; search and selection use the same."""

    prior: StructurePrior = field(default_factory=StructurePrior.shipped)
    """The structure prior."""
    noise: str = "auto"
    """The noise model: a name of `noise.MODELS`, or "auto" for the one that describes the residuals best."""
    has_resolution: bool = True
    """True if residuals below the resolution of the target and of the columns save nothing."""
    spread: float = 1.0
    """Prior width of a constant, relative to its value."""
    forms: KnownForms | None = field(default_factory=KnownForms.shipped)
    """Whole forms that cost less than their operators; None for none."""
    has_units: bool = True
    """True if claims about the units of the columns cost bits."""
    has_precision: bool = True
    """True if a constant costs the bits of its precision; otherwise half the log2 of the number of rows."""

    def models(self, data: Data) -> tuple[NoiseModel, ...]:
        """Return the noise models that are compared on these data."""
        return noise_models(self.noise, data)


@dataclass(frozen=True, eq=False)
class Description:
    """Description lengths of some expressions."""

    bits: Numbers
    """Length of each; infinite if it has no value in some row, or as many constants as there are rows."""
    models: tuple[NoiseModel, ...]
    """Noise model under which each is shortest."""


def description_bits(
    forest: Forest, data: Data, criterion: Criterion | None = None, *, below: float = math.inf
) -> Numbers:
    """Return the description length of each expression, in bits; a lower bound for those not shorter than `below`."""
    return describe(forest, data, criterion, below=below).bits


def describe(
    forest: Forest,
    data: Data,
    criterion: Criterion | None = None,
    models: tuple[NoiseModel, ...] | None = None,
    *,
    below: float = math.inf,
) -> Description:
    """Return the description lengths of expressions with fitted constants, and their noise models.

    `models` are compared instead of the criterion's own. Expressions that are not shorter than `below` get a lower
    bound, for speed: without the bits for what the rows cannot resolve.
    """
    criterion = criterion or Criterion()
    models = criterion.models(data) if models is None else models
    if len(forest) == 0:
        return Description(np.empty(0), ())
    by_model = data_bits(forest, data, criterion, models)
    alone = np.flatnonzero(_is_constant(forest))
    if len(alone):  # a constant may also describe a skewed distribution that depends on no column
        by_model[alone] = np.minimum(by_model[alone], skewed_bits(data, criterion))
    best = np.argmin(by_model, axis=1)
    bits = by_model[np.arange(len(forest)), best] + expression_bits(forest, data, criterion)
    if criterion.has_units:
        bits += claim_bits(forest, data)
    near = np.flatnonzero(bits < below)
    bits[near] += unreliable_bits(forest.take(near), data)
    return Description(bits, tuple(models[k] for k in best))


def expression_bits(forest: Forest, data: Data, criterion: Criterion) -> Numbers:
    """Return the bits of structures and plain numbers; those of other constants depend on the noise."""
    literals = literal_bits(forest.values)
    if criterion.has_precision:
        forest = with_numbers(forest, np.isfinite(literals))
        literals = np.where(np.isfinite(literals), literals, 0.0)
    else:
        literals = np.full(len(forest.values), 0.5 * math.log2(max(data.n_rows, 2)))
    of_numbers = np.bincount(forest.value_owners, literals, minlength=len(forest)).astype(np.float64)
    bits = criterion.prior.bits(forest) + of_numbers
    if criterion.forms is not None:  # a mixture of both priors
        bits = -np.logaddexp2(-1.0 - bits, -criterion.forms.bits(forest, of_numbers))
    is_alone = _is_constant(forest)
    bits[is_alone] = ALONE + of_numbers[is_alone]
    return np.asarray(bits)


def _is_constant(forest: Forest) -> Flags:
    """Return whether each expression is a single constant."""
    return np.asarray((forest.sizes == 1) & (np.diff(forest.value_offsets) == 1))


def data_bits(forest: Forest, data: Data, criterion: Criterion, models: tuple[NoiseModel, ...]) -> Numbers:
    """Return the bits of residuals and constants, (expressions, models)."""
    from edhie.selection.description_kernels import code_lengths, lengths

    own = _kernel_arguments(data, criterion, models)
    out = np.full((len(forest), len(models)), np.inf)
    roundings = data.column_roundings if criterion.has_resolution else np.empty((0, data.n_rows))
    planned, kinds = with_factors(forest, np.full(len(data.names), len(roundings) == 0))
    if not criterion.has_precision:
        kinds[kinds == 0] = -1
    program = plan(planned)
    parallel_for(lambda a, b: code_lengths(program, kinds, data.columns, roundings, *own, a, b, out), len(forest))
    for k in with_custom_operators(forest).tolist():
        response = Response(forest.take([k]), data.columns)
        predicted, slopes = response.jacobian(response.constants)
        is_free = np.isinf(literal_bits(response.constants)) & criterion.has_precision
        lengths(predicted, np.ascontiguousarray(slopes[is_free]), response.constants[is_free], *own, out[k])
    return np.asarray(np.where(np.isnan(out), np.inf, out) * BITS_PER_NAT)


def residual_bits(predicted: NDArray[np.floating], data: Data, criterion: Criterion | None = None) -> Numbers:
    """Return the bits of residuals for predictions, (expressions, rows), under the best noise model."""
    from edhie.selection.description_kernels import lengths

    criterion = criterion or Criterion(StructurePrior.uniform())
    models = criterion.models(data)
    own = _kernel_arguments(data, criterion, models)
    out = np.empty((len(predicted), len(models)))
    none = np.empty((0, data.n_rows))
    for row, found in zip(np.asarray(predicted, np.float64), out, strict=True):
        lengths(np.ascontiguousarray(row), none, np.empty(0), *own, found)
    return np.asarray(out.min(axis=1) * BITS_PER_NAT)


def skewed_bits(data: Data, criterion: Criterion) -> float:
    """Return the bits of a positive target as log-normal noise; infinite for any other target.

    An equation explains the target only if it is shorter than this, too. Otherwise one that by chance predicts small
    values where many are would seem to explain a skewed target.
    """
    from edhie.selection.description_kernels import gaussian_length

    if data.sigma is not None or not (data.y > 0).all():
        return math.inf
    _, weights, floors, *_ = _kernel_arguments(data, criterion, ())
    logs, slopes, widths = np.log(data.y), np.ones((1, data.n_rows)), np.array([criterion.spread])
    residuals = logs - np.average(logs, weights=weights)
    length = gaussian_length(residuals, slopes, widths, 1, weights, floors / np.square(data.y))
    return (length + float(weights @ logs)) * BITS_PER_NAT + PROPORTIONAL.bits


def _kernel_arguments(data: Data, criterion: Criterion, models: tuple[NoiseModel, ...]) -> Kernel:
    """Return target, weights, least variances and noise models as arguments of kernels."""
    weights = np.ones(data.n_rows) if data.weights is None else data.weights * (data.n_rows / data.total_weight)
    floors, smallest = least_variances(data, criterion), smallest_prediction(data.y)
    codes, ratios, costs = codes_of(models, data)
    return data.y, weights, floors, rounding_variances(data), smallest, codes, ratios, costs, FREEDOM, criterion.spread


def least_variances(data: Data, criterion: Criterion) -> Numbers:
    """Return the variance of each row below which residuals save nothing: rounding, standard errors, float64."""
    spread = ROUNDING_OF_ROW * float(np.std(data.y[data.counting_rows]))
    floors = np.square(np.maximum(SPACING * np.abs(data.y), np.minimum(ROUNDING * np.abs(data.y), spread)))
    if criterion.has_resolution:
        floors += np.square(data.rounding)
        if data.sigma is not None:
            floors = np.maximum(floors, np.square(data.sigma))
    return floors


def rounding_variances(data: Data) -> Numbers:
    """Return the variance of each row's residual that rounding errors of an equation without noise may cause.

    A target may extend over many decades, so rounding is relative to the value of the row. Where terms cancel, it is
    relative to these: a row's value counts as a share of the typical value at least, all of it if the target changes
    its sign.
    """
    counting = data.y[data.counting_rows]
    sizes = np.abs(data.y)
    typical = float(np.median(np.abs(counting[counting != 0]))) if counting.any() else 1.0
    changes_sign = counting.min() < 0 < counting.max()
    least = typical * (1.0 if changes_sign else CANCELLED)
    spread = ROUNDING * float(np.std(counting) or abs(counting[0]) or 1.0)
    deviations = np.minimum(spread, ROUNDING_OF_ROW * np.maximum(sizes, least))
    return np.square(np.maximum(deviations, SPACING * sizes))


def is_exact(forest: Forest, data: Data) -> Flags:
    """Return which expressions have the values of the target, up to rounding errors."""
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    with np.errstate(all="ignore"):
        squares = np.square(values(forest, data.columns) - data.y) / rounding_variances(data)
        return np.asarray(squares @ weights <= weights.sum())


def joined_rows(data: Data, other: Data | None) -> Data:
    """Return the rows of both: equations are selected on training and held-out rows together."""
    if other is None:
        return data
    return replace(
        data,
        columns=np.ascontiguousarray(np.concatenate([data.columns, other.columns], axis=1)),
        y=np.concatenate([data.y, other.y]),
        weights=_joined(data.weights, other.weights, data.n_rows, other.n_rows),
        sigma=None if data.sigma is None or other.sigma is None else np.concatenate([data.sigma, other.sigma]),
    )


def _joined(one: Numbers | None, other: Numbers | None, n: int, m: int) -> Numbers | None:
    if one is None and other is None:
        return None
    first = np.ones(n) if one is None else one / one.mean()
    return np.concatenate([first, np.ones(m) if other is None else other / other.mean()])
