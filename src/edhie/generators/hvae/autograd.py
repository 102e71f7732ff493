"""The compiled recursions as functions that autograd knows: the fast path of training on the CPU.

The kernels compute values and the gradients of nodes; the gradients of weights are one product over all nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from edhie.generators.hvae import recursion_kernels as kernels
from edhie.generators.hvae.cell_kernels import Array
from edhie.generators.hvae.layout import DownLayout, UpLayout


class CompiledUpwards(torch.autograd.Function):
    """Codes of the roots, (trees, hidden), from trees; see `levels.upwards`."""

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
    """Logits of every node, (nodes, symbols), from the codes of the roots; see `levels.downwards`."""

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
    """Cross-entropy of each tree's nodes, (trees,), from logits; see `levels.tree_errors`."""

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
