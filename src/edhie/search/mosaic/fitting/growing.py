"""Growing: insert terms into an expression where a score test says that they reduce the residuals most.

A term c·t added to a subtree u of an expression f changes f by c·t·∂f/∂u, to first order. The gain of an insertion is
therefore a squared partial correlation of t·∂f/∂u with the residuals, given the slopes of the constants of f, and all
terms at all positions are screened at once. The best are fitted as whole expressions. Random mutations seldom find the
one missing term at the one right position, and a search without it adds other terms that compensate.

>>> from edhie.expr import parse
>>> x0, x1 = np.random.default_rng(0).uniform(-2, 2, (2, 100))
>>> data = Data(np.stack([x0, x1]), np.sin(x0 + 0.4 * x0 * x1), None, ("x0", "x1"))
>>> str(grown(parse("c*sin(c*x0)", variables=["x0", "x1"]).with_constants([0.9, 1.0]), data)[0].free())
'c*sin((c + c*x1)*x0)'
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, combinations_with_replacement

import numpy as np

from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.results.candidates import front_of
from edhie.search.arrays import Indices, Mask, Numbers, root_weights
from edhie.search.mosaic.config import Growing
from edhie.search.mosaic.fitting.scoring import Scorer
from edhie.search.pieces.spelling import Speller

SUMS = ("+", "-", "neg")  # a term added to an operand is the same as one added to the result


def grow_front(scorer: Scorer, rng: np.random.Generator) -> None:
    """Grow some expressions of the Pareto front of error and size, drawn at random; fit and score the results.

    The best expression need not grow from the best one now: terms that compensate for a missing one lead away from it.
    """
    explored, data = scorer.evaluator.explored, scorer.weighted(scorer.few_data)
    front = rng.permutation(front_of(explored.errors, explored.complexities))[: Growing.PARENTS]
    parents = explored.take(np.sort(front))
    longer = [other for expr in parents for other in grown(expr, data)]
    longer = [other for other in longer if other.size <= scorer.config.largest_expression]
    variants = scorer.evaluator.unseen(scorer.shortened(Forest.from_exprs(longer, scorer.library)).unique())
    variants = variants[: scorer.task.within_budget(len(variants))]
    scorer.task.tally.refits += len(variants)
    fitted = scorer.within_bounds(scorer.refitted(variants, scorer.few_data))
    is_sound = keep_domain(fitted, parents, points_beyond(data.columns))
    scorer.evaluator.spend(int((~is_sound).sum()))  # the sound ones are counted when they are scored
    scorer.errors(fitted.take(is_sound))


def keep_domain(forest: Forest, parents: Forest, points: Numbers) -> Mask:
    """Return, by expression, whether its values are finite at all points where those of all parents are.

    `points` are (variables, points). Otherwise a term inside a root or logarithm could be fitted such that the domain
    ends at the outermost row.
    """
    is_asked = np.isfinite(values(parents, points)).all(axis=0)
    return np.asarray((np.isfinite(values(forest, points)) | ~is_asked).all(axis=1))


def points_beyond(columns: Numbers) -> Numbers:
    """Return (variables, points) slightly outside the range of the rows: two points for each variable.

    A variable of one sign keeps it: a step that would change the sign is replaced by half of the value.
    """
    points = []
    for k, column in enumerate(columns):
        step = Growing.BEYOND * column.std()
        for row, shift in ((column.argmin(), -step), (column.argmax(), step)):
            point = columns[:, row].copy()
            moved = point[k] + shift
            point[k] = moved if moved * point[k] > 0 or not np.all(column * point[k] > 0) else 0.5 * point[k]
            points.append(point)
    return np.ascontiguousarray(np.array(points).T)


@np.errstate(all="ignore")
def grown(expr: Expr, data: Data) -> list[Expr]:
    """Return copies of an expression with one more term each, for the insertions with the largest gains.

    The list is empty if the library lacks `+`, `*` or constants, or a constant has no value. It is also empty if the
    residuals are close to 0: the expression is exact, or an approximation that more terms would only refine.
    """
    library = expr.library
    if library.constant is None or "+" not in library or "*" not in library or None in expr.constants:
        return []
    speller, at = Speller(library), insertion_positions(expr)
    terms = small_terms(expr, speller)
    probe, is_added = with_zeros(expr, at)
    response = Response(probe, data.columns)
    fitted, slopes = response.jacobian(response.constants)
    root = root_weights(data)
    residuals = (data.y - fitted) * root
    if np.square(residuals).sum() <= Growing.NEAR * data.squares_to_explain:
        return []
    test = ScoreTest(residuals, slopes[~is_added] * root)
    term_values = values(Forest.from_exprs(terms), data.columns) * root
    screened = [test.explained(slope * term_values) for slope in slopes[is_added]]
    bits = -0.5 * data.n_rows * np.log2(1 - np.minimum([shares for shares, _ in screened], 1 - Growing.SURE))
    chosen = best_insertions(bits, np.array([len(term.variables) and term.size for term in terms]))
    return [_with_term(expr, at[p], screened[p][1][t], terms[t], speller) for p, t in chosen]


def best_insertions(bits: Numbers, sizes: Indices) -> list[tuple[int, int]]:
    """Return (position, term) pairs with the largest gains; of equal gains only those with the smallest terms.

    `bits` are gains, of shape (positions, terms), and `sizes` those of the terms. Insertions with equal gains may be
    the same function, as x·(c + c·y) and c·x + c·x·y, or agree only to first order, as (x + c)^2 and x^2 + c·x.
    """
    rounded = np.round(bits, Growing.DIGITS)
    found: dict[float, list[tuple[int, int]]] = {}
    for k in np.lexsort((np.broadcast_to(sizes, bits.shape).ravel(), -rounded.ravel())).tolist():
        place, term = divmod(k, len(sizes))
        value = float(rounded[place, term])
        if not value > Growing.LEAST_BITS or (value not in found and len(found) == Growing.WRITTEN):
            break
        found.setdefault(value, []).append((place, term))
    return [each for equal in found.values() for each in equal[: Growing.EQUAL]]


def insertion_positions(expr: Expr) -> list[int]:
    """Return the positions of subtrees to which a term may be added, one for each different effect.

    Positions inside exponents are left out.
    """
    left_out: set[int] = set()
    n_before = [0, *accumulate(token in expr.library.variables for token in expr.tokens)]  # variables up to a position
    for position, token in enumerate(expr.tokens):
        operands = expr.child_positions(position)
        varies = [n_before[expr.ends[each]] > n_before[each] for each in operands]
        if token in SUMS:
            left_out.update(operands)
        elif token == "^":
            left_out.update(range(operands[1], expr.ends[operands[1]]))
        elif token in ("*", "/") and varies == [True, False]:
            left_out.add(operands[0])
        elif token == "*" and varies == [False, True]:
            left_out.add(operands[1])
    return [position for position in range(expr.size) if position not in left_out]


def small_terms(expr: Expr, speller: Speller) -> list[Expr]:
    """Return 1, all variables, and all products of two variables that occur in the expression, squares included."""
    own = [speller.leaf(name) for name in expr.variables]
    pairs = [speller.over("*", *pair) for pair in combinations_with_replacement(own, 2)]
    return [speller.number(1.0), *map(speller.leaf, speller.library.variables), *pairs]


def with_zeros(expr: Expr, at: Sequence[int]) -> tuple[Expr, Mask]:
    """Return an expression with a constant 0 added at these positions, and a mask of the added constants."""
    tokens, constants, is_added = list[str](), list[float | None](), list[bool]()
    name, fitted = expr.library.constant or "", iter(expr.constants)
    for position, token in enumerate(expr.tokens):
        if position in at:
            tokens += ["+", name]
            constants.append(0.0)
            is_added.append(True)
        tokens.append(token)
        if token == name:
            constants.append(next(fitted))
            is_added.append(False)
    return Expr.trusted(expr.library, tuple(tokens), tuple(constants)), np.array(is_added, np.bool_)


class ScoreTest:
    """A score test: the share of the residual sum of squares that effects explain, given the slopes of constants."""

    def __init__(self, residuals: Numbers, slopes: Numbers) -> None:
        """`slopes` are the derivatives by the constants, of shape (constants, rows)."""
        sizes = np.linalg.norm(slopes, axis=1, keepdims=True)
        _, spread, rows = np.linalg.svd(
            np.where(np.isfinite(sizes) & (sizes > 0), slopes / sizes, 0.0), full_matrices=False
        )
        self._base: Numbers = rows[spread > Growing.NEW * spread.max(initial=0.0)]
        self._residuals = residuals - (residuals @ self._base.T) @ self._base

    def explained(self, effects: Numbers) -> tuple[Numbers, Numbers]:
        """Return the share that each effect explains, and its coefficient; effects are (effects, rows).

        Both are 0 for an effect that is not finite, or a linear combination of the slopes.
        """
        own = effects - (effects @ self._base.T) @ self._base
        before, sizes = np.square(effects).sum(axis=1), np.square(own).sum(axis=1)
        is_new = np.isfinite(before) & (sizes > Growing.NEW * before)
        factors = np.where(is_new, own @ self._residuals / np.where(is_new, sizes, 1.0), 0.0)
        return np.where(is_new, factors**2 * sizes / np.square(self._residuals).sum(), 0.0), factors


def _with_term(expr: Expr, position: int, factor: float, term: Expr, speller: Speller) -> Expr:
    """Return an expression with a multiple of a term added to the subtree at a position."""
    added = speller.number(factor)
    if term.variables:
        added = speller.over("*", added, term)
    return expr.replace(position, speller.over("+", expr.subtree(position), added))
