"""`DSO`: a policy samples expressions, genetic programming improves them, and the policy learns from the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.numbers import check_whole, shown
from edhie.expr import Forest
from edhie.expr.splicing import Stock
from edhie.search.arrays import Kept, Mask, Numbers, unfitted
from edhie.search.base import Strategy, Task
from edhie.search.dso.policy import Adam, initial_weights, objective_and_gradient, sample
from edhie.search.dso.priors import Priors
from edhie.search.evolution import survivors, tournaments
from edhie.search.pieces.variation import Chances, children


@dataclass(frozen=True)
class DSOConfig:
    """Settings of deep symbolic optimisation.

    Defaults follow Mundhenk and others (2021) unless noted; they were not compared with the paper's table line by line.
    """

    batch: int = 500
    """Expressions sampled from the policy in an iteration, which are the first population."""
    generations: int = 25
    """Generations of genetic programming in an iteration. 0: the policy alone, as in Petersen and others (2021)."""
    risk: float = 0.05
    """Share of the batch that the policy learns from, ε (Petersen and others)."""
    returned: int = 50
    """Best individuals of an iteration's generations that the policy also learns from (our choice)."""
    learning_rate: float = 0.0025
    """Step size of Adam."""
    entropy: float = 0.03
    """Weight of the entropy bonus."""
    entropy_decay: float = 0.7
    """Factor of the entropy bonus from one token to the next."""
    units: int = 32
    """Units of the recurrent network."""
    min_length: int = 4
    """Minimum number of tokens of an expression."""
    max_length: int = 30
    """Maximum number of tokens of an expression."""
    length_location: float = 10.0
    """Length that the prior prefers."""
    length_scale: float = 5.0
    """Standard deviation of the prior on length."""
    tournament: int = 5
    """Individuals that compete to become a parent."""
    crossover: float = 0.5
    """Share of pairs of parents that exchange a subtree."""
    mutation: float = 0.5
    """Share of offspring that are mutated."""
    patience: int | None = 100
    """Batches and generations without a new expression after which the search ends (our choice). None: never."""

    def __post_init__(self) -> None:
        for name in ("batch", "units", "min_length", "tournament"):
            check_whole(name, getattr(self, name), 1)
        for name in ("generations", "returned"):
            check_whole(name, getattr(self, name), 0)
        check_whole("max_length", self.max_length, self.min_length)
        if self.patience is not None:
            check_whole("patience", self.patience, 1, or_none="no limit")
        for name in ("risk", "entropy_decay", "crossover", "mutation"):
            if not 0 <= getattr(self, name) <= 1:
                raise SearchError(f"{name} must be from 0 to 1; it is {shown(getattr(self, name))}")
        for name in ("learning_rate", "entropy", "length_location", "length_scale"):
            value, is_divisor = getattr(self, name), name == "length_scale"
            if not 0 <= value < math.inf or (is_divisor and value == 0):
                least = "above 0" if is_divisor else "0 or more"
                raise SearchError(f"{name} must be a finite number, {least}; it is {shown(value)}")


@dataclass(frozen=True, eq=False)
class Scored:
    """Expressions with unfitted constants, their errors, and keys of their canonical forms."""

    forest: Forest
    errors: Numbers
    forms: NDArray[np.uint64]

    def best(self, n: int, other: Scored) -> Scored:
        """Return the `n` best of both, at most one of each form."""
        forest = Forest.concatenate([self.forest, other.forest])
        errors, forms = np.append(self.errors, other.errors), np.append(self.forms, other.forms)
        chosen = survivors(errors, n, forms)
        return Scored(forest.take(chosen), errors[chosen], forms[chosen])


class DSO(Kept, Strategy):
    """Deep symbolic optimisation with the symbols of the evaluator's library; the generator is not used.

    In an iteration a batch sampled from the policy is the first population of genetic programming. The policy is then
    trained on the best of its batch and the best of all generations. One step is one batch or one generation.
    """

    name: ClassVar[str] = "dso"
    KEPT = ("_weights", "_adam", "_batch", "_population", "_best", "_generation", "_since_new")

    def __init__(self, config: DSOConfig | None = None) -> None:
        self.config: DSOConfig = config or DSOConfig()

    def begin(self, task: Task) -> None:
        """Start with an untrained policy."""
        config, library, data = self.config, task.evaluator.library, task.evaluator.data
        if not library.variables:
            raise SearchError("the strategy 'dso' needs a library with variables")
        self._task = task
        self._priors = Priors(
            library, config.min_length, config.max_length, config.length_location, config.length_scale
        )
        # errors are normalised by that of the target's mean
        scale = task.evaluator.loss.of_values(data.y, np.full(data.n_rows, data.y.mean()), data.weights)
        self._scale = scale if 0 < scale < math.inf else 1.0
        rng = np.random.default_rng(np.random.SeedSequence(task.seed, spawn_key=(task.island,)))
        self._weights = initial_weights(len(library), config.units, rng)
        self._adam = Adam.at_start(self._weights)
        self._nothing = Scored(Forest.from_exprs([], library), np.zeros(0), np.zeros(0, np.uint64))
        self._batch = self._population = self._best = self._nothing
        self._generation = self._since_new = 0

    def step(self, rng: np.random.Generator) -> bool:
        """Do one batch or one generation, and train the policy after the last generation."""
        config, before = self.config, self._task.evaluator.explored.n_seen
        if self._generation == 0:
            self._batch = self._population = self._scored(sample(self._weights, self._priors, config.batch, rng))
            self._best = self._nothing
        else:
            made = next_generation(self._population, self._batch.forest, self._priors, config, rng)
            self._population = self._scored(made)
            self._best = self._best.best(config.returned, self._population)
        self._generation += 1
        if self._generation > config.generations:
            self._train()
            self._generation = 0
        is_new = self._task.evaluator.explored.n_seen > before
        self._since_new = 0 if is_new else self._since_new + 1
        return config.patience is None or self._since_new < config.patience

    def _scored(self, forest: Forest) -> Scored:
        scores = self._task.score(forest)
        return Scored(forest, scores.errors, scores.forms)

    def _train(self) -> None:
        """Take one step of the risk-seeking policy gradient."""
        config = self.config
        rewards = self._rewards(self._batch.errors)
        baseline = float(np.quantile(rewards, 1 - config.risk))
        forest = Forest.concatenate([self._batch.forest, self._best.forest])
        advantages = np.append(rewards, self._rewards(self._best.errors)) - baseline
        elite = np.flatnonzero(advantages >= 0)
        tokens = self._priors.as_matrix(forest.take(elite))
        bonus = (config.entropy, config.entropy_decay)
        _, gradient = objective_and_gradient(self._weights, self._priors, tokens, advantages[elite], bonus)
        self._weights, self._adam = self._adam.ascend(self._weights, gradient, config.learning_rate)

    def _rewards(self, errors: Numbers) -> Numbers:
        """Return 1/(1 + NRMSE); 0 for expressions without a finite error."""
        return 1 / (1 + errors / self._scale)


# -- genetic programming, one generation at a time -------------------------------------

MUTATIONS = Chances(replace=1, join=0.5, wrap=0.5, point=1, hoist=0, shrink=1, leaf=0)
"""A new subtree, an inserted operator, another symbol, or a removed operator, with equal frequencies.

Of the binary operators that are inserted, products are the most frequent (our choice).
"""


def next_generation(
    population: Scored, donors: Forest, priors: Priors, config: DSOConfig, rng: np.random.Generator
) -> Forest:
    """Return as many offspring as there are individuals, of parents chosen by tournaments.

    Changes that violate a constraint are discarded. New subtrees come from `donors`, which are samples of the policy
    (our choice).
    """
    n = len(population.errors)
    winners = tournaments(population.errors, -(-n // 2), config.tournament, rng).ravel()[:n]
    parents = population.forest.take(winners)
    is_crossed = np.repeat(rng.random(-(-n // 2)) < config.crossover, 2)[:n]
    crossed = _where(is_crossed, crossed_over(parents, rng), parents, priors)
    mutants = unfitted(children(crossed, donors, rng, chances=MUTATIONS))
    return _where(rng.random(n) < config.mutation, mutants, crossed, priors)


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
