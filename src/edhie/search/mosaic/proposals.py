"""Pieces to screen next: short expressions, subtrees of the generator's samples, and offspring of the elites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import MosaicConfig, Proposing
from edhie.search.mosaic.screening.frame_pool import Finding, PooledFrame, ranks
from edhie.search.pieces.enumeration import Enumeration
from edhie.search.pieces.generator_source import GeneratorSource
from edhie.search.pieces.rewriting import loosened
from edhie.search.pieces.variation import children, likely_symbols


class Proposals:
    """A source of pieces: enumeration, the generator, and variation of elites."""

    def __init__(self, source: GeneratorSource, library: SymbolLibrary, config: MosaicConfig, one: Forest) -> None:
        """`one` is the number 1 as `written_one` writes it."""
        self.enumeration = Enumeration(library, one=one)
        self._source, self._library, self._config = source, library, config

    @property
    def likely(self) -> Numbers:
        """By token: the probability of a symbol in mutations, from its frequency in the generator's samples."""
        return likely_symbols(self._source.frequencies)

    def pieces(self, n: int, known: Forest, frames: Sequence[PooledFrame], rng: np.random.Generator) -> Forest:
        """Return distinct pieces, about `n` or more; some of them may have been proposed before."""
        config = self._config
        found = [Forest.from_exprs([], self._library)]
        if config.enumeration and not self.enumeration.is_over:
            found.append(self.enumeration.take(max(n // Proposing.ENUMERATED, 8), known))
        if config.samples:
            n_samples = max(n // Proposing.SAMPLED, 4)
            found.append(self._source.subtrees(n_samples, rng, config.largest_piece, self.relevance(frames)))
        usable = [each for each in frames if len(each.elites) >= 2]
        if usable and len(known):
            found += self._changed(n, known, usable, rng)
        every = Forest.concatenate(found)
        return every.take(every.sizes <= config.largest_piece).unique()

    def _changed(self, n: int, known: Forest, frames: Sequence[PooledFrame], rng: np.random.Generator) -> list[Forest]:
        """Return offspring of the elites of all frames; frames with short descriptions get more."""
        weights = (ranks(frames) + 2.0) ** -Proposing.SHARPNESS
        shares = rng.multinomial(n, weights / weights.sum())
        chosen = []
        for each, share in zip(frames, shares.tolist(), strict=True):
            elites = each.elites.forest
            drawn = rng.geometric(Proposing.ELITE, share) - 1
            chosen.append(elites.take(np.minimum(drawn, len(elites) - 1)))
        parents, found = Forest.concatenate(chosen), []
        if self._config.evolution:
            found.append(children(parents, known, rng, likely=self.likely))
        if self._config.latent and self._source.is_latent:
            found.append(self._source.neighbours(parents.unique(), n // Proposing.NEIGHBOURS, rng))
        return found

    def relevance(self, frames: Sequence[PooledFrame]) -> Numbers:
        """Return the relevance of each variable: 1 plus its number of occurrences in the best pieces."""
        ids = np.array([self._library.ids[name] for name in self._library.variables])
        counts = np.ones(len(self._library))
        for each in frames:
            best = each.elites.forest[: Proposing.RELEVANT]
            counts += np.bincount(best.tokens, minlength=len(counts))
        return np.asarray(counts[ids])


def pieces_to_tune(frames: Sequence[PooledFrame], n: int, rng: np.random.Generator) -> list[Finding]:
    """Draw `n` elites of the best frames, with a constant inserted into each function.

    Duplicates, and elites that still have no constant, are dropped.
    """
    usable = [each for each in frames if len(each.elites)]
    best = [each for each, rank in zip(usable, ranks(usable), strict=True) if rank < Proposing.TUNED_FRAMES]
    found: dict[tuple[object, ...], Finding] = {}
    for _ in range(n if best else 0):
        pooled = best[int(rng.integers(len(best)))]
        (term,) = pooled.elite(int(rng.integers(len(pooled.elites)))).extra
        piece = loosened(term.piece[0])
        if piece.constants:
            term = replace(term, piece=Forest.from_exprs([piece]))
            found.setdefault((id(pooled), piece.tokens), Finding(pooled, (term,), 0.0))
    return list(found.values())
