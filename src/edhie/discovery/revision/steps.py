"""The front of distance against loss, out of all that a search has executed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edhie.discovery.equation import Equation
from edhie.discovery.revision.revision import Step
from edhie.errors import SymbolError
from edhie.evaluate import Data, Evaluator, FitConfig, fit_constants, values
from edhie.evaluate.complexity import complexity
from edhie.expr import Expr, Forest
from edhie.expr.canonical import canonical
from edhie.expr.difference import Difference, Matching, difference, shape_of
from edhie.expr.difference.matching import lower_bound
from edhie.results import Candidate, Candidates
from edhie.results.description import COSTLY, description_bits
from edhie.results.front import front_of

FROM_HERE = FitConfig(points=0, starts=1, iterations=60, tolerance=1e-14, rows=None)
ALIKE = 1e-6  # the share by which losses of the same distance differ where the writing decides
OPPOSITE = {"+": "-", "-": "+"}
MOST_ALIKE = 20  # writings of one distance that are looked at


def front_steps(
    first: Candidate, candidates: Candidates, evaluator: Evaluator, *, target: str, validation: Data | None
) -> tuple[Step, ...]:
    """The original, fitted, and all revisions that explain more than those that change less."""
    nearest = _nearest(first.expr, first.error, candidates)
    found = {first.expr: (first, difference(first.expr, first.expr))}
    for k, changes in nearest:
        again = _polished(replace(candidates[k], expr=changes.after), evaluator)
        again = replace(again, expr=subtracted(again.expr))
        found[again.expr] = (again, replace(changes, after=again.expr))
    listed = list(found.values())
    errors = [each.error for each, _ in listed]
    front = front_of(errors, [changes.distance for _, changes in listed], negligible=evaluator.negligible)
    chosen = [listed[0], *(listed[k] for k in front.tolist() if listed[k][1].distance > 0)]
    bits = revision_bits([each.expr for each, _ in chosen], [changes.distance for _, changes in chosen],
                         evaluator.data, validation)  # fmt: skip
    return tuple(
        Step(Equation(target, each, evaluator.data, validation), changes, float(told))
        for (each, changes), told in zip(chosen, bits, strict=True)
    )


def _nearest(original: Expr, error: float, candidates: Candidates) -> Iterator[tuple[int, Difference]]:
    """Of each distance the one of least loss, where nothing nearer has as little."""
    matching = Matching()
    for alike in _alike(original, error, candidates, matching).values():
        told = [
            (k, difference(original, expr, matching=matching))
            for k in alike
            for expr in _writings(candidates.forest[k])
        ]
        yield min(told, key=lambda pair: (pair[1].distance, pair[1].after.size, -_depth(pair[1]), pair[0]))


def _alike(original: Expr, error: float, candidates: Candidates, matching: Matching) -> dict[int, list[int]]:
    """By distance those of the least loss, which differ in writing at most: losses rise, so distances have to fall."""
    shape, errors = shape_of(original), candidates.errors
    at_least = symbol_bounds(original, candidates.forest)
    order = np.argsort(errors, kind="stable")
    best: dict[int, list[int]] = {}
    furthest, limit = math.inf, math.inf
    for k in order[errors[order] < error].tolist():
        if errors[k] > limit:  # as far away as the last one is too far now
            furthest, limit = min(best) - 1, math.inf
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
            furthest, limit = distance, errors[k] * (1 + ALIKE)
        elif distance == furthest and len(best[distance]) < MOST_ALIKE:
            best[distance].append(k)
    return best


def symbol_bounds(original: Expr, forest: Forest) -> NDArray[np.int64]:
    """By expression the fewest changes that its variables and functions need: counted, so for all of them at once."""
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


def _writings(expr: Expr) -> list[Expr]:
    """The expression, and its canonical form where its library can write that."""
    forest = canonical(Forest.from_exprs([expr]))
    try:
        other = forest[0].cast(expr.library.with_numbers()).numbers_to_constants().cast(expr.library)
    except SymbolError:
        return [expr]
    return [expr, other]


def subtracted(expr: Expr) -> Expr:
    """The expression with a - 2*b in place of a + -2*b, which has the same shape and the same values.

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
    """How deep in the new expression the first change is: of two that say the same, the one that changes less of it."""
    changed = changes.inserted | {other for _, other in changes.replaced}
    depths = [depth for position, depth, _ in changes.after.walk() if position in changed]
    return min(depths, default=0)


def _polished(candidate: Candidate, evaluator: Evaluator) -> Candidate:
    """The candidate with its constants fitted to the last digit, where that is better."""
    if not candidate.expr.constants:
        return candidate
    forest = Forest.from_exprs([candidate.expr])
    tried = [candidate.expr, fit_constants(forest, evaluator.data, config=FROM_HERE).forest[0]]
    error, expr = min(((loss_of(each, evaluator), each) for each in tried), key=lambda pair: pair[0])
    weight = float(evaluator.complexities(forest)[0])
    return Candidate(expr, error, weight, candidate.executed_at)


def loss_of(expr: Expr, evaluator: Evaluator) -> float:
    """The loss of one expression, infinite where it has no value in some row."""
    data = evaluator.data
    with np.errstate(all="ignore"):
        predicted = values(Forest.from_exprs([expr]), data.columns)[0]
        found = float(evaluator.loss.of_values(data.y, predicted, data.weights))
    return found if math.isfinite(found) else math.inf


def revision_bits(
    exprs: Sequence[Expr], distances: Sequence[int], data: Data, validation: Data | None
) -> NDArray[np.float64]:
    """As `description_bits`, but of an expression only what is new is told; the first is the original."""
    forest = Forest.from_exprs(exprs)
    symbols = complexity(forest, COSTLY)
    costly = symbols - forest.sizes
    new = np.asarray(distances) + np.maximum(costly - costly[0], 0)
    told = description_bits(forest, data, validation=validation)
    return np.asarray(told + (new - symbols) * math.log2(max(len(forest.library), 2)), np.float64)
