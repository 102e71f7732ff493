"""Generators whose variables have the names of the data's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from edhie.errors import GeneratorError
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.base import Codes, Decoded, Generator, LatentGenerator


def renamed(generator: Generator, names: Sequence[str]) -> Generator:
    """Return the generator with these names for its variables, in order.

    One with a latent space keeps it; one without that has variables of these names is returned as it is.
    """
    if isinstance(generator, LatentGenerator):
        return Renamed(generator, names)
    return generator if set(generator.library.variables) == set(names) else RenamedSamples(generator, names)


class RenamedSamples:
    """A generator with other names for its variables, one each and in order."""

    def __init__(self, generator: Generator, names: Sequence[str]) -> None:
        own = generator.library.variables
        if len(names) != len(own):
            raise GeneratorError(f"a generator of {len(own)} variables cannot have {len(names)} names for them")
        self._generator = generator
        self.library: SymbolLibrary = generator.library.with_variables(names)
        """The generator's library with the given names; ids are the same."""

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Return `n` expressions."""
        return _over(self._generator.sample(n, rng).cast(self._generator.library), self.library)


class Renamed(RenamedSamples):
    """A generator with a latent space, and other names for its variables."""

    def __init__(self, generator: LatentGenerator, names: Sequence[str]) -> None:
        super().__init__(generator, names)
        self.generator = generator
        self.latent_dim: int = generator.latent_dim
        """The number of dimensions of a code."""

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        """Return mean and logarithm of the variance of each expression's code."""
        return self.generator.encode(_over(forest.cast(self.library), self.generator.library))

    def decode(self, codes: Codes, **options: Any) -> Decoded:
        """Return the expressions of codes."""
        decoded = self.generator.decode(codes, **options)
        return replace(decoded, forest=_over(decoded.forest, self.library))


def _over(forest: Forest, library: SymbolLibrary) -> Forest:
    return Forest(library, forest.tokens, forest.offsets, forest.values)
