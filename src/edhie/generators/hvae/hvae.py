"""A trained HVAE, ready to use: encoding, decoding and sampling in NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from edhie.errors import ExpressionError
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.base import Codes, Decoded
from edhie.generators.constraints import Constraints
from edhie.generators.hvae.inference import Weights, decode_roots, encode_roots

DECODED_AT_ONCE = 2048  # more gains nothing, and this stays in the processor's cache


@dataclass(frozen=True, eq=False)
class HVAE:
    """The hierarchical variational autoencoder of the paper; every code gives a valid expression."""

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

    def constrained(self, constraints: Constraints) -> HVAE:
        """The same model, decoding within other constraints."""
        constraints.masks(self.library)  # a fault shows here, not at the first decoding
        return replace(self, constraints=constraints)

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        """Mean and logarithm of the variance of each expression's code; both (expressions, latent_dim)."""
        forest = forest.cast(self.library)
        if len(forest) == 0:
            empty = np.zeros((0, self.latent_dim), dtype=np.float32)
            return empty, empty.copy()
        roots = encode_roots(self.weights, forest)
        w = self.weights
        return roots @ w["mean_w"] + w["mean_b"], roots @ w["log_variance_w"] + w["log_variance_b"]

    def decode(self, codes: Codes, *, temperature: float = 0.0, rng: np.random.Generator | None = None) -> Decoded:
        """One expression for each code: at every node the most probable symbol, or one drawn at a temperature."""
        codes = np.asarray(codes, dtype=np.float32)
        if codes.ndim != 2 or codes.shape[1] != self.latent_dim:
            raise ExpressionError(f"codes must have the shape (n, {self.latent_dim}), not {codes.shape}")
        w = self.weights
        roots = codes @ w["root_w"] + w["root_b"]
        parts = [
            decode_roots(
                w, roots[s : s + DECODED_AT_ONCE], self.library, self.constraints, temperature=temperature, rng=rng
            )
            for s in range(0, max(len(roots), 1), DECODED_AT_ONCE)
        ]
        return Decoded(Forest.concatenate(parts), np.arange(len(codes)), len(codes))

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Expressions decoded from codes drawn from the prior N(0, I)."""
        codes = rng.standard_normal((n, self.latent_dim), dtype=np.float32)
        return self.decode(codes).forest
