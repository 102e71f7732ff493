"""Choice of the equation: the candidate with the shortest description, and alternatives with weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.cancellation import CANCELLING, cancellation
from edhie.evaluate.constants.fitting import FitConfig
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.data import Data, few_rows
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.results.candidates import Candidate, Candidates
from edhie.selection.between_rows import neighbours, unreliable_bits
from edhie.selection.description import Criterion, describe, joined_rows, skewed_bits
from edhie.selection.noise import BOTH, NoiseModel, relative_weights
from edhie.selection.refitting import quickly_plain, refitted, with_plain_numbers

Numbers = NDArray[np.float64]
FEW_ROWS = 10_000  # most rows on which candidates are compared
DESCRIBED, FINALISTS = 3000, 40  # candidates whose description length is computed, and that are refitted
SHORTENED, ROUNDED = 20, 8  # finalists that are written in short form, and given plain numbers
REWRITTEN = 40.0  # bits above the shortest description: longer ones are not rewritten
FIT_ROWS = 20_000  # most rows to which constants are refitted
JUDGED_BY = 6  # finalists by which the noise model is chosen
MOST_LOST = math.log2(1e6 / CANCELLING)  # binary digits that cancellation may lose; each costs a bit
CLEARLY = 40.0  # bits by which an equation with more cancellation has to be shorter than all others
SAME = 0.03  # of the noise: equations whose predictions differ by less count as one
LEAVE_ONE_OUT = 50  # with fewer rows, equations are also compared by leave-one-out errors
UNLIKELY, COMPARED = 3.3, 6.0  # bits above the best up to which a simpler equation, or any other, may replace it
LEFT_OUT_GAIN = 5.0  # bits on left-out rows that an equation has to save to replace the shortest description
FROM_HERE = FitConfig(points=0, starts=1, iterations=100, tolerance=1e-12, rows=None)


@dataclass(frozen=True, eq=False)
class Alternative:
    """A likely equation, with its constants at the optimum of its noise model."""

    expr: Expr
    bits: float
    """Description length."""
    model: NoiseModel
    executed_at: int
    """Number of distinct expressions executed when its candidate was scored."""
    weight: float = 0.0
    """Probability among the alternatives, which are different functions."""


def alternatives(
    candidates: Candidates,
    data: Data,
    criterion: Criterion,
    *,
    kept: Candidates | None = None,
    given: Candidates | None = None,
    held_out: Data | None = None,
    config: FitConfig = FROM_HERE,
    rewrite: Callable[[Expr], Expr] | None = None,
) -> list[Alternative]:
    """Return the candidates that describe the data best, the shortest description first, with their weights.

    `kept` are further candidates, considered whatever their length; those `given` by the user also take part in the
    choice of the noise model. `held_out` rows are used in the comparison only, not in fits. `config` bounds the
    constants. `rewrite` returns an equation in normal form; without it forms stay as they are.
    """
    config = replace(FROM_HERE, lower=config.lower, upper=config.upper)
    chosen = shortlist(candidates, data, criterion)
    parts = [each for each in (given, chosen, kept) if each is not None and len(each)]
    judges = JUDGED_BY + (0 if given is None else len(given))
    if not parts:
        return []
    finalists = Forest.concatenate([each.forest for each in parts])
    executed_at = [int(at) for each in parts for at in each.executed_at]
    fitting = few_rows(data, FIT_ROWS)
    judged = few_rows(joined_rows(data, held_out), FEW_ROWS)
    model, finalists = _noise_model(finalists, fitting, judged, criterion, config, judges)
    bits = describe(finalists, judged, criterion, (model,)).bits
    listed: list[Alternative] = []
    cutoff = float(np.min(bits, initial=np.inf)) + REWRITTEN
    for rank, k in enumerate(np.argsort(bits, kind="stable").tolist()):
        one = finalists.take([k])
        if not np.isfinite(bits[k]) or _is_plain_number(one):
            continue
        ways = [(one, 0.0)]
        is_close = bits[k] <= cutoff
        if rank < ROUNDED and is_close and one.sizes[0] > 1:  # a constant by itself stays the mean
            ways = [(with_plain_numbers(one, fitting, model, criterion, config)[0], 0.0)]
            ways += quickly_plain(one, fitting, model, config) if rewrite is not None else []
        forms: list[Alternative] = []
        for way, extra in ways:
            expr, length = way[0], float(describe(way, judged, criterion, (model,)).bits[0])
            if rewrite is not None and rank < SHORTENED and is_close:
                expr = rewrite(expr)
                written = Forest.from_exprs([expr])
                length = min(length, float(describe(written, judged, criterion, (model,)).bits[0]))
            forms.append(Alternative(expr, length + extra, model, executed_at[k]))
        listed.append(min(forms, key=lambda each: each.bits))
    skewed = skewed_bits(judged, criterion)
    # a constant may also be described as a skewed distribution that depends on no column
    found = [
        each if each.expr.variables else replace(each, bits=min(each.bits, skewed))
        for each in _distinct(listed, judged, model)
    ]
    return _weighted(sorted(found, key=lambda each: each.bits), data, model)


def shortest_description(
    candidates: Candidates, data: Data, criterion: Criterion | None = None, *, validation: Data | None = None
) -> Candidate | None:
    """Return the candidate with the shortest description, unchanged; None if none has a finite error."""
    found = shortlist(candidates, joined_rows(data, validation), criterion or Criterion())
    if len(found):
        return found[0]
    finite = np.flatnonzero(np.isfinite(candidates.errors))
    return candidates[int(finite[np.argmin(candidates.complexities[finite])])] if len(finite) else None


def shortlist(candidates: Candidates, data: Data, criterion: Criterion) -> Candidates:
    """Return the candidates with the shortest descriptions, one of each structure, and the best constant."""
    finite = np.flatnonzero(np.isfinite(candidates.errors))
    by_error = finite[np.argsort(candidates.errors[finite], kind="stable")[:DESCRIBED]]
    by_size = finite[np.lexsort((candidates.errors[finite], candidates.complexities[finite]))[: DESCRIBED // 3]]
    described = np.unique(np.concatenate([by_error, by_size]))
    forest = candidates.forest.take(described)
    few = few_rows(data, FEW_ROWS)
    bits = describe(forest, few, criterion).bits
    order = np.argsort(bits, kind="stable")
    order = order[np.isfinite(bits[order])]
    bits[order] += unreliable_bits(forest.take(order), few, neighbours(few))
    order = order[np.argsort(bits[order], kind="stable")]
    order = order[np.isfinite(bits[order])]
    structures = forest.with_values(np.full(len(forest.values), np.nan)).grouped()[1]
    _, first = np.unique(structures[order], return_index=True)
    return candidates.take(described[order[np.sort(first)[:FINALISTS]]])


def _noise_model(
    finalists: Forest, fitting: Data, judged: Data, criterion: Criterion, config: FitConfig, judges: int
) -> tuple[NoiseModel, Forest]:
    """Return the noise model under which one of the first finalists is shortest, and all finalists fitted under it."""
    models = criterion.models(judged)
    if criterion.noise == "auto" and judged.sigma is None:
        models = (*models, *BOTH)
    few, rest = np.split(np.arange(len(finalists)), [min(judges, len(finalists)) if len(models) > 1 else 0])
    best, least = models[0], np.inf
    first = refitted(finalists.take(few), fitting, best, config)
    for model in models if len(few) else ():
        tried = first if model is models[0] else refitted(finalists.take(few), fitting, model, config)
        found = describe(tried, judged, criterion, (model,)).bits.min(initial=np.inf)
        if found < least:
            best, least, first = model, float(found), tried
    fitted = Forest.concatenate([first, refitted(finalists.take(rest), fitting, best, config)])
    is_sound = np.asarray(np.isfinite(values(fitted, judged.columns)).all(axis=1))
    kept = np.where(is_sound[finalists.value_owners], fitted.values, finalists.values)
    return best, finalists.with_values(kept)


def _distinct(listed: Sequence[Alternative], data: Data, model: NoiseModel) -> list[Alternative]:
    """Return the shortest of equations whose predictions hardly differ, without those that the rows cannot resolve."""
    found: list[Alternative] = []
    rows: list[Numbers] = []
    for each in sorted(_penalised(listed, data), key=lambda each: each.bits):
        predicted = np.asarray(values(Forest.from_exprs([each.expr]), data.columns)[0], np.float64)
        weights = relative_weights(model, predicted, data)
        roots = np.ones(data.n_rows) if weights is None else np.sqrt(weights)
        noise = float(np.linalg.norm((data.y - predicted) * roots))
        if any(float(np.linalg.norm((predicted - row) * roots)) <= SAME * noise for row in rows):
            continue
        found.append(each)
        rows.append(predicted)
    return found


def _penalised(listed: Sequence[Alternative], data: Data) -> list[Alternative]:
    """Add bits for poles between rows and for cancellation; drop oscillations that the rows cannot resolve."""
    points = neighbours(data)
    found: list[Alternative] = []
    huge: list[Alternative] = []
    for each in listed:
        one = Forest.from_exprs([each.expr])
        with np.errstate(all="ignore"):
            is_finite = bool(np.isfinite(values(one, data.columns)).all())
        bits = each.bits + float(unreliable_bits(one, data, points)[0])
        if not (np.isfinite(bits) and is_finite):
            continue
        lost = math.log2(max(cancellation(each.expr, data) / CANCELLING, 1.0))
        (found if lost <= MOST_LOST else huge).append(replace(each, bits=bits + lost))
    # expressions with huge cancelling terms are kept only if they are clearly shorter than all others
    best = min((each.bits for each in found), default=np.inf)
    return [*found, *(each for each in huge if each.bits < best - CLEARLY)]


def _is_plain_number(one: Forest) -> bool:
    """Return whether an expression has no variables, but is not a single fitted constant."""
    expr, constant = one[0], one.library.constant
    return constant is not None and not expr.variables and expr.tokens != (constant,)


def _weighted(found: list[Alternative], data: Data, model: NoiseModel) -> list[Alternative]:
    """Return the alternatives with weights by description length; few rows are compared leave-one-out first."""
    if not found:
        return found
    if data.n_rows < LEAVE_ONE_OUT:
        found = _tested(found, data, model)
    # an alternative that left-out rows reject is at most as likely as the chosen one
    shares = np.exp2(np.minimum([found[0].bits - each.bits for each in found], 0.0))
    return [replace(each, weight=float(share)) for each, share in zip(found, shares / shares.sum(), strict=True)]


def _tested(found: list[Alternative], data: Data, model: NoiseModel) -> list[Alternative]:
    """Return the alternatives with the chosen one first, after a leave-one-out comparison.

    The shortest description is replaced by a simpler equation if that has significantly smaller errors, and by any
    that predicts much better. A constant by itself stays: an equation has to have a shorter description too.
    """
    likely = [each for each in found if each.bits <= found[0].bits + COMPARED]
    if not found[0].expr.variables:
        return found
    squares = [left_out_squares(each.expr, data, model) for each in likely]
    sizes = [each.expr.size for each in likely]
    chosen = 0
    for k in sorted(range(1, len(likely)), key=lambda k: -sizes[k]):
        is_likely = likely[k].bits <= found[0].bits + UNLIKELY
        if is_likely and sizes[k] < sizes[chosen] and loses(squares[chosen], squares[k]):
            chosen = k
    least = float(np.mean(np.square(data.rounding)))
    lengths = np.array([0.5 * data.n_rows * math.log2(max(float(each.mean()), least, 1e-300)) for each in squares])
    best = int(np.argmin([bits if each.expr.variables else np.inf for each, bits in zip(likely, lengths, strict=True)]))
    if likely[chosen].expr.variables and lengths[best] < lengths[chosen] - LEFT_OUT_GAIN:
        chosen = best
    return [likely[chosen], *found[:chosen], *found[chosen + 1 :]]


def loses(one: Numbers, other: Numbers) -> bool:
    """Return whether squared errors are larger than others by more than one standard error of the difference."""
    difference = one - other
    return bool(difference.mean() > difference.std(ddof=1) / np.sqrt(len(difference)))


def left_out_squares(expr: Expr, data: Data, model: NoiseModel) -> Numbers:
    """Return the squared leave-one-out residual of each row, weighted by the noise model, by its leverage."""
    response = Response(expr, data.columns)
    predicted, slopes = response.jacobian(response.constants)
    weights = relative_weights(model, predicted, data)
    roots = np.ones(data.n_rows) if weights is None else np.sqrt(weights)
    residuals = (data.y - predicted) * roots
    own = (slopes * roots)[np.isfinite(slopes).all(axis=1)]
    leverage = np.zeros(data.n_rows)
    if len(own):
        basis, sizes, _ = np.linalg.svd(own.T, full_matrices=False)
        basis = basis[:, sizes > 1e-10 * sizes.max(initial=0.0)]
        leverage = np.square(basis).sum(axis=1)
    return np.asarray(np.square(residuals / np.maximum(1.0 - leverage, 1e-6)))
