"""Interfaces of generators: expressions at random, a latent space of expressions, a model that a folder keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary

Codes = NDArray[np.float32]
Weights = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Decoded:
    """The valid expressions among decoded codes, and the code that each came from.

    A decoder that can fail (GVAE, CVAE) leaves out invalid sequences; nothing is repaired.
    """

    forest: Forest
    sources: NDArray[np.int64]  # (expressions,) rising
    attempts: int  # how many decodings there were: the codes, times the expressions asked of each

    @property
    def invalid(self) -> int:
        """The number of decodings that gave no expression."""
        return self.attempts - len(self.forest)


@runtime_checkable
class Generator(Protocol):
    """A source of random expressions: a grammar, or an autoencoder."""

    @property
    def library(self) -> SymbolLibrary:
        """The symbols of its expressions."""

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Return `n` expressions."""


@runtime_checkable
class LatentGenerator(Generator, Protocol):
    """A generator with codes: points near one another give similar expressions."""

    @property
    def latent_dim(self) -> int:
        """The number of dimensions of a code."""

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        """Return mean and logarithm of the variance of each expression's code; both (expressions, latent_dim)."""

    def decode(
        self, codes: Codes, *, temperature: float = 0.0, per_code: int = 1, rng: np.random.Generator | None = None
    ) -> Decoded:
        """Return the expressions of codes: the most probable, or `per_code` drawn at a temperature."""


@runtime_checkable
class Model(LatentGenerator, Protocol):
    """A trained autoencoder, which can be saved in a folder."""

    kind: ClassVar[str]
    """Its name in folders and settings."""

    @property
    def weights(self) -> Weights:
        """All learnt weights, by name."""

    @property
    def hidden_dim(self) -> int:
        """The size of its recurrent state."""

    def settings(self) -> dict[str, Any]:
        """Return the settings of the model besides its library and its weights, as JSON."""

    @classmethod
    def restored(cls, library: SymbolLibrary, weights: Weights, settings: Mapping[str, Any]) -> Self:
        """Return the model of these parts; raise an error if they do not fit together."""
