"""Pieces from a generator: subtrees of its expressions, and neighbours of pieces in its latent space."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from edhie.expr import Forest, SymbolLibrary
from edhie.expr.splicing import distinct_subtrees
from edhie.generators.base import Generator, LatentGenerator
from edhie.search.arrays import Indices, Numbers, recoded, unfitted
from edhie.search.pieces.variation import with_constants

SAMPLES_COUNTED = 2000  # expressions by which the frequencies of symbols are estimated
RARITY = 0.25  # additional cost of a symbol for each factor of e by which it is rarer
GROUPS = 6  # of samples, each with its own assignment of variables
LARGEST_SUBTREE = 12  # nodes


class GeneratorSource:
    """Pieces over an evaluator's library, from a generator that may have other variables and fewer symbols."""

    def __init__(self, generator: Generator, library: SymbolLibrary) -> None:
        self.generator = generator
        self.library = library
        own = generator.library
        self._own_variables = np.array([own.ids[name] for name in own.variables], np.int64)
        self._variables = np.array([library.ids[name] for name in library.variables], np.int64)
        self._table = own.ids_in(library).astype(np.int64)
        self._table[self._own_variables] = -1  # assigned anew for each group of samples

    @cached_property
    def frequencies(self) -> Numbers:
        """By token of the library: the number of occurrences in the generator's samples; equal for all variables."""
        drawn = self.generator.sample(SAMPLES_COUNTED, np.random.default_rng(0))
        own = np.bincount(drawn.tokens, minlength=len(self.generator.library)).astype(np.float64)
        counts = np.zeros(len(self.library))
        usable = self._table >= 0
        np.add.at(counts, self._table[usable], own[usable])
        counts[self._variables] = own[self._own_variables].sum() / len(self._variables)
        return counts if counts.any() else np.ones_like(counts)

    @cached_property
    def costs(self) -> Numbers:
        """By token of the library: the cost of a symbol, from 1 for the most frequent upwards."""
        frequencies = self.frequencies
        rarity = np.log(frequencies.max() / np.maximum(frequencies, 1e-3 * frequencies.max()))
        return np.asarray(1.0 + RARITY * rarity)

    @property
    def is_latent(self) -> bool:
        """True if the generator has a latent space."""
        return isinstance(self.generator, LatentGenerator)

    def subtrees(self, n: int, rng: np.random.Generator, largest: int, likely: Numbers) -> Forest:
        """Return distinct subtrees, of at most `largest` nodes, of `n` samples.

        If the library has more variables than the generator, they are drawn with weights `likely`.
        """
        drawn = self.generator.sample(n, rng)
        found = []
        for group in np.array_split(np.arange(len(drawn)), min(GROUPS, max(n // 20, 1))):
            places = self.placed(rng, likely)
            found.append(self.read(drawn.take(group), places))
        return with_constants(distinct_subtrees(Forest.concatenate(found), min(largest, LARGEST_SUBTREE)), rng)

    def placed(self, rng: np.random.Generator, likely: Numbers) -> Indices:
        """Return, by variable of the generator, the index of a variable of the library; in order if equally many."""
        n_own, n = len(self._own_variables), len(self._variables)
        if n_own == n:
            return np.arange(n)
        if n_own > n:
            return np.concatenate([np.arange(n), rng.integers(0, n, n_own - n)])
        return rng.choice(n, n_own, replace=False, p=likely / likely.sum())

    def read(self, forest: Forest, places: Indices) -> Forest:
        """Return the generator's expressions over the library; those with symbols that it lacks are left out.

        `places` assigns the variables, as `placed` returns them.
        """
        table = self._table.copy()
        table[self._own_variables] = self._variables[places]
        return recoded(forest, table, self.library)

    def neighbours(self, forest: Forest, n: int, rng: np.random.Generator) -> Forest:
        """Return about `n` neighbours of pieces in the latent space: crossover of two codes or a copy, plus noise."""
        model = self.generator
        assert isinstance(model, LatentGenerator)
        known, places = self._known(forest)
        if len(known) < 2:
            return forest.take([])
        mean, log_variance = model.encode(known)
        a, b = rng.integers(0, len(known), (2, n))
        share = np.where(rng.random(n) < 0.5, rng.random(n), 0.0)[:, np.newaxis]
        codes = (1 - share) * mean[a] + share * mean[b]
        codes += rng.uniform(0, 3, (n, 1)) * np.exp(0.5 * log_variance[a]) * rng.standard_normal(codes.shape)
        return with_constants(self.read(model.decode(codes.astype(np.float32)).forest, places), rng)

    def _known(self, forest: Forest) -> tuple[Forest, Indices]:
        """Return the expressions that the generator can encode, over its library, and the assignment of variables."""
        used = np.bincount(forest.tokens, minlength=len(self.library))[self._variables]
        places = np.argsort(-used, kind="stable")[: len(self._own_variables)]
        places = np.concatenate([places, np.zeros(max(0, len(self._own_variables) - len(places)), np.int64)])
        table = np.full(len(self.library), -1, np.int64)
        usable = self._table >= 0
        table[self._table[usable]] = np.flatnonzero(usable)
        table[self._variables[places[::-1]]] = self._own_variables[::-1]  # if several are assigned, the first
        return unfitted(recoded(forest, table, self.generator.library)), places
