"""Terms put into the middle of an expression, where they explain most of what it leaves.

A term c·t added to a part u of an expression f changes f by c·t·∂f/∂u, to first order. So all terms in all places are
screened at once, as in a score test: by the correlation of t·∂f/∂u with the residuals, without what the constants of f
explain themselves. The best are fitted as whole expressions. Changes at random seldom hit the one term in the one place
that is missing, and without it other terms are added to make up for it.

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
from edhie.results.front import front_of
from edhie.search.arrays import Indices, Mask, Numbers
from edhie.search.mosaic.config import Growing
from edhie.search.mosaic.fitting.scoring import Scorer
from edhie.search.pieces.spelling import Speller

SUMS = ("+", "-", "neg")  # a term added to an operand is one added to the whole


def grow_front(scorer: Scorer, rng: np.random.Generator) -> None:
    """Grow some of the expressions that none is better than in both error and size, short ones among them.

    The best in the end need not come from the best now: terms that make up for a missing one lead away from it.
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
    is_sound = keep_domain(fitted, parents, beyond(data.columns))
    scorer.evaluator.spend(int((~is_sound).sum()))  # the others count when they are scored
    scorer.errors(fitted.take(is_sound))


def keep_domain(forest: Forest, parents: Forest, points: Numbers) -> Mask:
    """Return which expressions have finite values at the points where all parents have them.

    A term inside of a root or logarithm may else reach the end of its domain at the outermost row.
    """
    is_asked = np.isfinite(values(parents, points)).all(axis=0)
    return np.asarray((np.isfinite(values(forest, points)) | ~is_asked).all(axis=1))


def beyond(columns: Numbers) -> Numbers:
    """Return points a little beyond the rows, (variables, points): two for each variable; signs stay as they are."""
    points = []
    for k, column in enumerate(columns):
        step = Growing.BEYOND * column.std()
        for row, way in ((column.argmin(), -step), (column.argmax(), step)):
            point = columns[:, row].copy()
            moved = point[k] + way
            point[k] = moved if moved * point[k] > 0 or not np.all(column * point[k] > 0) else 0.5 * point[k]
            points.append(point)
    return np.ascontiguousarray(np.array(points).T)


@np.errstate(all="ignore")
def grown(expr: Expr, data: Data) -> list[Expr]:
    """Return an expression with one more term, for the places and terms that explain most of what it leaves.

    One that leaves next to nothing is a law, or approximates one: with more terms it would do so ever better.
    """
    library = expr.library
    if library.constant is None or "+" not in library or "*" not in library or None in expr.constants:
        return []
    speller, at = Speller(library), places(expr)
    terms = small_terms(expr, speller)
    probe, is_added = with_zeros(expr, at)
    response = Response(probe, data.columns)
    fitted, slopes = response.jacobian(response.constants)
    root = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)
    left = (data.y - fitted) * root
    if np.square(left).sum() <= Growing.NEAR * data.squares_to_explain:
        return []
    test = ScoreTest(left, slopes[~is_added] * root)
    heights = values(Forest.from_exprs(terms), data.columns) * root
    screened = [test.explained(slope * heights) for slope in slopes[is_added]]
    bits = -0.5 * data.n_rows * np.log2(1 - np.minimum([shares for shares, _ in screened], 1 - Growing.SURE))
    chosen = best_different(bits, np.array([len(term.variables) and term.size for term in terms]))
    return [_with_term(expr, at[p], screened[p][1][t], terms[t], speller) for p, t in chosen]


def best_different(bits: Numbers, sizes: Indices) -> list[tuple[int, int]]:
    """Return the places and terms with the most bits, given by place and term; of equal bits only the shortest few.

    To first order x·(c + c·y) is c·x + c·x·y, which is the same, and (x + c)^2 is x^2 + c·x, which is not.
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


def places(expr: Expr) -> list[int]:
    """Return the positions of the parts to which a term may be added, without those where it has the same effect.

    Exponents stay as they are.
    """
    left_out: set[int] = set()
    n_before = [0, *accumulate(token in expr.library.variables for token in expr.tokens)]  # variables before a position
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
    """Return 1, all variables, and the products of two of the variables that an expression has."""
    own = [speller.leaf(name) for name in expr.variables]
    pairs = [speller.over("*", *pair) for pair in combinations_with_replacement(own, 2)]
    return [speller.number(1.0), *map(speller.leaf, speller.library.variables), *pairs]


def with_zeros(expr: Expr, at: Sequence[int]) -> tuple[Expr, Mask]:
    """Return an expression with a constant of 0 added in these places, and which of its constants these are."""
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
    """A score test: the share of residuals that effects explain, beside the slopes of constants."""

    def __init__(self, left: Numbers, slopes: Numbers) -> None:
        """`left` are the residuals, and `slopes` those of the constants, of shape (constants, rows)."""
        sizes = np.linalg.norm(slopes, axis=1, keepdims=True)
        _, spread, rows = np.linalg.svd(
            np.where(np.isfinite(sizes) & (sizes > 0), slopes / sizes, 0.0), full_matrices=False
        )
        self._base: Numbers = rows[spread > Growing.NEW * spread.max(initial=0.0)]
        self._left = left - (left @ self._base.T) @ self._base

    def explained(self, effects: Numbers) -> tuple[Numbers, Numbers]:
        """Return the share of the squares that each effect, of shape (effects, rows), explains, and its factor.

        Both are 0 for an effect that is not finite, or that the slopes explain.
        """
        own = effects - (effects @ self._base.T) @ self._base
        before, sizes = np.square(effects).sum(axis=1), np.square(own).sum(axis=1)
        is_new = np.isfinite(before) & (sizes > Growing.NEW * before)
        factors = np.where(is_new, own @ self._left / np.where(is_new, sizes, 1.0), 0.0)
        return np.where(is_new, factors**2 * sizes / np.square(self._left).sum(), 0.0), factors


def _with_term(expr: Expr, position: int, factor: float, term: Expr, speller: Speller) -> Expr:
    """Return an expression with a multiple of a term added in one place."""
    added = speller.number(factor)
    if term.variables:
        added = speller.over("*", added, term)
    return expr.replace(position, speller.over("+", expr.subtree(position), added))
