"""Where pieces come from: a generator's expressions, taken apart, and the best pieces changed in its latent space."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.generators.base import Generator, LatentGenerator
from edhie.search.splicing import distinct_subtrees
from edhie.search.variation import likely_constants

SAMPLES_COUNTED = 2000
RARITY = 0.25  # what a symbol costs more for each e-fold that it is rarer
GROUPS = 6  # of samples, each with variables of its own in the places of the generator's
LARGEST_SUBTREE = 12


class Source:
    """Pieces over an evaluator's library from a generator that may know other variables and fewer symbols."""

    def __init__(self, generator: Generator, library: SymbolLibrary) -> None:
        self.generator = generator
        self.library = library
        own = generator.library
        self._own_variables = np.array([own.ids[name] for name in own.variables], np.int64)
        self._variables = np.array([library.ids[name] for name in library.variables], np.int64)
        is_shared = np.array([symbol.kind not in ("variable", "number") for symbol in own.symbols])
        self._table = np.where(is_shared, own.ids_in(library), -1).astype(np.int64)

    @cached_property
    def frequencies(self) -> NDArray[np.float64]:
        """By token of the library: how often the generator uses the symbol; all variables alike."""
        drawn = self.generator.sample(SAMPLES_COUNTED, np.random.default_rng(0))
        own = np.bincount(drawn.tokens, minlength=len(self.generator.library)).astype(np.float64)
        counts = np.zeros(len(self.library))
        usable = self._table >= 0
        np.add.at(counts, self._table[usable], own[usable])
        counts[self._variables] = own[self._own_variables].sum() / len(self._variables)
        return counts if counts.any() else np.ones_like(counts)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """By token of the library: 1 for what the generator uses most, more for what it uses rarely."""
        frequencies = self.frequencies
        with np.errstate(divide="ignore"):
            rarity = np.log(frequencies.max() / np.maximum(frequencies, 1e-3 * frequencies.max()))
        costs: NDArray[np.float64] = 1.0 + RARITY * rarity
        return costs

    @property
    def is_latent(self) -> bool:
        """Whether the generator has a latent space."""
        return isinstance(self.generator, LatentGenerator)

    def subtrees(self, n: int, rng: np.random.Generator, largest: int, likely: NDArray[np.float64]) -> Forest:
        """Distinct subtrees of `n` samples; variables are drawn by how `likely` each is to matter."""
        drawn = self.generator.sample(n, rng)
        found = []
        for group in np.array_split(np.arange(len(drawn)), min(GROUPS, max(n // 20, 1))):
            places = self.placed(rng, likely)
            found.append(self.read(drawn.take(group), places))
        return with_constants(distinct_subtrees(Forest.concatenate(found), min(largest, LARGEST_SUBTREE)), rng)

    def placed(self, rng: np.random.Generator, likely: NDArray[np.float64]) -> NDArray[np.int64]:
        """For each variable of the generator one of the library's: all in order where they are as many."""
        n_own, n = len(self._own_variables), len(self._variables)
        if n_own == n:
            return np.arange(n)
        if n_own > n:
            return np.concatenate([np.arange(n), rng.integers(0, n, n_own - n)])
        return rng.choice(n, n_own, replace=False, p=likely / likely.sum())

    def read(self, forest: Forest, places: NDArray[np.int64]) -> Forest:
        """A generator's expressions over the library; those with symbols that it lacks are left out."""
        table = self._table.copy()
        table[self._own_variables] = self._variables[places]
        tokens = table[forest.tokens]
        bad = np.zeros(len(forest) + 1, np.int64)
        np.add.at(bad, forest.owners[tokens < 0], 1)
        whole = forest.take(np.flatnonzero(bad[:-1] == 0))
        return Forest(self.library, table[whole.tokens].astype(np.int16), whole.offsets, whole.values)

    def neighbours(self, forest: Forest, n: int, rng: np.random.Generator) -> Forest:
        """Pieces near others in the latent space: mixtures of two codes, and codes moved within their own spread."""
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
        found = self.read(model.decode(codes.astype(np.float32)).forest, places)
        return with_constants(found, rng)

    def _known(self, forest: Forest) -> tuple[Forest, NDArray[np.int64]]:
        """Those that the generator can write, over its library, and the variables that its own stand for."""
        own = self.generator.library
        used = np.bincount(forest.tokens, minlength=len(self.library))[self._variables]
        places = np.argsort(-used, kind="stable")[: len(self._own_variables)]
        places = np.concatenate([places, np.zeros(max(0, len(self._own_variables) - len(places)), np.int64)])
        table = np.full(len(self.library), -1, np.int64)
        for token, other in enumerate(self._table.tolist()):
            if other >= 0:
                table[other] = token
        for mine, place in reversed(list(zip(self._own_variables.tolist(), places.tolist(), strict=True))):
            table[self._variables[place]] = mine
        tokens = table[forest.tokens]
        bad = np.zeros(len(forest) + 1, np.int64)
        np.add.at(bad, forest.owners[tokens < 0], 1)
        whole = forest.take(np.flatnonzero(bad[:-1] == 0))
        n_values = int(own.has_slot[table[whole.tokens]].sum()) if len(whole) else 0
        return Forest(own, table[whole.tokens].astype(np.int16), whole.offsets, np.full(n_values, np.nan)), places


def with_constants(forest: Forest, rng: np.random.Generator) -> Forest:
    """Constants that have no value get one at random."""
    missing = np.isnan(forest.values)
    if not missing.any():
        return forest
    values = forest.values.copy()
    values[missing] = likely_constants(int(missing.sum()), rng)
    return Forest(forest.library, forest.tokens, forest.offsets, values)
