"""A trained HVAE, ready to use: encoding, decoding and sampling in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from edhie.errors import GeneratorError
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.base import Codes, Decoded, Weights
from edhie.generators.checks import checked_codes, checked_weights, refuse_numbers
from edhie.generators.constraints import Constraints
from edhie.generators.hvae.inference import Gates, decode_roots, down_gates, encode_roots
from edhie.generators.sampling import prior_codes

ENCODED_AT_ONCE = 16_384  # it bounds the memory, which is by node
DECODED_AT_ONCE = 2048  # more gains nothing, and this stays in the processor's cache


@dataclass(frozen=True, eq=False)
class HVAE:
    """The hierarchical variational autoencoder of the paper; every code gives a valid expression."""

    kind: ClassVar[str] = "hvae"
    library: SymbolLibrary
    weights: Weights
    constraints: Constraints = field(default_factory=Constraints)

    @property
    def latent_dim(self) -> int:
        """The number of dimensions of a code."""
        return int(self.weights["mean_w"].shape[1])

    @property
    def hidden_dim(self) -> int:
        """The size of a node's code inside the recursions."""
        return int(self.weights["mean_w"].shape[0])

    @cached_property
    def _gates(self) -> Gates:
        return down_gates(self.weights)

    def constrained(self, constraints: Constraints) -> HVAE:
        """The same model, decoding within other constraints."""
        constraints.masks(self.library)  # a fault shows here, not at the first decoding
        return replace(self, constraints=constraints)

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        """Mean and logarithm of the variance of each expression's code; both (expressions, latent_dim)."""
        forest = forest.cast(self.library)
        refuse_numbers(forest, self.kind)
        if len(forest) == 0:
            empty = np.zeros((0, self.latent_dim), dtype=np.float32)
            return empty, empty.copy()
        w = self.weights
        parts = [forest[s : s + ENCODED_AT_ONCE] for s in range(0, len(forest), ENCODED_AT_ONCE)]
        roots = np.concatenate([encode_roots(w, part) for part in parts])
        return roots @ w["mean_w"] + w["mean_b"], roots @ w["log_variance_w"] + w["log_variance_b"]

    def decode(
        self, codes: Codes, *, temperature: float = 0.0, per_code: int = 1, rng: np.random.Generator | None = None
    ) -> Decoded:
        """At every node the most probable symbol, or one drawn at a temperature; always an expression."""
        codes = checked_codes(codes, self.latent_dim, temperature=temperature, per_code=per_code, rng=rng)
        w = self.weights
        roots = codes @ w["root_w"] + w["root_b"]
        starts = range(0, max(len(roots), 1), DECODED_AT_ONCE)
        parts = [
            decode_roots(w, self._gates, part, self.library, self.constraints, temperature=temperature, rng=rng)
            for part in (roots[s : s + DECODED_AT_ONCE] for s in starts)
        ]
        return Decoded(Forest.concatenate(parts), np.arange(len(codes)) // per_code, len(codes))

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Expressions decoded from codes drawn from the prior N(0, I)."""
        return self.decode(prior_codes(n, self.latent_dim, rng)).forest

    def settings(self) -> dict[str, Any]:
        """None: library and weights are all there is."""
        return {}

    @classmethod
    def restored(cls, library: SymbolLibrary, weights: Weights, settings: Mapping[str, Any]) -> HVAE:
        """The model of these weights, which must fit the library."""
        try:
            hidden, latent = weights["mean_w"].shape
        except (KeyError, ValueError) as error:
            raise GeneratorError("these are not the weights of a model of kind 'hvae'") from error
        return cls(library, checked_weights(weights, _shapes(len(library), hidden, latent), cls.kind))


def _shapes(symbols: int, hidden: int, latent: int) -> dict[str, tuple[int, ...]]:
    return {
        "up_w_i": (symbols, 3 * hidden), "up_b_i": (3 * hidden,), "up_w_h": (2 * hidden, 3 * hidden),
        "up_b_h": (3 * hidden,), "mean_w": (hidden, latent), "mean_b": (latent,),
        "log_variance_w": (hidden, latent), "log_variance_b": (latent,),
        "root_w": (latent, hidden), "root_b": (hidden,),
        "down_w_o": (hidden, symbols), "down_b_o": (symbols,), "down_w_i": (symbols, 6 * hidden),
        "down_b_i": (6 * hidden,), "down_w_h": (hidden, 6 * hidden), "down_b_h": (6 * hidden,),
    }  # fmt: skip
