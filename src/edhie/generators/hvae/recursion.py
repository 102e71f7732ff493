"""The cells run over whole batches of trees: up for encoding, down for decoding.

Here in tensor operations, for any device; `compiled_recursion` does the same on the CPU in one
call a batch. Each pass keeps what its cells computed in buffers of one row a node, so that the
weights' gradients are one product over all nodes instead of one a level. Nothing waits for the device.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from edhie.generators.hvae.cells import gru12, gru12_backward, gru21, gru21_backward
from edhie.generators.hvae.compiled_recursion import CompiledDownwards, CompiledErrors, CompiledUpwards
from edhie.generators.hvae.layout import DownLayout, UpLayout


def upwards(layout: UpLayout, table: Tensor, w_h: Tensor, b_h: Tensor) -> Tensor:
    """Codes of the roots, (trees, hidden); `table` (symbols, 3·hidden) is W_i x + b_i for every one-hot x."""
    function = CompiledUpwards if table.is_cpu else Upwards
    roots: Tensor = function.apply(layout, table, w_h, b_h)
    return roots


def downwards(layout: DownLayout, roots: Tensor, *weights: Tensor) -> Tensor:
    """Logits (nodes, symbols) from root codes; the weights are W_o, b_o, W_i, b_i, W_h and b_h.

    The cell's input is the softmax of the node's own logits.
    """
    function = CompiledDownwards if roots.is_cpu else Downwards
    logits: Tensor = function.apply(layout, roots, *weights)
    return logits


def tree_errors(layout: DownLayout, logits: Tensor) -> Tensor:
    """By tree the cross-entropy of its nodes, (trees,)."""
    errors: Tensor = CompiledErrors.apply(layout, logits) if logits.is_cpu else tensor_errors(layout, logits)
    return errors


def tensor_errors(layout: DownLayout, logits: Tensor) -> Tensor:
    """`tree_errors` on any device."""
    nodes = nn.functional.cross_entropy(logits, _on(logits, layout.symbols), reduction="none")
    return nodes.new_zeros(len(layout.roots)).index_add(0, _on(logits, layout.trees), nodes)


class Upwards(torch.autograd.Function):
    """Trees to the codes of their roots."""

    @staticmethod
    def forward(ctx: Any, layout: UpLayout, table: Tensor, w_h: Tensor, b_h: Tensor) -> Tensor:
        """See `upwards`."""
        symbols, children, roots = _on(table, layout.symbols), _on(table, layout.children), _on(table, layout.roots)
        inner, hidden = len(symbols), w_h.shape[0] // 2
        codes = table.new_zeros(inner + len(table) + 1, hidden)
        none = table.new_zeros(len(table), 2 * hidden)
        codes[inner:-1], *leaves = gru21(table, none, w_h, b_h)
        i = table.index_select(0, symbols)
        kept = []
        for s, e in pairwise(layout.starts.tolist()):
            hh = codes.index_select(0, children[s:e].view(-1)).view(e - s, 2 * hidden)
            codes[s:e], *level = gru21(i[s:e], hh, w_h, b_h)
            kept.append((hh, *level))
        kept.append((none, *leaves))
        ctx.kept, ctx.layout = kept, (symbols, children, layout.starts.tolist(), roots)
        ctx.save_for_backward(w_h)
        return codes.index_select(0, roots)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Gradients of the input table and of the recurrent weights."""
        (g_roots,), (w_h,) = grads, ctx.saved_tensors
        symbols, children, starts, roots = ctx.layout
        inner, hidden = len(symbols), w_h.shape[0] // 2
        *levels, (none, *leaves) = ctx.kept
        rows = inner + len(none)
        g = g_roots.new_zeros(rows + 1, hidden).index_add_(0, roots, g_roots)
        g_i, g_c = g.new_empty(rows, 3 * hidden), g.new_empty(rows, 3 * hidden)
        for (s, e), (hh, ru, n, c_n) in zip(reversed(list(pairwise(starts))), reversed(levels), strict=True):
            g_i[s:e], g_c[s:e], g_hh = gru21_backward(g[s:e], hh, ru, n, c_n, w_h)
            g.index_add_(0, children[s:e].view(-1), g_hh.view(-1, hidden))
        g_i[inner:], g_c[inner:], _ = gru21_backward(g[inner:-1], none, leaves[0], leaves[1], leaves[2], w_h)
        g_table = g_i[inner:].index_add(0, symbols, g_i[:inner])
        hh = torch.cat([level[0] for level in ctx.kept])
        return None, g_table, torch.mm(hh.t(), g_c), g_c.sum(0)


class Downwards(torch.autograd.Function):
    """Root codes to the logits of every node of trees of a known shape."""

    @staticmethod
    def forward(
        ctx: Any, layout: DownLayout, root_codes: Tensor,
        w_o: Tensor, b_o: Tensor, w_i: Tensor, b_i: Tensor, w_h: Tensor, b_h: Tensor,
    ) -> Tensor:  # fmt: skip
        """See `downwards`."""
        children, roots = _on(w_o, layout.children), _on(w_o, layout.roots)
        starts, total, hidden = layout.starts.tolist(), len(layout.symbols), w_o.shape[0]
        codes = w_o.new_zeros(total + 1, hidden).index_copy_(0, roots, root_codes)
        logits = w_o.new_empty(total, w_o.shape[1])
        kept = []
        for s, e in pairwise(starts):
            torch.addmm(b_o, codes[s:e], w_o, out=logits[s:e])
            x = torch.softmax(logits[s:e], 1)
            d, *gates = gru12(torch.addmm(b_i, x, w_i), codes[s:e], w_h, b_h)
            codes.index_copy_(0, children[s:e].view(-1), d.view(-1, hidden))
            kept.append((x, *gates))
        torch.addmm(b_o, codes[starts[-1] : total], w_o, out=logits[starts[-1] :])
        ctx.kept, ctx.layout, ctx.codes = kept, (children, starts, roots), codes
        ctx.save_for_backward(w_o, w_i, w_h)
        return logits

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Gradients of the root codes and of all weights."""
        children, starts, roots = ctx.layout
        w_o, w_i, w_h = ctx.saved_tensors
        codes, hidden, inner = ctx.codes, w_o.shape[0], starts[-1]
        g_logits = grads[0].clone()
        g = torch.zeros_like(codes)
        torch.mm(g_logits, w_o.t(), out=g[:-1])
        g_i, g_c = g.new_empty(inner, 6 * hidden), g.new_empty(inner, 6 * hidden)
        for (s, e), (x, ru, n, c_n) in zip(reversed(list(pairwise(starts))), reversed(ctx.kept), strict=True):
            g_d = g.index_select(0, children[s:e].view(-1)).view(e - s, 2 * hidden)
            g_i[s:e], g_c[s:e], g_h = gru12_backward(g_d, codes[s:e], ru, n, c_n, w_h)
            g_x = torch.mm(g_i[s:e], w_i.t())
            g_x *= x
            g_x -= x * g_x.sum(1, keepdim=True)  # through the softmax
            g_logits[s:e] += g_x
            g[s:e] += torch.addmm(g_h, g_x, w_o.t())
        x = torch.cat([level[0] for level in ctx.kept]) if inner else g.new_zeros(0, w_o.shape[1])
        return (
            None, g.index_select(0, roots), torch.mm(codes[:-1].t(), g_logits), g_logits.sum(0),
            torch.mm(x.t(), g_i), g_i.sum(0), torch.mm(codes[:inner].t(), g_c), g_c.sum(0),
        )  # fmt: skip


def _on(like: Tensor, array: object) -> Tensor:
    return torch.as_tensor(array, device=like.device)
