"""HVAE in training: weights and losses in PyTorch.

The model is written down in `reference`, which `backend="reference"` trains with. The fast path lays trees out by
level: on the CPU a batch goes through compiled kernels (`Compiled…`), on a GPU through tensor operations.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from edhie.expr import Forest, SymbolLibrary
from edhie.generators.base import refuse_numbers
from edhie.generators.config import Backend
from edhie.generators.hvae import recursion_kernels as kernels
from edhie.generators.hvae.cell_kernels import Array
from edhie.generators.hvae.hvae import HVAE, shapes
from edhie.generators.hvae.layout import DownLayout, UpLayout, down_layout, up_layout
from edhie.generators.hvae.reference import Reference
from edhie.generators.network import Network, divergence, sampled


class HVAENetwork(Network):
    """Encoder with GRU21, a Gaussian latent space, decoder with GRU12.

    Weights are kept as (inputs, outputs), the three gates side by side.
    """

    def __init__(self, library: SymbolLibrary, hidden: int, latent: int, backend: Backend = "fast") -> None:
        super().__init__()
        self.library, self.backend = library, backend
        for name, shape in shapes(len(library), hidden, latent).items():
            bound = 1 / math.sqrt(latent if name.startswith("root") else hidden)
            self.register_parameter(name, nn.Parameter(torch.empty(*shape).uniform_(-bound, bound)))

    @property
    def _weights(self) -> dict[str, Tensor]:
        return cast(dict[str, Tensor], self._parameters)  # `named_parameters` takes longer than a layer

    def prepare(self, forest: Forest) -> Forest:
        """Return the forest itself."""
        refuse_numbers(forest, HVAE.kind)
        return forest

    def losses(self, batch: Forest, noise: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the cross-entropy of each tree's nodes, and its divergence by dimension."""
        if self.backend == "reference":
            return Reference(self.library, self._weights).losses(batch, noise)
        down = down_layout(batch)
        mean, log_variance = self.encode(up_layout(batch))
        logits = self.decode(sampled(mean, log_variance, noise), down)
        errors = CompiledErrors.apply if logits.is_cpu else tree_errors
        return errors(down, logits), divergence(mean, log_variance)

    def encode(self, layout: UpLayout) -> tuple[Tensor, Tensor]:
        """Return mean and logarithm of the variance of each tree's code; (trees, latent)."""
        w = self._weights
        table = w["up_w_i"] + w["up_b_i"]  # (symbols, 3·hidden): W_i x + b_i for every one-hot x
        h = (CompiledUpwards.apply if table.is_cpu else upwards)(
            layout, table, w["up_w_h"], w["up_b_h"]
        )  # (trees, hidden)
        mean = torch.addmm(w["mean_b"], h, w["mean_w"])
        return mean, torch.addmm(w["log_variance_b"], h, w["log_variance_w"])

    def decode(self, z: Tensor, layout: DownLayout) -> Tensor:
        """Return the logits of every node, in the layout's order, for trees of the layout's shape; (nodes, symbols)."""
        w = self._weights
        h = torch.addmm(w["root_b"], z, w["root_w"])  # (trees, hidden)
        weights = (w[f"down_{name}"] for name in ("w_o", "b_o", "w_i", "b_i", "w_h", "b_h"))
        logits: Tensor = (CompiledDownwards.apply if h.is_cpu else downwards)(layout, h, *weights)
        return logits

    def trained(self, weights: dict[str, NDArray[np.float32]]) -> HVAE:
        """Return the model for use."""
        return HVAE(self.library, weights)


# -- the compiled recursions as functions that autograd knows --------------------------


class CompiledUpwards(torch.autograd.Function):
    """Codes of the roots, (trees, hidden), from trees; see `upwards`."""

    @staticmethod
    def forward(ctx: Any, layout: UpLayout, table: Tensor, w_h: Tensor, b_h: Tensor) -> Tensor:
        """Return the codes of the roots."""
        codes, *kept = kernels.up(layout, table.numpy(), w_h.numpy(), b_h.numpy())
        ctx.layout, ctx.kept = layout, kept
        ctx.save_for_backward(w_h)
        return torch.from_numpy(codes[layout.roots])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of the input table and of the recurrent weights."""
        layout, (hh, c, n), (w_h,) = ctx.layout, ctx.kept, ctx.saved_tensors
        w_l, w_r = (np.ascontiguousarray(half.T) for half in np.split(w_h.numpy(), 2))
        found = kernels.up_backward(grads[0].contiguous().numpy(), layout, hh, c, n, w_l, w_r)
        g_table, g_c = map(torch.from_numpy, found)
        return None, g_table, torch.mm(torch.from_numpy(hh).t(), g_c), g_c.sum(0)


class CompiledDownwards(torch.autograd.Function):
    """Logits of every node, (nodes, symbols), from the codes of the roots; see `downwards`."""

    @staticmethod
    def forward(
        ctx: Any, layout: DownLayout, root_codes: Tensor,
        w_o: Tensor, b_o: Tensor, w_i: Tensor, b_i: Tensor, w_h: Tensor, b_h: Tensor,
    ) -> Tensor:  # fmt: skip
        """Return the logits."""
        sides = (kernels.by_side(each.numpy()) for each in (w_i, b_i, w_h, b_h))
        logits, *kept = kernels.down(
            layout, root_codes.contiguous().numpy(), len(b_o),
            kernels.padded(w_o.numpy()), kernels.padded(b_o.numpy()), *sides,
        )  # fmt: skip
        ctx.layout, ctx.kept = layout, kept
        ctx.save_for_backward(w_o, w_i, w_h)
        return torch.from_numpy(logits)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of the root codes and of all weights."""
        layout, (code_rows, x_rows, c_l, n_l, c_r, n_r), (w_o, w_i, w_h) = ctx.layout, ctx.kept, ctx.saved_tensors
        codes, x = torch.from_numpy(code_rows), torch.from_numpy(x_rows)
        g_logits = grads[0].clone(memory_format=torch.contiguous_format)
        g = torch.zeros_like(codes)
        torch.mm(g_logits, w_o.t(), out=g[:-1])
        found = kernels.down_backward(
            layout, g_logits.numpy(), g.numpy(), code_rows, x_rows, c_l, n_l, c_r, n_r,
            w_o.numpy().T.copy(), kernels.padded(_transposed(w_i.numpy())), _transposed(w_h.numpy()),
        )  # fmt: skip
        g_roots, g_il, g_cl, g_ir, g_cr = map(torch.from_numpy, found)
        inner = codes[: len(x)]
        before = np.cumsum(layout.binary) - layout.binary
        rows = np.repeat(layout.starts[:-1] - before, layout.binary) + np.arange(layout.binary.sum())
        pairs = torch.from_numpy(rows)  # the binary nodes
        x_pairs, inner_pairs = x.index_select(0, pairs), inner.index_select(0, pairs)
        return (
            None, g_roots, torch.mm(codes[:-1].t(), g_logits), g_logits.sum(0),
            _joined(torch.mm(x.t(), g_il), torch.mm(x_pairs.t(), g_ir)), _joined(g_il.sum(0), g_ir.sum(0)),
            _joined(torch.mm(inner.t(), g_cl), torch.mm(inner_pairs.t(), g_cr)), _joined(g_cl.sum(0), g_cr.sum(0)),
        )  # fmt: skip


class CompiledErrors(torch.autograd.Function):
    """Cross-entropy of each tree's nodes, (trees,), from logits; see `tree_errors`."""

    @staticmethod
    def forward(ctx: Any, layout: DownLayout, logits: Tensor) -> Tensor:
        """Return the cross-entropy of each tree."""
        ctx.layout = layout
        errors, ctx.x = kernels.cross_entropy(logits.numpy(), layout.symbols, layout.trees, len(layout.roots))
        return torch.from_numpy(errors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradient of the logits."""
        g = grads[0].contiguous().numpy()
        return None, torch.from_numpy(kernels.cross_entropy_backward(g, ctx.x, ctx.layout.symbols, ctx.layout.trees))


def _transposed(w: Array) -> Array:
    """Return weights (inputs, 6·hidden) by side and transposed: (2, 3·hidden, inputs)."""
    return np.ascontiguousarray(kernels.by_side(w).transpose(0, 2, 1))


def _joined(left: Tensor, right: Tensor) -> Tensor:
    """Undo `by_side`, for gradients."""
    hidden = left.shape[-1] // 3
    sides = [side.view(*side.shape[:-1], 3, hidden) for side in (left, right)]
    return torch.stack(sides, dim=-2).view(*left.shape[:-1], 6 * hidden)


# -- both recursions in tensor operations, all nodes of a level at once ------------------

# The letters are those of `reference`, which defines the model. `i` is the part of the gates that comes from the input,
# W_i·x + b_i; the three gates lie side by side, r first, u second, n third.


def gru(i: Tensor, c: Tensor, h: Tensor) -> Tensor:
    """Return (1 - u)·n + u·h, (nodes, G), from i and c = W_h·h + b_h, both (nodes, 3·G), and the codes h (nodes, G)."""
    if i.is_cuda:  # the same in one kernel; most of the time goes into starting kernels
        fused: Tensor = torch.ops.aten._thnn_fused_gru_cell(i, c, h)[0]
        return fused
    (i_r, i_u, i_n), (c_r, c_u, c_n) = i.chunk(3, 1), c.chunk(3, 1)
    n = torch.tanh(torch.addcmul(i_n, torch.sigmoid(i_r + c_r), c_n))
    return torch.lerp(n, h, torch.sigmoid(i_u + c_u))


def gru21(i: Tensor, hh: Tensor, w_h: Tensor, b_h: Tensor) -> Tensor:
    """Return the codes of nodes, (nodes, H), from those of their children, hh = h_l ‖ h_r (nodes, 2·H)."""
    h_l, h_r = hh.chunk(2, 1)
    return gru(i, torch.addmm(b_h, hh, w_h), 0.5 * (h_l + h_r))


def gru12(i: Tensor, h: Tensor, w_h: Tensor, b_h: Tensor) -> Tensor:
    """Return the codes of both children, d = h_l ‖ h_r (nodes, 2·H), from those of their parents, h (nodes, H)."""
    return gru(i, torch.addmm(b_h, h, w_h), h.repeat(1, 2))


def upwards(layout: UpLayout, table: Tensor, w_h: Tensor, b_h: Tensor) -> Tensor:
    """Return the codes of the roots, (trees, H); `table` (S, 3·H) is i for every one-hot x."""
    symbols, children = _on(table, layout.symbols), _on(table, layout.children)
    inner, hidden = len(symbols), w_h.shape[0] // 2
    codes = table.new_zeros(inner + len(table) + 1, hidden)
    codes[inner:-1] = gru21(table, table.new_zeros(len(table), 2 * hidden), w_h, b_h)  # leaves, by symbol
    i = table.index_select(0, symbols)
    for s, e in pairwise(layout.starts.tolist()):
        hh = codes.index_select(0, children[s:e].view(-1)).view(e - s, 2 * hidden)
        codes[s:e] = gru21(i[s:e], hh, w_h, b_h)
    return codes.index_select(0, _on(table, layout.roots))


def downwards(
    layout: DownLayout, roots: Tensor, w_o: Tensor, b_o: Tensor, w_i: Tensor, b_i: Tensor, w_h: Tensor, b_h: Tensor
) -> Tensor:
    """Return the logits of all nodes, (nodes, S), from the codes of the roots, (trees, H)."""
    made = np.concatenate([layout.roots, layout.children.ravel()])  # rows in the order in which their codes are made
    places = np.empty(len(layout.symbols) + 1, np.int64)
    places[made] = np.arange(len(made))
    order, hidden = _on(roots, places), roots.shape[1]
    codes, before = [roots], 0  # level by level; codes made before the last level
    for s, e in pairwise(layout.starts.tolist()):
        h = codes[-1].index_select(0, order[s:e] - before)  # a parent is in the level before
        x = torch.softmax(torch.addmm(b_o, h, w_o), 1)
        d = gru12(torch.addmm(b_i, x, w_i), h, w_h, b_h)
        before += len(codes[-1])
        codes.append(d.view(-1, hidden))
    return torch.addmm(b_o, torch.cat(codes).index_select(0, order[:-1]), w_o)


def tree_errors(layout: DownLayout, logits: Tensor) -> Tensor:
    """Return the cross-entropy of each tree's nodes, (trees,)."""
    nodes = nn.functional.cross_entropy(logits, _on(logits, layout.symbols), reduction="none")
    return nodes.new_zeros(len(layout.roots)).index_add(0, _on(logits, layout.trees), nodes)


def _on(like: Tensor, array: object) -> Tensor:
    return torch.as_tensor(array, device=like.device)
