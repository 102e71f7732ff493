"""The HVAE as the paper defines it: one tree at a time, one node at a time, with gradients by autograd.

Letters are the paper's: x a symbol, one-hot in the encoder and as probabilities in the decoder; h the code of a node;
r, u and n the reset gate, the update gate and the candidate; μ and σ the posterior of a tree, z a draw from it.
S is the number of symbols, H the hidden size, L that of the latent space; G is H in the encoder, 2·H in the decoder.

The compiled kernels and `network` compute the same for many trees at once, and are tested against this module.
Choose it by `TrainConfig(backend="reference")`, for a trained model `dataclasses.replace(model, backend="reference")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.generators.base import Codes, tempered
from edhie.generators.config import Constraints, Mask, allowed_at


class Reference:
    """HVAE over a library with given weights, which are kept as (inputs, outputs), the three gates side by side."""

    def __init__(self, library: SymbolLibrary, weights: Mapping[str, Any]) -> None:
        self.library = library
        self.w = {name: torch.as_tensor(weight) for name, weight in weights.items()}

    def gates(self, cell: str, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return u and n of the cell "up" (GRU21) or "down" (GRU12)."""
        w_ir, w_iu, w_in = self.w[f"{cell}_w_i"].chunk(3, 1)  # (S, G) each
        b_ir, b_iu, b_in = self.w[f"{cell}_b_i"].chunk(3)  # (G,) each
        w_hr, w_hu, w_hn = self.w[f"{cell}_w_h"].chunk(3, 1)  # (2·H, H) each, in the decoder (H, 2·H)
        b_hr, b_hu, b_hn = self.w[f"{cell}_b_h"].chunk(3)  # (G,) each
        r = torch.sigmoid(x @ w_ir + b_ir + h @ w_hr + b_hr)  # (G,)
        u = torch.sigmoid(x @ w_iu + b_iu + h @ w_hu + b_hu)  # (G,)
        n = torch.tanh(x @ w_in + b_in + r * (h @ w_hn + b_hn))  # (G,)
        return u, n

    def gru21(self, x: Tensor, h_l: Tensor, h_r: Tensor) -> Tensor:
        """Return the code of a node from its symbol and the codes of its children."""
        u, n = self.gates("up", x, torch.cat([h_l, h_r]))  # (H,) each
        return (1 - u) * n + u / 2 * h_l + u / 2 * h_r  # (H,)

    def gru12(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return the codes of both children of a node from its symbol probabilities and its code."""
        u, n = self.gates("down", x, h)  # (2·H,) each
        d = (1 - u) * n + u * torch.cat([h, h])  # (2·H,)
        h_l, h_r = d.chunk(2)  # (H,) each
        return h_l, h_r

    def one_hot(self, expr: Expr) -> Tensor:
        """Return the symbol at the root."""
        x = torch.zeros_like(self.w["down_b_o"])  # (S,)
        x[self.library.id_of(expr.tokens[0])] = 1
        return x

    def code(self, expr: Expr) -> Tensor:
        """Return the code of a tree; missing children have zeros."""
        missing = torch.zeros_like(self.w["root_b"])  # (H,)
        h_l, h_r, *_ = [*(self.code(child) for child in expr.children), missing, missing]
        return self.gru21(self.one_hot(expr), h_l, h_r)  # (H,)

    def encode(self, forest: Forest) -> tuple[Tensor, Tensor]:
        """Return μ and log σ² of each tree."""
        h = torch.stack([self.code(expr) for expr in forest])  # (trees, H)
        mu = h @ self.w["mean_w"] + self.w["mean_b"]  # (trees, L)
        return mu, h @ self.w["log_variance_w"] + self.w["log_variance_b"]  # (trees, L)

    def scores(self, h: Tensor) -> Tensor:
        """Return the logits of a node's symbol."""
        return h @ self.w["down_w_o"] + self.w["down_b_o"]  # (S,)

    def decode(
        self, code: Codes, constraints: Constraints, temperature: float = 0.0, rng: np.random.Generator | None = None
    ) -> Expr:
        """Return the most probable tree of a code, (L,), or one drawn at a temperature, within constraints.

        The size limit is shared out depth first, in the fast path level by level: trees that reach it may differ.
        """
        allowed, nesting = constraints.masks(self.library)
        arities, room = self.library.arities.astype(np.int64), constraints.max_size - 1
        nothing = np.zeros((1, len(arities)), dtype=np.bool_)

        def subtree(h: Tensor, depth: int, barred: Mask) -> list[str]:
            nonlocal room
            scores = self.scores(h)  # (S,)
            rank = scores.numpy() if rng is None or temperature == 0 else tempered(scores.numpy(), temperature, rng)
            mask = allowed_at(allowed, nesting, arities, barred, only_leaves=depth == constraints.max_height)
            symbol = int(np.where(mask[0] & (arities <= room), rank, -np.inf).argmax())
            room -= int(arities[symbol])
            children = self.gru12(torch.softmax(scores, 0), h)[: int(arities[symbol])]
            below = (subtree(child, depth + 1, barred | nesting[symbol]) for child in children)
            return [self.library.names[symbol], *(token for tokens in below for token in tokens)]

        z = torch.as_tensor(code, dtype=self.w["root_w"].dtype)  # (L,)
        return Expr(self.library, subtree(z @ self.w["root_w"] + self.w["root_b"], 1, nothing))

    def reconstruction(self, expr: Expr, h: Tensor) -> Tensor:
        """Return the cross-entropy of a tree's symbols, along the tree itself, from the code of its root."""
        x = torch.softmax(self.scores(h), 0)  # (S,)
        loss = -torch.log(x @ self.one_hot(expr))  # ()
        for child, code in zip(expr.children, self.gru12(x, h), strict=False):
            loss = loss + self.reconstruction(child, code)
        return loss

    def losses(self, forest: Forest, noise: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the reconstruction loss of each tree, (trees,), and its divergence by dimension, (trees, L)."""
        mu, log_variance = self.encode(forest)
        epsilon = torch.randn(mu.shape, generator=noise, dtype=mu.dtype, device=mu.device)  # (trees, L)
        z = mu + epsilon * torch.exp(log_variance / 2)  # (trees, L)
        roots = z @ self.w["root_w"] + self.w["root_b"]  # (trees, H)
        errors = [self.reconstruction(expr, h) for expr, h in zip(forest, roots, strict=True)]
        # KL(N(μ, σ) ‖ N(0, I)); the paper prints it without its sign
        return torch.stack(errors), -0.5 * (1 + log_variance - mu**2 - torch.exp(log_variance))
