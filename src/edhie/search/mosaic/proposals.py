"""What pieces are looked at next: the shortest, those of the generator's expressions, and the best ones changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.weighing.frame_pool import PooledFrame, ranks
from edhie.search.pieces.enumeration import Enumeration
from edhie.search.pieces.generator_source import GeneratorSource
from edhie.search.pieces.variation import children

Numbers = NDArray[np.float64]
LARGEST_ENUMERATED = 7
SHARPNESS = 1.3  # how much more often the pieces of places with short descriptions are changed
ELITES = 0.04  # the chance that the best piece of a place is the one to be changed; the next share what is left
ALWAYS = 0.2  # of the mean frequency: what every symbol has at least, however rarely the generator uses it


class Proposals:
    """Chooses pieces to look at."""

    def __init__(
        self, source: GeneratorSource, library: SymbolLibrary, config: MosaicConfig, one: Forest | None = None
    ) -> None:
        """`one` is how 1 is written, as for an `Enumeration`."""
        self.enumeration = Enumeration(library, LARGEST_ENUMERATED, one)
        self._source = source
        self._library = library
        self._config = config

    @property
    def likely(self) -> Numbers:
        """By token: how likely a symbol is to come in, from how often the generator uses it."""
        used = self._source.frequencies
        likely: Numbers = used + ALWAYS * used.mean()
        return likely

    def pieces(self, n: int, known: Forest, places: Sequence[PooledFrame], rng: np.random.Generator) -> Forest:
        """About `n` pieces, or more, some of which may have been looked at before."""
        config = self._config
        found = [Forest.from_exprs([], self._library)]
        if config.enumeration and not self.enumeration.is_over:
            found.append(self.enumeration.take(max(n // 3, 8), known))
        if config.samples:
            found.append(self._source.subtrees(max(n // 6, 4), rng, config.largest, self.relevance(places)))
        usable = [place for place in places if len(place.elites) >= 2]
        if usable and len(known):
            found += self._changed(n, known, usable, rng)
        every = Forest.concatenate(found)
        return every.take(np.flatnonzero(every.sizes <= config.largest)).unique()

    def _changed(self, n: int, known: Forest, places: Sequence[PooledFrame], rng: np.random.Generator) -> list[Forest]:
        """The best pieces of all places changed, those of places with short descriptions more often."""
        weights = (ranks(places) + 2.0) ** -SHARPNESS
        shares = rng.multinomial(n, weights / weights.sum())
        chosen = []
        for place, share in zip(places, shares.tolist(), strict=True):
            elites = place.elites.forest
            chosen.append(elites.take(np.minimum(rng.geometric(ELITES, share) - 1, len(elites) - 1)))
        parents, found = Forest.concatenate(chosen), []
        if self._config.evolution:
            found.append(children(parents, known, rng, likely=self.likely))
        if self._config.latent and self._source.is_latent:
            found.append(self._source.neighbours(parents.unique(), n // 6, rng))
        return found

    def relevance(self, places: Sequence[PooledFrame]) -> Numbers:
        """By variable: how likely it is to matter, from how often the best pieces have it."""
        ids = np.array([self._library.ids[name] for name in self._library.variables])
        counts = np.ones(len(self._library))
        for place in places:
            best = place.elites.forest.take(np.arange(min(len(place.elites), 5)))
            counts += np.bincount(best.tokens, minlength=len(counts))
        relevance: Numbers = counts[ids]
        return relevance
