"""Evolution in a latent space, and the paper's operators on codes: EDHiE with an HVAE, GVAE-Evo with a GVAE."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.numbers import check_whole, shown
from edhie.expr import Forest
from edhie.generators.base import Codes, LatentGenerator
from edhie.results.candidates import front_of
from edhie.search.arrays import Indices, Kept, Numbers
from edhie.search.base import Strategy, Task


@dataclass(frozen=True)
class EvolveConfig:
    """Settings of evolution in a latent space."""

    population: int = 500
    """Individuals that survive from one generation to the next."""
    offspring: int = 500
    """Offspring of a generation; they compete with their parents for survival."""
    generations: int | None = None
    """Generations at most. None: until the budget is used up."""
    crossover: float = 0.25
    """The share of offspring that lie between two parents; the others start as a copy of one."""
    mutation: float = 1.0
    """The share of offspring that are mutated."""
    pressure: int = 2
    """Individuals that compete to become a parent."""
    unique: bool = True
    """Let at most one individual of each expression survive."""
    restart_after: int | None = None
    """Generations without a lower error after which all but the best are drawn again. None: never."""
    patience: int | None = 100
    """Generations without a new expression after which the search ends. None: never."""

    def __post_init__(self) -> None:
        for name in ("population", "offspring", "pressure"):
            check_whole(name, getattr(self, name), 1)
        for name in ("generations", "restart_after", "patience"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 1, or_none="no limit")
        for name in ("crossover", "mutation"):
            if not 0 <= getattr(self, name) <= 1:
                raise SearchError(f"{name} must be a share of offspring, 0 to 1; it is {shown(getattr(self, name))}")


@dataclass(frozen=True, eq=False)
class Population:
    """Individuals: codes, the errors of their expressions, and the canonical forms that identify these.

    A surviving expression is encoded once, and its mean and deviation are kept for all mutations of its code.
    """

    codes: Codes  # (individuals, latent_dim)
    mean: Codes  # (individuals, latent_dim), the prior's where a code decodes to nothing
    deviation: Codes
    errors: Numbers  # infinite where a code decodes to nothing
    forms: NDArray[np.uint64]  # 0 where a code decodes to nothing

    def __len__(self) -> int:
        return len(self.errors)

    def take(self, chosen: Indices) -> Population:
        """Return the individuals at these indices."""
        return Population(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def joined(self, other: Population) -> Population:
        """Return these individuals, then others."""
        pairs = ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return Population(*(np.concatenate(pair) for pair in pairs))


class Evolve(Kept, Strategy):
    """A genetic algorithm with the paper's operators, which minimises the error."""

    name: ClassVar[str] = "evolve"
    KEPT = ("_living", "_front", "_generation", "_since_new", "_since_better")

    def __init__(self, config: EvolveConfig | None = None) -> None:
        self.config: EvolveConfig = config or EvolveConfig()

    def begin(self, task: Task) -> None:
        """Start without individuals."""
        if not isinstance(task.generator, LatentGenerator):
            kind = type(task.generator).__name__
            raise SearchError(f"the strategy 'evolve' needs a generator with a latent space, not a {kind}; use 'draw'")
        self._task = task
        self._model: LatentGenerator = task.generator
        codes = np.zeros((0, task.generator.latent_dim), np.float32)
        self._living = Population(codes, codes, codes, np.zeros(0), np.zeros(0, np.uint64))
        self._front = np.zeros((2, 0))  # errors, complexities: the best trade-offs so far
        self._generation = self._since_new = self._since_better = 0

    def step(self, rng: np.random.Generator) -> bool:
        """Do one generation; the first is drawn from the prior N(0, I)."""
        config, before = self.config, self._task.evaluator.counts.executed
        best = self._living.errors.min(initial=math.inf)
        if len(self._living) == 0:
            codes = self._random(config.population, rng)
        elif config.restart_after is not None and self._since_better >= config.restart_after:
            self._living = self._living.take(survivors(self._living.errors, 1))
            self._since_better = 0
            codes = self._random(config.population - 1, rng)
        else:
            codes = self._children(rng)
        self._compete(codes)
        self._generation += 1
        self._since_new = 0 if self._task.evaluator.counts.executed > before else self._since_new + 1
        self._since_better = 0 if self._living.errors[0] < best else self._since_better + 1
        is_stale = config.patience is not None and self._since_new >= config.patience
        return not is_stale and (config.generations is None or self._generation < config.generations)

    def _random(self, n: int, rng: np.random.Generator) -> Codes:
        return rng.standard_normal((n, self._model.latent_dim), dtype=np.float32)

    def _children(self, rng: np.random.Generator) -> Codes:
        config, count, living = self.config, self.config.offspring, self._living
        first, second = tournaments(living.errors, count, config.pressure, rng).T
        weights = rng.random(count, dtype=np.float32)
        weights[rng.random(count) >= config.crossover] = 0  # a copy of the first
        codes = convex_crossover(living.codes[first], living.codes[second], weights)
        mean, deviation = living.mean[first], living.deviation[first]
        is_mutated = rng.random(count) < config.mutation
        between = np.flatnonzero(is_mutated & (weights > 0))
        mean[between], deviation[between] = spreads(self._model, codes[between])
        mutated = np.flatnonzero(is_mutated)
        shares = rng.random(len(mutated), dtype=np.float32)
        codes[mutated] = neighbours(mean[mutated], deviation[mutated], shares, rng)
        return codes

    def receive(self, forest: Forest) -> None:
        """Let expressions of other islands compete with the population."""
        codes, _ = self._model.encode(forest.cast(self._model.library))
        self._compete(codes)

    # -- competition ----------------------------------------------------------------------

    def _compete(self, codes: Codes) -> None:
        """Keep the best of the population and of these codes."""
        decoded, old = self._model.decode(codes), len(self._living)
        self._task.tally.undecodable += decoded.invalid
        errors, forms = np.full(len(codes), np.inf), np.zeros(len(codes), np.uint64)
        errors[decoded.sources], forms[decoded.sources] = self._errors(decoded.forest)
        all_errors = np.concatenate([self._living.errors, errors])
        all_forms = np.concatenate([self._living.forms, forms])
        chosen = survivors(all_errors, self.config.population, all_forms if self.config.unique else None)
        new = chosen[chosen >= old] - old
        expressions = np.searchsorted(decoded.sources, new)
        is_valid = np.append(decoded.sources, -1)[expressions] == new
        forest = decoded.forest.take(expressions[is_valid])
        mean, deviation = spreads_of(self._model, forest, np.flatnonzero(is_valid), len(new))
        joined = self._living.joined(Population(codes[new], mean, deviation, errors[new], forms[new]))
        places = chosen.copy()
        places[chosen >= old] = old + np.arange(len(new))
        self._living = joined.take(places)

    def _errors(self, forest: Forest) -> tuple[Numbers, NDArray[np.uint64]]:
        """Return errors and forms; scoring stops early for expressions that can neither survive nor be on the front."""
        is_full = len(self._living) == self.config.population
        worst = float(self._living.errors.max()) if is_full else math.inf
        known = np.append(np.inf, self._front[0])
        # the lowest error so far of expressions that are no more complex
        rivals = known[np.searchsorted(self._front[1], self._task.complexities(forest), side="right")]
        errors, forms = np.empty(len(forest)), np.empty(len(forest), np.uint64)
        for part in (np.flatnonzero(rivals <= worst), np.flatnonzero(rivals > worst)):
            if len(part):
                scores = self._task.score(forest.take(part), bound=max(worst, float(rivals[part].max())))
                errors[part], forms[part] = scores.errors, scores.forms
                both = np.concatenate([self._front, [scores.errors, scores.complexities]], axis=1)
                self._front = both[:, front_of(*both)]
        return errors, forms


# -- operators: pure functions on arrays --------------------------------------------------


def convex_crossover(a: Codes, b: Codes, w: NDArray[np.float32]) -> Codes:
    """Return offspring between their parents: (1 - w)·a + w·b, with one `w` in [0, 1] for each.

    >>> convex_crossover(np.zeros((1, 2), np.float32), np.ones((1, 2), np.float32), np.array([0.25], np.float32))
    array([[0.25, 0.25]], dtype=float32)
    """
    share = w[:, np.newaxis]  # (children, 1)
    return (1 - share) * a + share * b


def spreads(generator: LatentGenerator, z: Codes) -> tuple[Codes, Codes]:
    """Return mean and deviation of each code's expression, encoded again; the prior's if it decodes to nothing."""
    decoded = generator.decode(z)
    return spreads_of(generator, decoded.forest, decoded.sources, len(z))


def spreads_of(generator: LatentGenerator, forest: Forest, sources: Indices, count: int) -> tuple[Codes, Codes]:
    """Return the same for `count` codes, of which those at `sources` decode to the expressions of `forest`."""
    mean = np.zeros((count, generator.latent_dim), np.float32)
    deviation = np.ones_like(mean)
    encoded_mean, log_variance = generator.encode(forest)
    mean[sources], deviation[sources] = encoded_mean, np.exp(log_variance / 2)
    return mean, deviation


def neighbours(mean: Codes, deviation: Codes, a: NDArray[np.float32], rng: np.random.Generator) -> Codes:
    """Draw from N(a·mean, a·deviation + (1 - a)·1), with one `a` for each code.

    Near a = 1 the result is syntactically similar, near 0 it is random.
    """
    share = a[:, np.newaxis]
    noise = rng.standard_normal(mean.shape, dtype=np.float32)
    return share * mean + (share * deviation + (1 - share)) * noise


def tournaments(errors: Numbers, n: int, pressure: int, rng: np.random.Generator) -> Indices:
    """Return pairs of parents, of shape (n, 2): each is the best of `pressure` rivals.

    Rivals are drawn as in pymoo: permutations of the population one after the other, cut into tournaments.
    """
    drawn = 2 * n * pressure
    permutations = [rng.permutation(len(errors)) for _ in range(-(-drawn // len(errors)))]
    rivals: Indices = np.concatenate(permutations)[:drawn].reshape(2 * n, pressure)
    winners = np.argmin(errors[rivals], axis=1)  # of equals the first, and the order is random
    parents: Indices = rivals[np.arange(2 * n), winners].reshape(n, 2)
    return parents


def survivors(errors: Numbers, n: int, forms: NDArray[np.uint64] | None = None) -> Indices:
    """Return the indices of the `n` lowest errors, in order; ties go to the earlier, at most one of each form."""
    order = np.argsort(errors, kind="stable")
    if forms is not None:
        _, first = np.unique(forms[order], return_index=True)
        order = order[np.sort(first)]
    return order[:n]
