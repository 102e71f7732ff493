"""Genetic programming on the policy's samples: one generation of a population at a time."""

from __future__ import annotations

import numpy as np

from edhie.expr import Forest
from edhie.search.arrays import Mask, Numbers, unfitted
from edhie.search.dso.priors import Priors
from edhie.search.evolution import tournaments
from edhie.search.pieces.splicing import Stock
from edhie.search.pieces.variation import Chances, children

MUTATIONS = Chances(replace=1, join=0.5, wrap=0.5, point=1, hoist=0, shrink=1, leaf=0)
"""A new subtree, an operator put in, another symbol, or an operator taken out: all four as often.

Of the operators of two operands that are put in, products are the most frequent (our choice).
"""


def next_generation(
    population: Forest,
    errors: Numbers,
    donors: Forest,
    priors: Priors,
    rng: np.random.Generator,
    *,
    tournament: int,
    crossover: float,
    mutation: float,
) -> Forest:
    """Return as many offspring, of the winners of tournaments; a change that breaks a constraint is not made.

    `crossover` and `mutation` are the shares of offspring that are changed so. New subtrees are parts of `donors`,
    which are samples of the policy (our choice).
    """
    n = len(population)
    winners = tournaments(errors, -(-n // 2), tournament, rng).ravel()[:n]
    parents = population.take(winners)
    crossed = _where(np.repeat(rng.random(-(-n // 2)) < crossover, 2)[:n], crossed_over(parents, rng), parents, priors)
    mutants = unfitted(children(crossed, donors, rng, chances=MUTATIONS))
    return _where(rng.random(n) < mutation, mutants, crossed, priors)


def crossed_over(forest: Forest, rng: np.random.Generator) -> Forest:
    """Return each expression with a random subtree of its neighbour's: each pair exchanges one."""
    n, stock = len(forest), Stock(forest)
    nodes = forest.offsets[:-1] + (rng.random(n) * forest.sizes).astype(np.int64)
    mates = np.minimum(np.arange(n) ^ 1, n - 1)  # the last of an odd number stays as it is
    before, _, behind = stock.around(nodes)
    return stock.join([before, stock.subtrees(nodes[mates]), behind])


def _where(is_changed: Mask, changed: Forest, before: Forest, priors: Priors) -> Forest:
    """Return the changed expressions where they are wanted and allowed, and those before elsewhere."""
    n = len(before)
    is_taken = is_changed & priors.are_kept(changed)
    return Forest.concatenate([before, changed]).take(np.arange(n) + n * is_taken)
