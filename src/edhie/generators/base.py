"""The two interfaces that carry the design: what gives expressions, and what has a latent space of them."""

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
    """What codes became: the valid expressions, and which code each came from.

    A decoder that can fail (GVAE, CVAE) leaves out what is no expression; nothing
    downstream has to guess, and nothing is repaired.
    """

    forest: Forest
    sources: NDArray[np.int64]  # (expressions,) rising
    attempts: int  # how many decodings there were: the codes, times the expressions asked of each

    @property
    def invalid(self) -> int:
        """How many decodings gave no expression."""
        return self.attempts - len(self.forest)


@runtime_checkable
class Generator(Protocol):
    """Gives expressions at random: a grammar, or an autoencoder."""

    @property
    def library(self) -> SymbolLibrary:
        """The alphabet of what it gives."""

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """`n` expressions."""


@runtime_checkable
class LatentGenerator(Generator, Protocol):
    """A generator with codes: points near one another give similar expressions."""

    @property
    def latent_dim(self) -> int:
        """The number of dimensions of a code."""

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        """Mean and logarithm of the variance of each expression's code; both (expressions, latent_dim)."""

    def decode(
        self, codes: Codes, *, temperature: float = 0.0, per_code: int = 1, rng: np.random.Generator | None = None
    ) -> Decoded:
        """The expressions that codes stand for: the most probable, or `per_code` drawn at a temperature."""


@runtime_checkable
class Model(LatentGenerator, Protocol):
    """A trained autoencoder: what a folder keeps, and what training gives."""

    kind: ClassVar[str]
    """Its name in the registry of models."""

    @property
    def weights(self) -> Weights:
        """All that it learned."""

    @property
    def hidden_dim(self) -> int:
        """The size of its recurrent state."""

    def settings(self) -> dict[str, Any]:
        """What makes the model besides its library and its weights, as JSON has it."""

    @classmethod
    def restored(cls, library: SymbolLibrary, weights: Weights, settings: Mapping[str, Any]) -> Self:
        """The model of these parts; parts that do not belong together raise."""
