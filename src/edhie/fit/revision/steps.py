"""Steps of a revision: the Pareto front of distance and loss, among all expressions that a search executed."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from edhie.arrays import Indices, Numbers
from edhie.errors import SymbolError
from edhie.evaluate import Data, Evaluator, FitConfig, fit_constants, values
from edhie.expr import Expr, Forest
from edhie.expr.canonical import canonical
from edhie.expr.difference import Difference, Matching, difference, shape_of
from edhie.expr.difference.matching import lower_bound
from edhie.fit.equation import Equation
from edhie.fit.problem import Problem
from edhie.fit.revision.revision import Step
from edhie.results import Candidate, Candidates
from edhie.results.candidates import front_of
from edhie.search.revision.revisions import CLEARLY
from edhie.selection.description import Criterion, describe, joined_rows
from edhie.selection.noise import CONSTANT
from edhie.selection.refitting import refitted

ANEW = FitConfig(points=50, starts=5, iterations=60, tolerance=1e-14, rows=None)
FROM_HERE = FitConfig(points=0, starts=1, iterations=60, tolerance=1e-14, rows=None)
QUICKLY = FitConfig(points=0, starts=1, iterations=30, rows=None)
MOST_CONSTANTS = 12  # with more, fitting them under another noise model takes long
MOST_ALIKE = 40  # revisions of one distance that are compared
ALIKE = 1e-6  # relative difference of losses at one distance below which the form decides
OPPOSITE = {"+": "-", "-": "+"}
Revised = tuple[Candidate, Difference]


def revision_bits(
    exprs: Sequence[Expr],
    distances: Sequence[int],
    original: Expr,
    data: Data,
    validation: Data | None,
    criterion: Criterion | None = None,
) -> Numbers:
    """Return the description lengths of revisions, in bits; structure that the original has costs nothing.

    Each is described under its best noise model, with constants as they are or fitted under that model.
    """
    forest = Forest.from_exprs(exprs)
    criterion = criterion or Criterion()
    judged = joined_rows(data, validation)
    models = criterion.models(judged)
    bits = describe(forest, judged, criterion, models).bits
    if len(original.constants) <= MOST_CONSTANTS:
        for model in models:
            if model is not CONSTANT:  # under which the search has fitted them
                fitted = refitted(forest, data, model, QUICKLY)
                bits = np.fmin(bits, describe(fitted, judged, criterion, (model,)).bits)
    structure = criterion.prior.bits(forest)
    own = criterion.prior.bits(Forest.from_exprs([original]))[0]
    new = np.asarray(distances) * math.log2(max(len(forest.library), 2)) + np.maximum(structure - own, 0.0)
    return np.asarray(bits - structure + new, np.float64)


def alike_by_distance(
    original: Expr, error: float, candidates: Candidates, *, noise: float, matching: Matching
) -> dict[int, list[int]]:
    """Return, by distance, candidates whose loss is within a factor `noise` of the least up to that distance.

    Candidates are visited by ascending loss, so only smaller distances are of interest later.
    """
    shape, errors = shape_of(original), candidates.errors
    at_least = symbol_bounds(original, candidates.forest)
    order = np.argsort(errors, kind="stable")
    best: dict[int, list[int]] = {}
    furthest, limit = sys.maxsize, math.inf
    for k in order[errors[order] < error].tolist():
        if errors[k] > limit or len(best.get(furthest, ())) == MOST_ALIKE:
            furthest, limit = min(best) - 1, math.inf  # others at this distance are worse
        if furthest < 1:
            break
        if at_least[k] > furthest:
            continue
        other = shape_of(candidates.forest[k])
        if lower_bound(shape, other) > furthest:
            continue
        distance = matching.distance(shape, other)
        if 1 <= distance <= furthest and distance not in best:
            best[distance] = [k]
            furthest, limit = distance, errors[k] * noise
        elif distance == furthest:
            best[distance].append(k)
    return best


def symbol_bounds(original: Expr, forest: Forest) -> Indices:
    """Return a lower bound on the distance of each expression, by counts of its variables and functions."""
    library = forest.library
    counted = [
        k
        for k, symbol in enumerate(library.symbols)
        if symbol.kind == "variable" or (symbol.arity == 1 and symbol.style == "function" and symbol.name != "inv")
    ]
    own = Forest.from_exprs([original], library).tokens
    more, less = np.zeros((2, len(forest)), np.int64)
    for k in counted:
        surplus = np.bincount(forest.owners[forest.tokens == k], minlength=len(forest)) - int((own == k).sum())
        more, less = more + np.maximum(surplus, 0), less + np.maximum(-surplus, 0)
    return np.maximum(more, less)


def front_steps(
    first: Candidate, candidates: Candidates, evaluator: Evaluator, problem: Problem, criterion: Criterion | None = None
) -> tuple[Step, ...]:
    """Return the original, fitted, and the revisions that explain more than nearer ones or have shorter descriptions.

    Of revisions at one distance whose losses differ by no more than noise, the one with the shortest description is
    kept.
    """
    found = {first.expr: (first, difference(first.expr, first.expr))}
    for candidate, changes in _nearest(first, candidates, evaluator, problem.validation, criterion):
        again = _polished(replace(candidate, expr=changes.after), evaluator)
        again = replace(again, expr=subtracted(again.expr))
        found[again.expr] = (again, replace(changes, after=again.expr))
    listed = list(found.values())
    errors = [each.error for each, _ in listed]
    front = front_of(errors, [changes.distance for _, changes in listed], negligible=evaluator.negligible)
    shown = [listed[0], *(listed[k] for k in front.tolist() if listed[k][1].distance > 0)]
    bits = revision_bits([each.expr for each, _ in shown], [changes.distance for _, changes in shown],
                         first.expr, evaluator.data, problem.validation, criterion)  # fmt: skip
    errors = [each.error for each, _ in shown]
    return tuple(
        Step(Equation(problem.target, shown[k][0], evaluator.data, problem.validation), shown[k][1], float(bits[k]))
        for k in beyond_noise(errors, bits.tolist(), noise_factor(evaluator.data))
    )


def noise_factor(data: Data) -> float:
    """Return the ratio of two losses up to which noise may explain the difference."""
    return float(2 ** (CLEARLY / 2 / data.n_rows))


def beyond_noise(errors: Sequence[float], bits: Sequence[float], noise: float) -> list[int]:
    """Return the members of a front that noise does not explain: with a clearly lower loss, or a shorter description.

    >>> beyond_noise([4.0, 2.0, 1.99, 1.98], [9.0, 5.0, 6.0, 4.0], noise=1.1)
    [0, 1, 3]
    """
    kept = [0]
    for k in range(1, len(errors)):
        if errors[k] * noise < errors[kept[-1]] or bits[k] < min(bits[j] for j in kept):
            kept.append(k)
    return kept


def _nearest(
    first: Candidate, candidates: Candidates, evaluator: Evaluator, validation: Data | None, criterion: Criterion | None
) -> Iterator[Revised]:
    """Yield for each distance the revision with the shortest description among those of least loss."""
    matching, original = Matching(), first.expr
    noise = noise_factor(evaluator.data)
    groups = alike_by_distance(original, first.error, candidates, noise=noise, matching=matching)
    for distance, alike in groups.items():
        exprs = [candidates.forest[k] for k in alike]
        bits = revision_bits(exprs, [distance] * len(alike), original, evaluator.data, validation, criterion)
        best = alike[int(np.argmin(bits))]  # of equals the first, which has the least loss
        same = [k for k in alike if math.isclose(candidates.errors[k], candidates.errors[best], rel_tol=ALIKE)]
        revised = [
            (candidates[k], difference(original, expr, matching=matching))
            for k in same
            for expr in _writings(candidates[k], evaluator)
        ]
        yield min(revised, key=lambda pair: (pair[1].distance, pair[1].after.size, -_depth(pair[1])))


def _writings(candidate: Candidate, evaluator: Evaluator) -> list[Expr]:
    """Return the expression and its canonical forms that the library can write, with values and refitted."""
    expr, library = candidate.expr, candidate.expr.library
    found = [expr]
    for form in (expr, expr.free()):
        try:
            other = canonical(Forest.from_exprs([form]))[0].cast(library.with_numbers())
            other = other.numbers_to_constants().cast(library)
        except SymbolError:
            continue
        if None in other.constants:  # merged constants have to be fitted again
            fitted = fit_constants(Forest.from_exprs([other]), evaluator.data, config=ANEW).forest[0]
            if None in fitted.constants or not loss_of(fitted, evaluator) <= candidate.error * (1 + ALIKE):
                continue
            other = fitted
        found.append(other)
    return found


def subtracted(expr: Expr) -> Expr:
    """Return the expression with a - 2*b in place of a + -2*b.

    >>> from edhie.expr import parse
    >>> str(subtracted(parse("x + c*y").with_constants([-2.0])))
    'x - 2*y'
    """
    tokens, constants = list(expr.tokens), list(expr.constants)
    if not {"+", "-"} <= set(expr.library.names):
        return expr
    for position, token in enumerate(expr.tokens):
        if token not in OPPOSITE:
            continue
        at = expr.child_positions(position)[1]
        while expr.tokens[at] in ("*", "/"):
            at += 1  # its first operand
        slot = expr.tokens[:at].count(str(expr.library.constant))
        value = constants[slot] if expr.tokens[at] == expr.library.constant else None
        if value is not None and value < 0:
            tokens[position], constants[slot] = OPPOSITE[tokens[position]], -value
    return Expr(expr.library, tokens, constants)


def _depth(changes: Difference) -> int:
    """Return the depth of the first change: of two equal revisions, the one that changes deeper parts is nearer."""
    changed = changes.inserted | {other for _, other in changes.replaced}
    depths = [depth for position, depth, _ in changes.after.walk() if position in changed]
    return min(depths, default=0)


def _polished(candidate: Candidate, evaluator: Evaluator) -> Candidate:
    """Return the candidate with its constants fitted to full precision, if that is better."""
    if not candidate.expr.constants:
        return candidate
    forest = Forest.from_exprs([candidate.expr])
    tried = [candidate.expr, fit_constants(forest, evaluator.data, config=FROM_HERE).forest[0]]
    error, expr = min(((loss_of(each, evaluator), each) for each in tried), key=lambda pair: pair[0])
    weight = float(evaluator.complexities(forest)[0])
    return Candidate(expr, error, weight, candidate.executed_at)


def loss_of(expr: Expr, evaluator: Evaluator) -> float:
    """Return the loss of one expression; infinite if it has no value in some row."""
    data = evaluator.data
    with np.errstate(all="ignore"):
        predicted = values(Forest.from_exprs([expr]), data.columns)[0]
        found = float(evaluator.loss.of_values(data.y, predicted, data.weights))
    return found if math.isfinite(found) else math.inf
