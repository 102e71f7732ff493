"""Interfaces of generators: expressions at random, a latent space, a model in a folder; and what models share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from edhie.errors import ExpressionError, GeneratorError
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import NUMBER

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


# -- checks of inputs, and random draws, that all models share ---------------------------

FARTHEST = np.float32(1e30)  # of a code, in each dimension: much farther out the scores would be no numbers
COLDEST = 1e-6  # below this temperature the most probable symbol is as good as certain
HIGHEST = np.float32(1e38)  # of a score: it stays above minus infinity, which marks symbols that are not allowed


def checked_codes(codes: Codes, latent_dim: int, *, temperature: float, per_code: int, rng: object) -> Codes:
    """Return the codes as a decoder takes them, each as often as it is to be decoded; bad requests raise."""
    with np.errstate(over="ignore"):  # overflow becomes infinite and is refused below
        codes = np.asarray(codes, dtype=np.float32)
    if codes.ndim != 2 or codes.shape[1] != latent_dim:
        raise ExpressionError(f"codes must have the shape (n, {latent_dim}), not {codes.shape}")
    if not np.isfinite(codes).all():
        raise ExpressionError("codes must be finite numbers")
    if not (temperature >= 0 and per_code >= 1 and np.asarray(per_code).dtype.kind in "iu"):
        raise GeneratorError(
            f"temperature must be at least 0 and per_code a whole number of at least 1, not {temperature}, {per_code}"
        )
    if temperature > 0 and rng is None:
        raise GeneratorError("drawing at a temperature needs an rng")
    if temperature == 0 and per_code > 1:
        raise GeneratorError("several expressions per code differ only at a temperature above 0")
    near: Codes = np.clip(codes, -FARTHEST, FARTHEST)
    return near if per_code == 1 else np.repeat(near, per_code, axis=0)


def prior_codes(n: int, latent_dim: int, rng: np.random.Generator) -> Codes:
    """Draw codes from the prior N(0, I)."""
    if n < 0:
        raise GeneratorError(f"cannot draw {n} expressions")
    return rng.standard_normal((n, latent_dim), dtype=np.float32)


def tempered(scores: NDArray[np.float32], temperature: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return scores whose greatest is a draw from their softmax at a temperature; finite for finite scores."""
    with np.errstate(over="ignore"):
        warm: NDArray[np.float32] = scores / np.float32(max(temperature, COLDEST))
    np.clip(warm, -HIGHEST, HIGHEST, out=warm)
    warm += rng.gumbel(size=warm.shape).astype(np.float32)
    return warm


def refuse_numbers(forest: Forest, kind: str) -> None:
    """Raise for an expression that holds a number of any value, which a model of symbols cannot give back."""
    holding = np.flatnonzero(forest.tokens == forest.library.ids.get(NUMBER.name, -1))
    if len(holding):
        expr = forest[int(forest.owners[holding[0]])]
        raise GeneratorError(
            f"{expr} holds a number of any value, and a model of kind {kind!r} has symbols only: "
            "use a library that has it as a literal, or the fitted constant"
        )


def checked_weights(weights: Weights, expected: Mapping[str, tuple[int, ...]], kind: str) -> Weights:
    """Return the weights as 32-bit numbers; raise unless they are those of a model of this kind and size."""
    for name, shape in expected.items():
        if name not in weights:
            raise GeneratorError(f"these are not the weights of a model of kind {kind!r}: {name} is missing")
        if weights[name].shape != shape:
            raise GeneratorError(f"{name} has the shape {weights[name].shape}, not {shape} as symbols and settings ask")
    unknown = sorted(weights.keys() - expected.keys())
    if unknown:
        raise GeneratorError(f"a model of kind {kind!r} has no weights named {unknown[0]}")
    return {name: _finite(name, array) for name, array in weights.items()}


def _finite(name: str, array: NDArray[Any]) -> NDArray[np.float32]:
    if array.dtype.kind != "f" or array.size == 0:
        raise GeneratorError(f"{name} holds {array.dtype} of shape {array.shape}, not weights")
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(single).all():
        raise GeneratorError(f"{name} holds values that are not finite; the training that made it failed")
    return single


# -- other names for variables -----------------------------------------------------------


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
