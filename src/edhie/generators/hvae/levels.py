"""Both recursions in tensor operations, all nodes of a level at once: the fast path on a GPU.

The letters are those of `reference`, which defines the model. `i` is the part of the gates that comes from the
input, W_i·x + b_i; the three gates lie side by side, r first, u second, n third.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from edhie.generators.hvae.layout import DownLayout, UpLayout


def gates(i: Tensor, h: Tensor, w_h: Tensor, b_h: Tensor) -> tuple[Tensor, Tensor]:
    """Return u and n, both (nodes, G), from i (nodes, 3·G) and the codes h (nodes, H or 2·H)."""
    i_r, i_u, i_n = i.chunk(3, 1)
    c_r, c_u, c_n = torch.addmm(b_h, h, w_h).chunk(3, 1)
    return torch.sigmoid(i_u + c_u), torch.tanh(torch.addcmul(i_n, torch.sigmoid(i_r + c_r), c_n))


def gru21(i: Tensor, hh: Tensor, w_h: Tensor, b_h: Tensor) -> Tensor:
    """Return the codes of nodes, (nodes, H), from those of their children, hh = h_l ‖ h_r (nodes, 2·H)."""
    u, n = gates(i, hh, w_h, b_h)
    h_l, h_r = hh.chunk(2, 1)
    return torch.lerp(n, 0.5 * (h_l + h_r), u)  # (1 - u)·n + u/2·h_l + u/2·h_r


def gru12(i: Tensor, h: Tensor, w_h: Tensor, b_h: Tensor) -> Tensor:
    """Return the codes of both children, d = h_l ‖ h_r (nodes, 2·H), from those of their parents, h (nodes, H)."""
    u, n = gates(i, h, w_h, b_h)
    return torch.lerp(n, h.repeat(1, 2), u)  # (1 - u)·n + u·(h ‖ h)


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
    children, hidden = _on(roots, layout.children), roots.shape[1]
    codes = roots.new_zeros(len(layout.symbols) + 1, hidden).index_copy(0, _on(roots, layout.roots), roots)
    for s, e in pairwise(layout.starts.tolist()):
        h = codes[s:e]
        x = torch.softmax(torch.addmm(b_o, h, w_o), 1)
        d = gru12(torch.addmm(b_i, x, w_i), h, w_h, b_h)
        codes = codes.index_copy(0, children[s:e].view(-1), d.view(-1, hidden))
    return torch.addmm(b_o, codes[:-1], w_o)


def tree_errors(layout: DownLayout, logits: Tensor) -> Tensor:
    """Return the cross-entropy of each tree's nodes, (trees,)."""
    nodes = nn.functional.cross_entropy(logits, _on(logits, layout.symbols), reduction="none")
    return nodes.new_zeros(len(layout.roots)).index_add(0, _on(logits, layout.trees), nodes)


def _on(like: Tensor, array: object) -> Tensor:
    return torch.as_tensor(array, device=like.device)
