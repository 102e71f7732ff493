"""Variants of the best expressions: offspring, similar functions, plain numbers, and shorter forms.

Under noise a search may find cos(v/c) where sqrt(1 - v^2/c^2) is right, because their values on the rows are similar.
So where an expression applies a function to a piece, other functions with similar values are tried.
"""

from __future__ import annotations

import numpy as np

from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import Improving
from edhie.search.mosaic.fitting.scoring import Scorer
from edhie.search.mosaic.writing.peaks import Shape, from_template
from edhie.search.pieces.rewriting import shorter
from edhie.search.pieces.variation import children
from edhie.selection.noise import CONSTANT


def improve(scorer: Scorer, donors: Forest, likely: Numbers, rng: np.random.Generator) -> None:
    """Fit and score variants of the expressions with the shortest descriptions.

    `donors` are pieces for crossover, and `likely` has the probability of each symbol in mutations, by token.
    """
    evaluator = scorer.evaluator
    for _ in range(Improving.TIMES):
        best = scorer.shortest_descriptions()
        if len(best) == 0:
            return
        parents = best.take(np.repeat(np.arange(len(best)), Improving.CHILDREN))
        changed = children(parents, donors, rng, likely=likely)
        similar = (other for expr in best for other in with_similar_functions(expr, scorer.similar_data))
        shorter_ones = [shorter(best.take([k])) for k in range(len(best))]
        variants = Forest.concatenate([*shorter_ones, Forest.from_exprs(similar, scorer.library), changed])
        variants = variants.take(variants.sizes <= scorer.config.largest_expression)
        scorer.score_promising(scorer.shortened(variants).unique())
    evaluator.score(scorer.refitted(scorer.shortest_descriptions(), evaluator.data))
    model = CONSTANT if scorer.noise is None else scorer.noise[1]
    evaluator.score(scorer.leaders.plainer(model, scorer.fitting, Improving.PLAINER))


def tidy(scorer: Scorer) -> None:
    """Shorten the smallest exact expression while it stays exact; there has to be one."""
    explored = scorer.evaluator.explored
    for _ in range(Improving.TIDY_ROUNDS):
        exact = scorer.exact_ones()
        best = exact[np.argmin(explored.complexities[exact])]
        size = explored.complexities[best]
        found = explored.take(np.array([best]))
        variants = scorer.shortened(Forest.concatenate([found, shorter(found)]))
        variants = variants.take(scorer.allowed(variants))
        scorer.task.tally.refits += len(variants)
        scorer.evaluator.score(scorer.refitted(variants, scorer.fit_data))
        if explored.complexities[scorer.exact_ones()].min() >= size:
            return


# -- similar functions --------------------------------------------------------------------

FUNCTIONS = (
    Shape("sqrt({c} + {c}*{x})", lambda x, k: np.sqrt(1 + k * x), lambda a, k: (a * a, a * a * k)),
    Shape("{c}/sqrt({c} + {c}*{x})", lambda x, k: 1 / np.sqrt(1 + k * x), lambda a, k: (a, 1.0, k)),
    Shape("{c}/({c} + {x})", lambda x, k: 1 / (1 + k * x), lambda a, k: (a / k, 1 / k)),
    Shape("{c}/({c} + {x})^2", lambda x, k: 1 / (1 + k * x) ** 2, lambda a, k: (a / k**2, 1 / k)),
    Shape("{c}*({c} + {x})^2", lambda x, k: (1 + k * x) ** 2, lambda a, k: (a * k**2, 1 / k)),
    Shape("{c}*({c} + {x})", lambda x, k: 1 + k * x, lambda a, k: (a * k, 1 / k)),
    Shape("{c}*exp({c}*{x})", lambda x, k: np.exp(k * x)),
    Shape("{c}*{x}*exp({c}*{x})", lambda x, k: x * np.exp(k * x)),
    Shape("{c}*(exp({c}*{x}) - {c})", lambda x, k: np.exp(k * x) - 1, lambda a, k: (a, k, 1.0)),
    Shape("{c}/(exp({c}*{x}) - {c})", lambda x, k: 1 / (np.exp(k * x) - 1), lambda a, k: (a, k, 1.0)),
    Shape("{c}/(exp({c}*{x}) + {c})", lambda x, k: 1 / (np.exp(k * x) + 1), lambda a, k: (a, k, 1.0)),
    Shape("{c}*{x}/(exp({c}*{x}) - {c})", lambda x, k: x / (np.exp(k * x) - 1), lambda a, k: (a, k, 1.0)),
    Shape("{c}*log({c} + {c}*{x})", lambda x, k: np.log(1 + k * x), lambda a, k: (a, 1.0, k)),
    Shape("{c}*sin({c}*{x})", lambda x, k: np.sin(k * x)),
    Shape("{c}*cos({c}*{x})", lambda x, k: np.cos(k * x)),
    Shape("{c}*sin({c}*{x})^2", lambda x, k: np.sin(k * x) ** 2),
    Shape("{c}*tanh({c}*{x})", lambda x, k: np.tanh(k * x)),
    Shape("{c}*atan({c}*{x})", lambda x, k: np.arctan(k * x)),
    Shape("{c}*asin({c}*{x})", lambda x, k: np.arcsin(k * x)),
    Shape("{c}*acos({c}*{x})", lambda x, k: np.arccos(k * x)),
)
"""Functions a·g(k·x) of a piece x: `values` takes x and k of shape (scales, 1), `constants` takes a and k."""
POWER = Shape("{c}*{x}^{c}", lambda x, k: np.where(x > 0, x, np.nan) ** k)


def with_similar_functions(expr: Expr, data: Data) -> list[Expr]:
    """Return copies of an expression in which one function is replaced by one with similar values on the rows."""
    found: list[Expr] = []
    library = expr.library
    if library.constant is None or None in expr.constants:
        return found
    stand_in = library.variables[0]
    for position, own in function_positions(expr):
        squared = [Expr.trusted(library, ("^2", *own.tokens), own.constants)] if "^2" in library else []
        for piece in (own, *squared):
            now, x = values(Forest.from_exprs([expr.subtree(position), piece]), data.columns)
            if not (np.isfinite(now).all() and np.isfinite(x).all() and np.ptp(x) > 0):
                continue
            for function, constants in alike(np.asarray(x, np.float64), np.asarray(now, np.float64)):
                forms = from_template(function.template, stand_in, constants, library)
                found += [expr.replace(position, form.substitute({stand_in: piece})) for form in forms]
    return found


def function_positions(expr: Expr) -> list[tuple[int, Expr]]:
    """Return the positions of the largest subtrees that are a nonlinear function of one piece, and the pieces.

    Sums and products with numbers belong to the function. Powers of a single variable are left out, because other
    steps find them easily.
    """
    found: list[tuple[int, Expr]] = []
    covered = 0
    for position, token in enumerate(expr.tokens):
        if position < covered or not _is_curved(expr, position):
            continue
        at = position
        while (inner := _only_operand(expr, at)) is not None:
            at = inner
        piece = expr.subtree(at)
        is_power = token.startswith("^") or token == "/"
        if piece.variables and not (is_power and piece.size == 1):
            found.append((position, piece))
            covered = at
    return found


def _is_curved(expr: Expr, position: int) -> bool:
    """Return whether the operator at a position is a nonlinear function of its only operand with variables."""
    token = expr.tokens[position]
    operand = _only_operand(expr, position)
    if operand is None or token in ("+", "-", "*", "neg"):
        return False
    return token != "/" or operand != position + 1


def _only_operand(expr: Expr, position: int) -> int | None:
    """Return the position of the only operand with variables; None if there is none, or more than one."""
    operands = [at for at in expr.child_positions(position) if expr.subtree(at).variables]
    return operands[0] if len(operands) == 1 else None


def alike(x: Numbers, now: Numbers) -> list[tuple[Shape, tuple[float, ...]]]:
    """Return the functions of x with values nearest to `now`, and their constants; the nearest first."""
    spread = float(np.square(now - now.mean()).sum())
    scales = np.concatenate([Improving.SIMILAR_SCALES / np.abs(x).max(), Improving.PLAIN_SCALES])
    scales = np.concatenate([scales, -scales])[:, np.newaxis]
    tried = []
    for function in (*FUNCTIONS, POWER):
        k = Improving.SIMILAR_POWERS[:, np.newaxis] if function is POWER else scales
        with np.errstate(all="ignore"):
            rows = function.values(x, k)
            sizes = np.square(rows).sum(axis=1)
            factors = rows @ now / sizes
            left = np.square(now - factors[:, np.newaxis] * rows).sum(axis=1)
            left = np.where((sizes > 0) & (sizes < Improving.LARGEST_SIMILAR), left, np.inf)
            best = int(np.argmin(np.where(np.isfinite(left), left, np.inf)))
            if left[best] < Improving.ALIKE * spread:
                # computed with NumPy scalars: k² may underflow to 0, and dividing a Python float by 0 raises an error
                constants = tuple(map(float, function.constants(factors[best], k[best, 0])))
                tried.append((float(left[best]), function, constants))
    tried.sort(key=lambda each: each[0])
    best_few = [(function, constants) for _, function, constants in tried[: Improving.TRIED]]
    return [each for each in best_few if np.isfinite(each[1]).all()]
