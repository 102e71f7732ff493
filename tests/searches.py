"""What tests of searches share: small data, generators that fail or stop, and what makes two results the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate import Evaluator
from edhie.expr import Forest, SymbolLibrary
from edhie.generators import load
from edhie.generators.base import Codes, Decoded, LatentGenerator
from edhie.grammar import load as load_grammar
from edhie.results import SearchResult

HVAE = load("nguyen-1")
X = np.random.default_rng(0).uniform(0.5, 4, (60, 1))
Y = np.sin(X[:, 0]) * X[:, 0] + np.log(X[:, 0])


def evaluator(**options: Any) -> Evaluator:
    return Evaluator(HVAE.library, X, Y, **options)


@dataclass(frozen=True, eq=False)
class Grammar:
    """A grammar that keeps to small expressions."""

    @property
    def library(self) -> SymbolLibrary:
        return load_grammar("nguyen-1").library

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        return load_grammar("nguyen-1").sample(n, rng, max_height=7)


@dataclass(eq=False)
class Wrapped:
    """An autoencoder whose every third code decodes to nothing; `before` is called first, and may raise."""

    model: LatentGenerator = HVAE
    valid: Callable[[int], NDArray[np.bool_]] = field(default=lambda n: np.arange(n) % 3 != 0)
    before: Callable[[], None] = field(default=lambda: None)

    @property
    def library(self) -> SymbolLibrary:
        return self.model.library

    @property
    def latent_dim(self) -> int:
        return self.model.latent_dim

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        self.before()
        return self.model.encode(forest)

    def decode(self, codes: Codes, **options: Any) -> Decoded:
        self.before()
        decoded = self.model.decode(codes, **options)
        kept = np.flatnonzero(self.valid(len(codes)))
        return Decoded(decoded.forest.take(kept), decoded.sources[kept], decoded.attempts)

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        return self.model.sample(n, rng)


def whole(n: int) -> NDArray[np.bool_]:
    return np.ones(n, np.bool_)


@dataclass
class StopAfter:
    """Raises once it has been called so many times; not before it is armed."""

    calls: int
    error: type[BaseException] = KeyboardInterrupt
    is_armed: bool = True

    def __call__(self) -> None:
        if self.is_armed:
            self.calls -= 1
            if self.calls < 0:
                raise self.error


def assert_same(a: SearchResult, b: SearchResult) -> None:
    """Two results tell the same, but for the time they took."""
    assert (a.stopped, a.seed, a.strategy, a.counts) == (b.stopped, b.seed, b.strategy, b.counts)
    for one, other in ((a.candidates, b.candidates), (a.front.candidates, b.front.candidates)):
        assert one.forest.library == other.forest.library
        np.testing.assert_array_equal(one.forest.tokens, other.forest.tokens)
        np.testing.assert_array_equal(one.forest.offsets, other.forest.offsets)
        np.testing.assert_array_equal(one.forest.values, other.forest.values)
        for name in ("errors", "complexities", "executed_at"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("executed", "screened", "error"):
        np.testing.assert_array_equal(getattr(a.history, name), getattr(b.history, name))
