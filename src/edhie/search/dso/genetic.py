"""Genetic programming on the policy's samples, one generation at a time."""

from __future__ import annotations

import numpy as np

from edhie.expr import Forest
from edhie.search.arrays import Mask, Numbers, unfitted
from edhie.search.dso.priors import Priors
from edhie.search.evolution import tournaments
from edhie.search.pieces.splicing import Stock
from edhie.search.pieces.variation import Chances, children

MUTATIONS = Chances(replace=1, join=0.5, wrap=0.5, point=1, hoist=0, shrink=1, leaf=0)
"""A new subtree, an inserted operator, another symbol, or a removed operator, with equal frequencies.

Of the binary operators that are inserted, products are the most frequent (our choice).
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
    """Return as many offspring as there are individuals, of parents chosen by tournaments.

    Changes that violate a constraint are discarded.

    `crossover` and `mutation` are the shares of offspring to which they are applied. New subtrees come from `donors`,
    which are samples of the policy (our choice).
    """
    n = len(population)
    winners = tournaments(errors, -(-n // 2), tournament, rng).ravel()[:n]
    parents = population.take(winners)
    crossed = _where(np.repeat(rng.random(-(-n // 2)) < crossover, 2)[:n], crossed_over(parents, rng), parents, priors)
    mutants = unfitted(children(crossed, donors, rng, chances=MUTATIONS))
    return _where(rng.random(n) < mutation, mutants, crossed, priors)


def crossed_over(forest: Forest, rng: np.random.Generator) -> Forest:
    """Return the expressions after crossover: each pair of neighbours exchanges a random subtree."""
    n, stock = len(forest), Stock(forest)
    nodes = forest.offsets[:-1] + (rng.random(n) * forest.sizes).astype(np.int64)
    mates = np.minimum(np.arange(n) ^ 1, n - 1)  # with an odd number, the last stays as it is
    before, _, behind = stock.around(nodes)
    return stock.join([before, stock.subtrees(nodes[mates]), behind])


def _where(is_changed: Mask, changed: Forest, before: Forest, priors: Priors) -> Forest:
    """Return the changed expressions where `is_changed` and they satisfy the constraints, otherwise those before."""
    n = len(before)
    is_taken = is_changed & priors.are_kept(changed)
    return Forest.concatenate([before, changed]).take(np.arange(n) + n * is_taken)
