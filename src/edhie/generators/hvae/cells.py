"""The two cells of the paper, forward and backward, on rows of nodes.

The letters are the paper's: x the input, h a code, r and u the reset and update gates, n the
candidate. `i` is the part of the gates that comes from the input, W_i x + b_i, and `c` the part
that comes from the code, W_h h + b_h; the three gates lie side by side, r first, u second, n third.
The gradients are written by hand: they reuse what the forward pass has, and need no graph.
"""

from __future__ import annotations

import torch
from torch import Tensor


def gates(i: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """(r, u) side by side and n, for gates of any width: i, c (nodes, 3·width)."""
    width = i.shape[1] // 3
    ru = torch.sigmoid(i[:, : 2 * width] + c[:, : 2 * width])  # (nodes, 2·width)
    n = torch.tanh(torch.addcmul(i[:, 2 * width :], ru[:, :width], c[:, 2 * width :]))  # (nodes, width)
    return ru, n


def gates_backward(g_u: Tensor, g_n: Tensor, ru: Tensor, n: Tensor, c_n: Tensor) -> tuple[Tensor, Tensor]:
    """From the gradients at u and n to those at i and c; both (nodes, 3·width)."""
    width = n.shape[1]
    g_i = torch.empty(n.shape[0], 3 * width, dtype=n.dtype, device=n.device)
    r = ru[:, :width]
    g_n_in = torch.addcmul(g_n, g_n, n * n, value=-1.0)  # through tanh
    g_i[:, :width] = g_n_in * c_n
    g_i[:, width : 2 * width] = g_u
    g_i[:, : 2 * width] *= torch.addcmul(ru, ru, ru, value=-1.0)  # through the sigmoid
    g_i[:, 2 * width :] = g_n_in
    g_c = g_i.clone()
    g_c[:, 2 * width :] *= r
    return g_i, g_c


def gru21(i: Tensor, hh: Tensor, w_h: Tensor, b_h: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """GRU21: the code h of a node from its children's, hh = h_l ‖ h_r (nodes, 2·hidden)."""
    hidden = hh.shape[1] // 2
    c = torch.addmm(b_h, hh, w_h)  # (nodes, 3·hidden)
    ru, n = gates(i, c)
    mean = 0.5 * (hh[:, :hidden] + hh[:, hidden:])
    h = torch.lerp(n, mean, ru[:, hidden:])  # (1 - u)·n + u/2·h_l + u/2·h_r
    return h, ru, n, c[:, 2 * hidden :]


def gru21_backward(
    g: Tensor, hh: Tensor, ru: Tensor, n: Tensor, c_n: Tensor, w_h: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """From the gradient at h to those at i, at c and at hh."""
    hidden = n.shape[1]
    u = ru[:, hidden:]
    g_mean = g * u
    mean = 0.5 * (hh[:, :hidden] + hh[:, hidden:])
    g_i, g_c = gates_backward(g * (mean - n), g - g_mean, ru, n, c_n)
    g_hh = torch.mm(g_c, w_h.t())  # (nodes, 2·hidden)
    g_mean *= 0.5
    g_hh[:, :hidden] += g_mean
    g_hh[:, hidden:] += g_mean
    return g_i, g_c, g_hh


def gru12(i: Tensor, h: Tensor, w_h: Tensor, b_h: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """GRU12: d = h_l ‖ h_r (nodes, 2·hidden), the codes of both children, from their parent's h."""
    c = torch.addmm(b_h, h, w_h)  # (nodes, 6·hidden)
    ru, n = gates(i, c)
    width = n.shape[1]
    d = torch.lerp(n, h.repeat(1, 2), ru[:, width:])  # (1 - u)·n + u·(h ‖ h)
    return d, ru, n, c[:, 2 * width :]


def gru12_backward(
    g: Tensor, h: Tensor, ru: Tensor, n: Tensor, c_n: Tensor, w_h: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """From the gradient at d to those at i, at c and at h."""
    width = n.shape[1]
    hidden = width // 2
    g_twice = g * ru[:, width:]  # (nodes, 2·hidden), at h ‖ h
    g_i, g_c = gates_backward(g * (h.repeat(1, 2) - n), g - g_twice, ru, n, c_n)
    g_h = torch.addmm(g_twice[:, :hidden], g_c, w_h.t())
    g_h += g_twice[:, hidden:]
    return g_i, g_c, g_h
