"""Both recursions in tensor operations, all nodes of a level at once: the fast path on a GPU.

The letters are those of `reference`, which defines the model. `i` is the part of the gates that comes from the
input, W_i·x + b_i; the three gates lie side by side, r first, u second, n third.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from edhie.generators.hvae.layout import DownLayout, UpLayout


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
