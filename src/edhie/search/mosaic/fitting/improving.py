"""Whole expressions improved: leaders changed as trees, with similar functions, plain numbers, or parts left out."""

from __future__ import annotations

import numpy as np

from edhie.expr import Forest
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import Improving
from edhie.search.mosaic.fitting.scoring import Scorer
from edhie.search.mosaic.fitting.similar_functions import with_similar_functions
from edhie.search.pieces.rewriting import shorter
from edhie.search.pieces.variation import children
from edhie.selection.noise import CONSTANT


def improve(scorer: Scorer, donors: Forest, likely: Numbers, rng: np.random.Generator) -> None:
    """Change the expressions with the shortest descriptions: shorter ones, other trees, other functions, fitted."""
    evaluator = scorer.evaluator
    for _ in range(Improving.TIMES):
        best, bits = scorer.shortest_descriptions()
        if len(best) == 0:
            return
        parents = best.take(np.repeat(np.arange(len(best)), Improving.CHILDREN))
        changed = children(parents, donors, rng, likely=likely)
        similar = (other for expr in best for other in with_similar_functions(expr, scorer.similar_data))
        shorter_ones = [shorter(best.take([k])) for k in range(len(best))]
        variants = Forest.concatenate([*shorter_ones, Forest.from_exprs(similar, scorer.library), changed])
        variants = variants.take(np.flatnonzero(variants.sizes <= scorer.config.longest))
        scorer.score_promising(scorer.shortened(variants).unique(), float(bits[-1]))
    best, _ = scorer.shortest_descriptions()
    evaluator.score(scorer.refitted(best, evaluator.data))
    model = CONSTANT if scorer.noise is None else scorer.noise[1]
    evaluator.score(scorer.leaders.plainer(model, scorer.fitting, Improving.PLAINER))


def try_fitted(scorer: Scorer, forest: Forest) -> None:
    """Fit expressions, and score those with descriptions as short as the best few so far."""
    best, bits = scorer.shortest_descriptions()
    if len(best):
        scorer.score_promising(forest, float(bits[-1]))


def tidy(scorer: Scorer) -> None:
    """Make an exact expression shorter, as long as it stays exact."""
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
