"""What the two sequence models share when they are used: encoding, decoding and sampling in NumPy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from edhie.errors import GeneratorError
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.base import Codes, Decoded, Weights
from edhie.generators.checks import check_count, checked_codes, checked_weights
from edhie.generators.sampling import prior_codes, tempered
from edhie.generators.sequence import inference
from edhie.generators.sequence.notation import Notation, padded

AT_ONCE = 1024  # expressions; it bounds the memory to about 100 MB
TRIES = 100  # codes drawn for each expression that is asked for, before sampling gives up
LEAST_DRAWN = 50  # codes at a time, where few expressions are missing


@dataclass(frozen=True, eq=False)
class SequenceModel(ABC):
    """An autoencoder of sequences; a code may decode to what is no expression, which is left out and counted."""

    kind: ClassVar[str]
    notation: Notation
    weights: Weights

    @property
    def library(self) -> SymbolLibrary:
        """The alphabet of what it gives."""
        return self.notation.library

    @property
    def latent_dim(self) -> int:
        """The number of dimensions of a code."""
        return int(self.weights["mean.weight"].shape[0])

    @property
    def hidden_dim(self) -> int:
        """The size of the recurrent state."""
        return int(self.weights["mean.weight"].shape[1])

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        """Mean and logarithm of the variance of each expression's code; both (expressions, latent_dim).

        Of an expression longer than the model's sequences only the beginning is seen.
        """
        symbols, offsets = self.notation.spelled(forest.cast(self.library))
        length, count = self.notation.length, self.notation.symbols
        mean = np.empty((len(forest), self.latent_dim), dtype=np.float32)
        log_variance = np.empty_like(mean)
        for s in range(0, len(forest), AT_ONCE):
            part = slice(s, s + AT_ONCE)
            sequences = padded((symbols, offsets[s : s + AT_ONCE + 1]), length, padding=count - 1)
            mean[part], log_variance[part] = inference.encode(self.weights, sequences, count)
        return mean, log_variance

    def decode(
        self, codes: Codes, *, temperature: float = 0.0, per_code: int = 1, rng: np.random.Generator | None = None
    ) -> Decoded:
        """At every step the most probable symbol, or one drawn at a temperature; what is no expression is left out."""
        codes = checked_codes(codes, self.latent_dim, temperature=temperature, per_code=per_code, rng=rng)
        forests, sources = [Forest.from_exprs([], self.library)], [np.zeros(0, np.int64)]
        for s in range(0, len(codes), AT_ONCE):
            scores = inference.decode(self.weights, codes[s : s + AT_ONCE], self.notation.length)
            if rng is not None and temperature > 0:
                scores = tempered(scores, temperature, rng)
            forest, places = self.notation.read(scores)
            forests.append(forest)
            sources.append(s + places)
        return Decoded(Forest.concatenate(forests), np.concatenate(sources) // per_code, len(codes))

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Expressions decoded from codes drawn from the prior N(0, I); codes that give none are drawn anew."""
        check_count(n)
        found, drawn = Forest.from_exprs([], self.library), 0
        while len(found) < n:
            if drawn >= TRIES * max(n, 10):
                raise GeneratorError(
                    f"of {drawn} codes only {len(found)} gave an expression, {n} were asked for; "
                    "train the model longer, or on more expressions"
                )
            codes = prior_codes(max(n - len(found), LEAST_DRAWN), self.latent_dim, rng)
            found = Forest.concatenate([found, self.decode(codes).forest])
            drawn += len(codes)
        return found[:n]

    def settings(self) -> dict[str, Any]:
        """What makes the notation."""
        return self.notation.settings()

    @classmethod
    def restored(cls, library: SymbolLibrary, weights: Weights, settings: Mapping[str, Any]) -> Self:
        """The model of these weights, which must fit library and settings."""
        try:
            notation = cls.notation_of(library, settings)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise GeneratorError(f"these are not the settings of a model of kind {cls.kind!r}: {error!r}") from error
        expected = inference.shapes(weights, notation.symbols, notation.length)
        return cls(notation, checked_weights(weights, expected, cls.kind))

    @staticmethod
    @abstractmethod
    def notation_of(library: SymbolLibrary, settings: Mapping[str, Any]) -> Notation:
        """The notation that settings describe."""
