"""The two interfaces that carry the design: what gives expressions, and what has a latent space of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary

Codes = NDArray[np.float32]


@dataclass(frozen=True)
class Decoded:
    """What codes became: the valid expressions, and which code each came from.

    A decoder that can fail (GVAE, CVAE) leaves out what is no expression; nothing
    downstream has to guess, and nothing is repaired.
    """

    forest: Forest
    sources: NDArray[np.int64]  # (expressions,) rising
    codes: int  # how many codes there were

    @property
    def invalid(self) -> int:
        """How many codes gave no expression."""
        return self.codes - len(self.forest)


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

    def decode(self, codes: Codes) -> Decoded:
        """The expressions that codes stand for."""
