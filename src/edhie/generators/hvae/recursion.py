"""The cells run over whole batches of trees: up for encoding, down for decoding.

Each pass keeps what its cells computed in buffers of one row a node, so that the weights'
gradients are one product over all nodes instead of one a level.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from edhie.generators.hvae.cells import gru12, gru12_backward, gru21, gru21_backward


class Upwards(torch.autograd.Function):
    """Trees to the codes of their roots.

    A leaf's code depends on its symbol alone, so leaves are computed once a symbol.
    """

    @staticmethod
    def forward(
        ctx: Any, symbols: Tensor, children: Tensor, starts: list[int], roots: Tensor,
        i_table: Tensor, w_h: Tensor, b_h: Tensor,
    ) -> Tensor:  # fmt: skip
        """`i_table` (symbols, 3·hidden) is W_i x + b_i for every one-hot x."""
        total, leaves = len(symbols), starts[1]
        hidden = w_h.shape[0] // 2
        codes = i_table.new_empty(total + 1, hidden)
        codes[total] = 0
        none = i_table.new_zeros(len(i_table), 2 * hidden)
        leaf_codes, *leaf_kept = gru21(i_table, none, w_h, b_h)
        torch.index_select(leaf_codes, 0, symbols[:leaves], out=codes[:leaves])
        i = i_table.index_select(0, symbols[leaves:])
        kept = []
        for s, e in pairwise(starts[1:]):
            hh = codes.index_select(0, children[s - leaves : e - leaves].view(-1)).view(e - s, 2 * hidden)
            codes[s:e], *level = gru21(i[s - leaves : e - leaves], hh, w_h, b_h)
            kept.append((hh, *level))
        ctx.kept, ctx.leaf_kept, ctx.none = kept, leaf_kept, none
        ctx.layout = symbols, children, starts, roots
        ctx.save_for_backward(i_table, w_h)
        return codes.index_select(0, roots)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Gradients of the input table and of the recurrent weights."""
        (g_roots,) = grads
        symbols, children, starts, roots = ctx.layout
        i_table, w_h = ctx.saved_tensors
        total, leaves = len(symbols), starts[1]
        hidden = w_h.shape[0] // 2
        g = g_roots.new_zeros(total + 1, hidden)
        g.index_copy_(0, roots, g_roots)
        g_i = g.new_empty(total - leaves, 3 * hidden)
        g_c = g.new_empty(total - leaves, 3 * hidden)
        spans = list(pairwise(starts[1:]))
        for (s, e), (hh, ru, n, c_n) in zip(reversed(spans), reversed(ctx.kept), strict=True):
            a, b = s - leaves, e - leaves
            g_i[a:b], g_c[a:b], g_hh = gru21_backward(g[s:e], hh, ru, n, c_n, w_h)
            # every node but a root is one parent's child, so its gradient is set, not added to
            g.index_copy_(0, children[a:b].view(-1), g_hh.view(-1, hidden))
        g_leaf = g.new_zeros(len(i_table), hidden).index_add_(0, symbols[:leaves], g[:leaves])
        ru, n, c_n = ctx.leaf_kept
        g_table, g_c_leaf, _ = gru21_backward(g_leaf, ctx.none, ru, n, c_n, w_h)
        g_table.index_add_(0, symbols[leaves:], g_i)
        g_b = g_c_leaf.sum(0)
        if total == leaves:
            return None, None, None, None, g_table, torch.zeros_like(w_h), g_b
        hh = torch.cat([level[0] for level in ctx.kept])
        return None, None, None, None, g_table, torch.mm(hh.t(), g_c), g_b + g_c.sum(0)


class Downwards(torch.autograd.Function):
    """Root codes to the logits of every node of trees of a known shape."""

    @staticmethod
    def forward(
        ctx: Any, roots: Tensor, children: Tensor, starts: list[int], inner: list[int], binary: list[int],
        w_o: Tensor, b_o: Tensor, w_i: Tensor, b_i: Tensor, w_h: Tensor, b_h: Tensor,
    ) -> Tensor:  # fmt: skip
        """Logits (nodes, symbols); the cell's input is the softmax of the node's own logits."""
        total, hidden = starts[-1], roots.shape[1]
        codes = roots.new_empty(total, hidden)
        codes[: starts[1]] = roots
        logits = roots.new_empty(total, w_o.shape[1])
        kept, done = [], 0
        for level, (s, e) in enumerate(pairwise(starts)):
            torch.addmm(b_o, codes[s:e], w_o, out=logits[s:e])
            m, two = inner[level], binary[level]
            if m == 0:
                continue
            x = torch.softmax(logits[s : s + m], 1)
            h = codes[s : s + m]
            d, *gates = gru12(torch.addmm(b_i, x, w_i), h, w_h, b_h)
            rows = children[done : done + m]
            codes.index_copy_(0, rows[:, 0], d[:, :hidden])
            codes.index_copy_(0, rows[:two, 1], d[:two, hidden:])
            kept.append((x, *gates))
            done += m
        ctx.kept, ctx.layout, ctx.codes = kept, (children, starts, inner, binary), codes
        ctx.save_for_backward(w_o, w_i, w_h)
        return logits

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Gradients of the root codes and of all weights."""
        (g_logits,) = grads
        g_logits = g_logits.clone()
        children, starts, inner, binary = ctx.layout
        w_o, w_i, w_h = ctx.saved_tensors
        codes = ctx.codes
        hidden = codes.shape[1]
        m_total = len(children)
        g = torch.empty_like(codes)
        g_i, g_c = g.new_empty(m_total, 6 * hidden), g.new_empty(m_total, 6 * hidden)
        done = m_total
        kept = list(ctx.kept)
        for level in range(len(inner) - 1, -1, -1):
            s, e, m, two = starts[level], starts[level + 1], inner[level], binary[level]
            g_h = None
            if m:
                x, ru, n, c_n = kept.pop()
                a, b = done - m, done
                done = a
                rows = children[a:b]
                g_d = g.new_zeros(m, 2 * hidden)
                g_d[:, :hidden] = g.index_select(0, rows[:, 0])
                g_d[:two, hidden:] = g.index_select(0, rows[:two, 1])
                g_i[a:b], g_c[a:b], g_h = gru12_backward(g_d, codes[s : s + m], ru, n, c_n, w_h)
                g_x = torch.mm(g_i[a:b], w_i.t())
                g_x *= x
                g_logits[s : s + m] += g_x - x * g_x.sum(1, keepdim=True)  # through the softmax
            torch.mm(g_logits[s:e], w_o.t(), out=g[s:e])
            if g_h is not None:
                g[s : s + m] += g_h
        g_w_o, g_b_o = torch.mm(codes.t(), g_logits), g_logits.sum(0)
        layouts = (None, None, None, None)
        if m_total == 0:
            zeros = (torch.zeros_like(w_i), w_i.new_zeros(6 * hidden), torch.zeros_like(w_h), w_h.new_zeros(6 * hidden))
            return g[: starts[1]], *layouts, g_w_o, g_b_o, *zeros
        x = torch.cat([level[0] for level in ctx.kept])
        h = torch.cat([codes[s : s + m] for s, m in zip(starts[:-1], inner, strict=True)])
        return (
            g[: starts[1]], *layouts, g_w_o, g_b_o,
            torch.mm(x.t(), g_i), g_i.sum(0), torch.mm(h.t(), g_c), g_c.sum(0),
        )  # fmt: skip
