"""A trained HVAE, ready to use: encoding, decoding and sampling without torch.

The model itself is written down in `reference`. Here its recursions run level by level over many trees at once,
in compiled kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.base import (
    Codes,
    Decoded,
    Weights,
    checked_codes,
    checked_weights,
    prior_codes,
    refuse_numbers,
    tempered,
)
from edhie.generators.config import Backend, Constraints, allowed_at

if TYPE_CHECKING:
    from edhie.generators.hvae.reference import Reference

Ints = NDArray[np.int64]
Level = tuple[Ints, Ints, int]
"""One depth while decoding: symbols (nodes,); nodes with children, the binary ones first; how many are binary."""
ENCODED_AT_ONCE = 16_384  # it bounds the memory, which is by node
DECODED_AT_ONCE = 2048  # more gains nothing, and this stays in the processor's cache
BOUNDLESS = 2**62  # nodes: no tree has as many


@dataclass(frozen=True, eq=False)
class HVAE:
    """The hierarchical variational autoencoder of the paper; every code gives a valid expression."""

    kind: ClassVar[str] = "hvae"
    library: SymbolLibrary
    weights: Weights
    constraints: Constraints = field(default_factory=Constraints)
    backend: Backend = "fast"
    """Code that encodes and decodes: fast, or reference: the paper's recursion, node by node, which needs torch."""

    @property
    def latent_dim(self) -> int:
        """The number of dimensions of a code."""
        return int(self.weights["mean_w"].shape[1])

    @property
    def hidden_dim(self) -> int:
        """The size of a node's code inside the recursions."""
        return int(self.weights["mean_w"].shape[0])

    def constrained(self, constraints: Constraints) -> HVAE:
        """Return the same model, decoding within other constraints."""
        constraints.masks(self.library)  # a fault shows here, not at the first decoding
        return replace(self, constraints=constraints)

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        """Return mean and logarithm of the variance of each expression's code; both (expressions, latent_dim)."""
        from edhie.generators.hvae.layout import up_layout
        from edhie.generators.hvae.recursion_kernels import up_codes

        forest, w = forest.cast(self.library), self.weights
        refuse_numbers(forest, self.kind)
        if self.backend == "reference" and len(forest):
            mean, log_variance = self._reference.encode(forest)
            return mean.numpy(), log_variance.numpy()
        table = w["up_w_i"] + w["up_b_i"]  # (symbols, 3·hidden)
        roots = [np.zeros((0, self.hidden_dim), np.float32)]
        for s in range(0, len(forest), ENCODED_AT_ONCE):
            layout = up_layout(forest[s : s + ENCODED_AT_ONCE])
            roots.append(up_codes(layout, table, w["up_w_h"], w["up_b_h"])[layout.roots])
        h = np.concatenate(roots)  # (expressions, hidden)
        return h @ w["mean_w"] + w["mean_b"], h @ w["log_variance_w"] + w["log_variance_b"]

    def decode(
        self, codes: Codes, *, temperature: float = 0.0, per_code: int = 1, rng: np.random.Generator | None = None
    ) -> Decoded:
        """Decode the most probable symbol at every node, or one drawn at a temperature; always an expression."""
        codes = checked_codes(codes, self.latent_dim, temperature=temperature, per_code=per_code, rng=rng)
        if self.backend == "reference":
            exprs = (self._reference.decode(z, self.constraints, temperature, rng) for z in codes)
            parts = [Forest.from_exprs(exprs, self.library)]
        else:
            roots = codes @ self.weights["root_w"] + self.weights["root_b"]
            starts = range(0, max(len(roots), 1), DECODED_AT_ONCE)
            parts = [self._decoded(roots[s : s + DECODED_AT_ONCE], temperature, rng) for s in starts]
        return Decoded(Forest.concatenate(parts), np.arange(len(codes)) // per_code, len(codes))

    def _decoded(self, roots: NDArray[np.float32], temperature: float, rng: np.random.Generator | None) -> Forest:
        """Return a tree for each root code, depth by depth; masks leave only symbols that can end in time."""
        from edhie.generators.hvae.recursion_kernels import choose, next_codes

        w, limits = self.weights, self.constraints
        allowed, nesting = limits.masks(self.library)
        arities = self.library.arities.astype(np.int64)
        codes, trees = roots, np.arange(len(roots))  # (nodes, hidden) and (nodes,), of one depth
        barred = np.zeros((len(roots), len(arities)), np.bool_) if nesting.any() else None  # by symbols above
        room = np.full(len(roots), min(limits.max_size, BOUNDLESS) - 1, np.int64)  # nodes that a tree may still get
        levels: list[Level] = []
        for depth in range(1, limits.max_height + 1):
            logits = codes @ w["down_w_o"] + w["down_b_o"]  # (nodes, symbols)
            scores = logits if rng is None or temperature == 0 else tempered(logits, temperature, rng)
            mask = allowed_at(allowed, nesting, arities, barred, only_leaves=depth == limits.max_height)
            symbols = choose(scores, mask, trees, arities, room)
            parents = np.concatenate([np.flatnonzero(arities[symbols] == arity) for arity in (2, 1)])
            pairs = int(np.count_nonzero(arities[symbols] == 2))
            levels.append((symbols, parents, pairs))
            if len(parents) == 0:
                break
            codes = next_codes(codes, logits, parents, pairs, *self._gates)
            above = np.concatenate([parents, parents[:pairs]])  # of all left children, then of the right ones
            trees = trees[above]
            barred = None if barred is None else barred[above] | nesting[symbols[above]]
        tokens, offsets = _prefix_order(levels)
        return Forest(self.library, tokens, offsets, np.full(np.count_nonzero(self.library.has_slot[tokens]), np.nan))

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        """Return expressions decoded from codes drawn from the prior N(0, I)."""
        return self.decode(prior_codes(n, self.latent_dim, rng)).forest

    @cached_property
    def _gates(self) -> list[NDArray[np.float32]]:
        """The decoder's W_i, b_i, W_h and b_h by side, as the kernels take them."""
        from edhie.generators.hvae.recursion_kernels import by_side

        return [by_side(self.weights[name]) for name in ("down_w_i", "down_b_i", "down_w_h", "down_b_h")]

    @cached_property
    def _reference(self) -> Reference:
        from edhie.generators.hvae.reference import Reference

        return Reference(self.library, self.weights)

    def settings(self) -> dict[str, Any]:
        """Return nothing: library and weights are all there is."""
        return {}

    @classmethod
    def restored(cls, library: SymbolLibrary, weights: Weights, settings: Mapping[str, Any]) -> HVAE:
        """Return the model of these weights, which must fit the library."""
        try:
            hidden, latent = weights["mean_w"].shape
        except (KeyError, ValueError) as error:
            raise GeneratorError("these are not the weights of a model of kind 'hvae'") from error
        return cls(library, checked_weights(weights, shapes(len(library), hidden, latent), cls.kind))


def _prefix_order(levels: list[Level]) -> tuple[NDArray[np.int16], Ints]:
    """Return tokens and offsets of trees whose nodes lie depth by depth.

    A depth has the left children of all parents of the depth above, then the right children of its first `pairs`.
    """
    sizes = [np.ones(len(symbols), np.int64) for symbols, _, _ in levels]  # of the subtree at each node
    for depth in range(len(levels) - 2, -1, -1):
        _, parents, pairs = levels[depth]
        sizes[depth][parents] += sizes[depth + 1][: len(parents)]
        sizes[depth][parents[:pairs]] += sizes[depth + 1][len(parents) :]
    offsets = np.concatenate([[0], np.cumsum(sizes[0])])
    places = [offsets[:-1]]  # of each node's token
    for (_, parents, pairs), below in zip(levels[:-1], sizes[1:], strict=True):
        left = places[-1][parents] + 1
        places.append(np.concatenate([left, left[:pairs] + below[:pairs]]))
    tokens = np.empty(offsets[-1], np.int16)
    tokens[np.concatenate(places)] = np.concatenate([symbols for symbols, _, _ in levels])
    return tokens, offsets


def shapes(symbols: int, hidden: int, latent: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all weights."""
    return {
        "up_w_i": (symbols, 3 * hidden), "up_b_i": (3 * hidden,), "up_w_h": (2 * hidden, 3 * hidden),
        "up_b_h": (3 * hidden,), "mean_w": (hidden, latent), "mean_b": (latent,),
        "log_variance_w": (hidden, latent), "log_variance_b": (latent,),
        "root_w": (latent, hidden), "root_b": (hidden,),
        "down_w_o": (hidden, symbols), "down_b_o": (symbols,), "down_w_i": (symbols, 6 * hidden),
        "down_b_i": (6 * hidden,), "down_w_h": (hidden, 6 * hidden), "down_b_h": (6 * hidden,),
    }  # fmt: skip
