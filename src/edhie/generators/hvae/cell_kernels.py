"""Compiled softmax and gated cell of one node, forward and backward.

The letters are those of `reference`: i = W_i·x + b_i and c = W_h·h + b_h are the two parts of the gates (r, u, n). Both
cells end alike: (1 - u)·n + u·old, with the mean of the children (GRU21) or the parent (GRU12) as old.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit, jit_inline, jit_inner

Array = NDArray[Any]  # of float32, and in tests of float64


@jit_inline
def tanh_of(x: Any) -> Any:
    """Return tanh of a float32: a quotient of polynomials, right to 4e-7, which the compiler can vectorise."""
    x = min(max(x, np.float32(-9)), np.float32(9))
    y = x * x
    p = np.float32(2.04727409e-05) + y * np.float32(1.31853493e-08)
    p = np.float32(0.999999907) + y * (np.float32(0.133732492) + y * (np.float32(0.00348664139) + y * p))
    q = np.float32(0.000327147976) + y * np.float32(7.7031533e-07)
    q = np.float32(1) + y * (np.float32(0.467065462) + y * (np.float32(0.0258422099) + y * q))
    return x * p / q


@jit
def tanh(a: Array) -> None:
    """Apply tanh in place."""
    if a.itemsize != 4:
        for j in range(len(a)):
            a[j] = math.tanh(a[j])
        return
    for j in range(len(a)):
        a[j] = tanh_of(a[j])


@jit_inner
def softmax(logits: Array, x: Array) -> float:
    """Write the softmax of one row of logits into x; return the logarithm of the sum of their exponentials."""
    top = logits[0]
    for j in range(len(x)):
        top = max(top, logits[j])
    total = logits[0] - logits[0]
    for j in range(len(x)):
        x[j] = math.exp(logits[j] - top)
        total += x[j]
    for j in range(len(x)):
        x[j] /= total
    log_total: float = math.log(total) + top
    return log_total


@jit_inner
def cell(i: Array, c: Array, old: Array, n: Array, h: Array) -> None:
    """Write n and h of one node from i, c and old; c = (c_r, c_u, c_n) becomes (r, u, c_n)."""
    width = len(n)
    half = i.dtype.type(0.5)
    for j in range(2 * width):
        c[j] = half * (c[j] + i[j])
    tanh(c[: 2 * width])
    for j in range(2 * width):
        c[j] = half + half * c[j]  # the sigmoid
    for j in range(width):
        n[j] = i[2 * width + j] + c[j] * c[2 * width + j]
    tanh(n)
    for j in range(width):
        h[j] = n[j] + c[width + j] * (old[j] - n[j])


@jit_inner
def light_cell(i: Array, c: Array, old: Array, h: Array) -> None:
    """Do as `cell`, in float32, with nothing kept for the gradient: one loop, and half the time."""
    width = len(h)
    half = np.float32(0.5)
    for j in range(width):
        r = half + half * tanh_of(half * (c[j] + i[j]))
        u = half + half * tanh_of(half * (c[width + j] + i[width + j]))
        n = tanh_of(i[2 * width + j] + r * c[2 * width + j])
        h[j] = n + u * (old[j] - n)


@jit_inner
def cell_backward(g: Array, old: Array, c: Array, n: Array, g_i: Array, g_c: Array) -> None:
    """Write the gradients at i and c from g, the gradient at h; g becomes the gradient at old."""
    width = len(n)
    one = g.dtype.type(1)
    for j in range(width):
        r, u = c[j], c[width + j]
        g_n = g[j] * (one - u) * (one - n[j] * n[j])
        g_r = g_n * c[2 * width + j] * r * (one - r)
        g_u = g[j] * (old[j] - n[j]) * u * (one - u)
        g_i[j], g_i[width + j], g_i[2 * width + j] = g_r, g_u, g_n
        g_c[j], g_c[width + j], g_c[2 * width + j] = g_r, g_u, g_n * r
        g[j] *= u
