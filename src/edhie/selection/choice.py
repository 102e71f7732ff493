"""Choice of the equation: the candidate with the shortest description, and alternatives with weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from edhie.arrays import Numbers
from edhie.evaluate.constants.fitting import FitConfig
from edhie.evaluate.data import Data, few_rows
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.expr.canonical import canonical_expr
from edhie.results.candidates import Candidate, Candidates
from edhie.selection.description import Criterion, data_bits, describe, joined_rows
from edhie.selection.noise import BOTH, CONSTANT, NoiseModel, relative_weights
from edhie.selection.refitting import quickly_plain, refitted, with_equal_constants, with_plain_numbers

FEW_ROWS = 10_000  # most rows on which candidates are compared
DESCRIBED, CLOSEST, FINALISTS = 3000, 1000, 40  # candidates with bounds of description lengths, lengths, and refits
SHORTENED, ROUNDED = 20, 8  # finalists that are written in short form, and given plain numbers
MOST_SYMBOLS = 300  # of the finalists that are written in short form, since that takes long for large ones
MOST_CONSTANTS = 8  # of a finalist of which two constants may be one
REWRITTEN = 40.0  # bits above the shortest description: longer ones are not rewritten
FIT_ROWS = 20_000  # most rows to which constants are refitted
HALVING = 2.0  # bits that make an equation half as likely; with 1, 73 % were right of those chosen with 80 to 95 %
JUDGED_BY = 6  # finalists by which the noise model is chosen
SAME, SAME_CURVE = 0.03, 0.001  # of the noise: equations, and known forms, that differ by less count as one
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

    def bits_of(forest: Forest) -> Numbers:
        if held_out is not None:  # a law is not less likely for being fitted to a part of the rows
            forest = refitted(forest, judged, model, config)
        return describe(forest, judged, criterion, (model,)).bits

    bits = bits_of(finalists)
    listed: list[Alternative] = []
    cutoff = float(np.min(bits, initial=np.inf)) + REWRITTEN
    written = 0
    for rank, k in enumerate(np.argsort(bits, kind="stable").tolist()):
        one = finalists.take([k])
        if not np.isfinite(bits[k]) or _is_plain_number(one):
            continue
        ways = [(one, 0.0)]
        is_close = bits[k] <= cutoff
        if rank < ROUNDED and is_close and one.sizes[0] > 1:  # a constant by itself stays the mean
            ways = [(with_plain_numbers(one, fitting, model, criterion, config)[0], 0.0)]
            if rewrite is not None:
                ways += quickly_plain(one, fitting, model, config)
                pairs = with_equal_constants(one, fitting, model) if len(one.values) <= MOST_CONSTANTS else []
                equal = (rewrite(each[0]) for each in pairs)
                fewer = [each for each in equal if len(each.constants) < len(one.values)]
                ways += [(refitted(Forest.from_exprs([each]), fitting, model, config), 0.0) for each in fewer]
        forms: list[Alternative] = []
        for way, extra in ways:
            expr, length = way[0], float(bits_of(way)[0])
            if rewrite is not None and rank < SHORTENED and is_close and written <= MOST_SYMBOLS:
                written += expr.size
                expr = rewrite(expr)
                length = min(length, float(bits_of(Forest.from_exprs([expr]))[0]))
            forms.append(Alternative(expr, length + extra, model, executed_at[k]))
        listed.append(min(forms, key=lambda each: each.bits))
    return _weighted(_distinct(listed, judged, model, criterion))


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
    order = np.argsort(describe(forest, few, criterion, below=-np.inf).bits, kind="stable")[:CLOSEST]
    bits = np.full(len(forest), np.inf)
    bits[order] = describe(forest.take(order), few, criterion).bits
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
        bits = describe(tried, judged, criterion, (model,)).bits
        # beside another model, that of gross errors has no length where too many rows are far off
        is_allowed = np.isfinite(data_bits(tried, judged, criterion, (model, CONSTANT))[:, 0])
        found = bits[is_allowed].min(initial=np.inf)
        if found < least:
            best, least, first = model, float(found), tried
    fitted = Forest.concatenate([first, refitted(finalists.take(rest), fitting, best, config)])
    is_sound = np.asarray(np.isfinite(values(fitted, judged.columns)).all(axis=1))
    kept = np.where(is_sound[finalists.value_owners], fitted.values, finalists.values)
    return best, finalists.with_values(kept)


def _distinct(listed: Sequence[Alternative], data: Data, model: NoiseModel, criterion: Criterion) -> list[Alternative]:
    """Return the shortest equation of each form, and of those whose predictions hardly differ; all with finite values.

    Different known forms are compared though their predictions are similar: people know them as different laws.
    """
    found: list[Alternative] = []
    rows: list[tuple[Numbers, Expr, bool]] = []
    for each in sorted(listed, key=lambda each: each.bits):
        one = Forest.from_exprs([each.expr])
        with np.errstate(all="ignore"):
            predicted = np.asarray(values(one, data.columns)[0], np.float64)
        if not np.isfinite([each.bits, *predicted]).all():
            continue
        weights = relative_weights(model, predicted, data)
        roots = np.ones(data.n_rows) if weights is None else np.sqrt(weights)
        noise = float(np.linalg.norm((data.y - predicted) * roots))
        form = canonical_expr(each.expr.numbers_to_constants().free())  # constants may be plain numbers
        is_known = criterion.forms is not None and bool(np.isfinite(criterion.forms.bits(one)[0]))
        if any(
            form == other
            or float(np.linalg.norm((predicted - row) * roots)) <= (SAME_CURVE if is_known and known else SAME) * noise
            for row, other, known in rows
        ):
            continue
        found.append(each)
        rows.append((predicted, form, is_known))
    return found


def _is_plain_number(one: Forest) -> bool:
    """Return whether an expression has no variables, but is not a single fitted constant."""
    expr, constant = one[0], one.library.constant
    return constant is not None and not expr.variables and expr.tokens != (constant,)


def _weighted(found: list[Alternative]) -> list[Alternative]:
    """Return the alternatives, the shortest description first, with weights.

    Bits count less than their probabilities would say: the right equation may not have been found, and noise is never
    quite what a model says. The experiment `calibration.py` compares weights with what is right.
    """
    if not found:
        return found
    shares = np.exp2([(found[0].bits - each.bits) / HALVING for each in found])
    return [replace(each, weight=float(share)) for each, share in zip(found, shares / shares.sum(), strict=True)]
