"""HVAE's two recursions as compiled loops: the fast path on the CPU, in training and in use.

The model is written down in `reference`; letters are those of `cell_kernels`. At these sizes a tensor operation costs
more than its arithmetic, so a whole batch goes through in one call. What is missing is not computed: a leaf's code is
that of its symbol, and a unary node has no right side. GRU12 is two cells of the usual width, one a side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import copy_to, jit, jit_inner
from edhie.generators.hvae.cell_kernels import Array, add_product, affine, cell, cell_backward, light_cell, softmax
from edhie.generators.hvae.layout import DownLayout, UpLayout

Ints = NDArray[np.int64]
VECTOR = 16  # a loop of fewer steps is not vectorised
BLOCK = 64  # rows whose gates stay in the processor's cache


@jit_inner
def up_gates(
    codes: Array, first: int, both: int, last: int, children: Ints, w_h: Array, b_h: Array, hh: Array, c: Array
) -> None:
    """Write GRU21's hh and c for the nodes first … last, of which those before `both` are binary."""
    hidden, count, pairs = codes.shape[1], last - first, both - first
    for k in range(count):
        left, right = codes[children[first + k, 0]], codes[children[first + k, 1]]
        for j in range(hidden):  # to assign a row at once takes twice the time
            hh[k, j], hh[k, hidden + j] = left[j], right[j]
    affine(hh[:count, :hidden], w_h[:hidden], b_h, c[:count])
    add_product(hh[:pairs, hidden:], w_h[hidden:], c[:pairs])


@jit_inner
def halfway(hh: Array, mean: Array) -> None:
    """Write the mean of the codes of one node's children."""
    hidden, half = len(mean), hh.dtype.type(0.5)
    for j in range(hidden):
        mean[j] = half * (hh[j] + hh[hidden + j])


@jit_inner
def leaf_codes(codes: Array, table: Array, b_h: Array, c: Array, n: Array) -> None:
    """Write the code of a leaf, GRU21 without children, for every symbol."""
    codes[:] = 0
    for symbol in range(len(table)):
        copy_to(c[symbol], b_h)
        cell(table[symbol], c[symbol], codes[symbol], n[symbol], codes[symbol])


@jit
def up(layout: UpLayout, table: Array, w_h: Array, b_h: Array) -> tuple[Array, Array, Array, Array]:
    """Return the codes (rows, hidden) of an `UpLayout`; and for the gradient hh = h_l ‖ h_r, c and n of each row.

    `table` (symbols, 3·hidden) is W_i x + b_i for every one-hot x.
    """
    hidden, inner = len(w_h) // 2, len(layout.symbols)
    rows = inner + len(table)
    codes = np.empty((rows + 1, hidden), table.dtype)
    hh, n = np.empty((rows, 2 * hidden), table.dtype), np.empty((rows, hidden), table.dtype)
    c = np.empty((rows, 3 * hidden), table.dtype)
    hh[inner:] = 0
    leaf_codes(codes[inner:], table, b_h, c[inner:], n[inner:])
    for level in range(len(layout.binary)):
        first = layout.starts[level]
        both, last = first + layout.binary[level], layout.starts[level + 1]
        up_gates(codes, first, both, last, layout.children, w_h, b_h, hh[first:last], c[first:last])
        for row in range(first, last):
            halfway(hh[row], codes[row])  # which holds the mean before it holds the code
            cell(table[layout.symbols[row]], c[row], codes[row], n[row], codes[row])
    return codes, hh, c, n


@jit
def up_codes(layout: UpLayout, table: Array, w_h: Array, b_h: Array) -> Array:
    """Return the codes of `up` alone, in float32: nothing is kept, and so many rows at once stay in the cache."""
    hidden, inner = len(w_h) // 2, len(layout.symbols)
    codes = np.empty((inner + len(table) + 1, hidden), table.dtype)
    block = max(BLOCK, len(table))
    hh, n = np.empty((block, 2 * hidden), table.dtype), np.empty((block, hidden), table.dtype)
    c, mean = np.empty((block, 3 * hidden), table.dtype), np.empty(hidden, table.dtype)
    leaf_codes(codes[inner:], table, b_h, c, n)
    for level in range(len(layout.binary)):
        start, end = layout.starts[level], layout.starts[level + 1]
        for first in range(start, end, BLOCK):
            last = min(first + BLOCK, end)
            both = min(max(start + layout.binary[level], first), last)
            up_gates(codes, first, both, last, layout.children, w_h, b_h, hh, c)
            for k in range(last - first):
                halfway(hh[k], mean)
                light_cell(table[layout.symbols[first + k]], c[k], mean, codes[first + k])
    return codes


@jit_inner
def hand_down(g: Array, g_c: Array, w: Array, children: Ints, first: int, last: int, room: Array) -> None:
    """Add to the gradients at the children of the nodes first … last what comes from c and from the mean."""
    room[first:last] = g[first:last]
    add_product(g_c[first:last], w, room[first:last])
    for row in range(first, last):
        g[children[row]] += room[row]


@jit
def up_backward(
    g_roots: Array, layout: UpLayout, hh: Array, c: Array, n: Array, w_l: Array, w_r: Array
) -> tuple[Array, Array]:
    """Return the gradients at the table and, row by row, at c; w_l and w_r are W_h's halves, transposed."""
    (rows, hidden), inner = n.shape, len(layout.symbols)
    g = np.zeros((rows + 1, hidden), n.dtype)
    for tree in range(len(layout.roots)):
        g[layout.roots[tree]] += g_roots[tree]
    g_table = np.zeros((rows - inner, 3 * hidden), n.dtype)
    g_c = np.empty_like(c)
    g_i = np.empty(3 * hidden, n.dtype)
    mean = np.zeros(hidden, n.dtype)
    half = n.dtype.type(0.5)
    g_children = np.empty((inner, hidden), n.dtype)
    for level in range(len(layout.binary) - 1, -1, -1):
        first, last = layout.starts[level], layout.starts[level + 1]
        for row in range(first, last):
            halfway(hh[row], mean)
            cell_backward(g[row], mean, c[row], n[row], g_i, g_c[row])
            g_table[layout.symbols[row]] += g_i
            g[row] *= half  # each child's share of the mean
        hand_down(g, g_c, w_l, layout.children[:, 0], first, last, g_children)
        hand_down(g, g_c, w_r, layout.children[:, 1], first, first + layout.binary[level], g_children)
    mean[:] = 0
    for row in range(inner, rows):
        cell_backward(g[row], mean, c[row], n[row], g_i, g_c[row])
        g_table[row - inner] += g_i
    return g_table, g_c


@jit_inner
def down_side(
    codes: Array, first: int, last: int, children: Ints, x: Array,
    w_i: Array, b_i: Array, w_h: Array, b_h: Array, c: Array, n: Array, i: Array,
) -> None:  # fmt: skip
    """Write the codes of one child of each of the nodes first … last: one side of GRU12."""
    count = last - first
    affine(x[first:last], w_i, b_i, i[:count])
    affine(codes[first:last], w_h, b_h, c[:count])
    for k in range(count):
        cell(i[k], c[k], codes[first + k], n[k], codes[children[first + k]])


@jit_inner
def next_side(
    codes: Array, x: Array, w_i: Array, b_i: Array, w_h: Array, b_h: Array, children: Array
) -> None:  # fmt: skip
    """Do as `down_side`, with nothing kept and so many rows at once as stay in the processor's cache."""
    width = w_h.shape[1]
    c, i = np.empty((BLOCK, width), codes.dtype), np.empty((BLOCK, width), codes.dtype)
    for first in range(0, len(children), BLOCK):
        last = min(first + BLOCK, len(children))
        count = last - first
        affine(x[first:last], w_i, b_i, i[:count])
        affine(codes[first:last], w_h, b_h, c[:count])
        for k in range(count):
            light_cell(i[k], c[k], codes[first + k], children[first + k])


@jit
def next_codes(
    codes: Array, logits: Array, parents: Ints, pairs: int, w_i: Array, b_i: Array, w_h: Array, b_h: Array
) -> Array:
    """Return the codes of the left children of all `parents`, then of the right ones of the first `pairs` of them."""
    count, hidden, symbols = len(parents), codes.shape[1], logits.shape[1]
    above, below = np.empty((count, hidden), codes.dtype), np.empty((count + pairs, hidden), codes.dtype)
    x = np.empty((count, symbols), codes.dtype)
    for k in range(count):
        code = codes[parents[k]]
        for j in range(hidden):  # to assign a row at once takes twice the time
            above[k, j] = code[j]
        softmax(logits[parents[k]], x[k])
    next_side(above, x, w_i[0], b_i[0], w_h[0], b_h[0], below[:count])
    next_side(above, x, w_i[1], b_i[1], w_h[1], b_h[1], below[count:])
    return below


@jit
def choose(scores: Array, mask: NDArray[np.bool_], trees: Ints, arities: Ints, room: Ints) -> Ints:
    """Return the best symbol that each node of one depth may have, and its tree has room for.

    `mask` has a row a node, or one for all; `room`, the nodes that each tree may still get, changes in place.
    """
    symbols = np.empty(len(scores), np.int64)
    for node in range(len(scores)):
        tree = trees[node]
        allowed = mask[node if len(mask) > 1 else 0]
        best, top = 0, scores[node, 0]
        for symbol in range(1, len(arities)):
            if scores[node, symbol] > top:
                best, top = symbol, scores[node, symbol]
        if not allowed[best] or arities[best] > room[tree]:  # seldom, so that most nodes need one quick look
            best = -1
            for symbol in range(len(arities)):
                fits = allowed[symbol] and arities[symbol] <= room[tree]
                if fits and (best < 0 or scores[node, symbol] > scores[node, best]):
                    best = symbol
        symbols[node] = best
        room[tree] -= arities[best]
    return symbols


@jit
def down(
    layout: DownLayout, root_codes: Array, symbols: int,
    w_o: Array, b_o: Array, w_i: Array, b_i: Array, w_h: Array, b_h: Array,
) -> tuple[Array, Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """Return the logits (rows, symbols) of a `DownLayout`; and for the gradient codes, x, and c and n of either side.

    W_o is padded to a width that vectorises; W_i, b_i, W_h and b_h come by side.
    """
    starts, binary = layout.starts, layout.binary
    rows, hidden, inner = len(layout.symbols), len(w_o), starts[-1]
    codes = np.zeros((rows + 1, hidden), w_o.dtype)
    for tree in range(len(layout.roots)):
        codes[layout.roots[tree]] = root_codes[tree]
    scores = np.empty((rows, w_o.shape[1]), w_o.dtype)
    x = np.empty((inner, symbols), w_o.dtype)
    pairs, widest = binary.sum(), np.diff(starts).max() if len(binary) else 0
    c_l, n_l = np.empty((inner, 3 * hidden), w_o.dtype), np.empty((inner, hidden), w_o.dtype)
    c_r, n_r = np.empty((pairs, 3 * hidden), w_o.dtype), np.empty((pairs, hidden), w_o.dtype)
    i = np.empty((widest, 3 * hidden), w_o.dtype)
    left, right = layout.children[:, 0].copy(), layout.children[:, 1].copy()
    pair = 0
    for level in range(len(binary)):
        first, last = starts[level], starts[level + 1]
        affine(codes[first:last], w_o, b_o, scores[first:last])
        for row in range(first, last):
            softmax(scores[row], x[row])
        down_side(codes, first, last, left, x, w_i[0], b_i[0], w_h[0], b_h[0], c_l[first:], n_l[first:], i)
        both = first + binary[level]
        down_side(codes, first, both, right, x, w_i[1], b_i[1], w_h[1], b_h[1], c_r[pair:], n_r[pair:], i)
        pair += binary[level]
    affine(codes[inner:rows], w_o, b_o, scores[inner:])
    return scores[:, :symbols].copy(), codes, x, c_l, n_l, c_r, n_r


@jit_inner
def down_side_backward(
    g: Array, codes: Array, first: int, last: int, children: Ints, c: Array, n: Array,
    w_i: Array, w_h: Array, g_i: Array, g_c: Array, g_x: Array,
) -> None:  # fmt: skip
    """Turn gradients at the children into those at i, c, x and, added to what is there, at the nodes."""
    count = last - first
    for k in range(count):
        child = g[children[first + k]]
        cell_backward(child, codes[first + k], c[k], n[k], g_i[k], g_c[k])
        g[first + k] += child
    add_product(g_c[:count], w_h, g[first:last])
    add_product(g_i[:count], w_i, g_x[:count])


@jit
def down_backward(
    layout: DownLayout, g_logits: Array, g: Array,
    codes: Array, x: Array, c_l: Array, n_l: Array, c_r: Array, n_r: Array, w_o: Array, w_i: Array, w_h: Array,
) -> tuple[Array, Array, Array, Array, Array]:  # fmt: skip
    """Return the gradients at the roots' codes and, row by row, at i and c of either side.

    `g` holds what comes from the logits alone, W_o·g_logits; both it and `g_logits` are completed
    in place. The weights are transposed, W_i and W_h by side, W_i padded.
    """
    starts, binary, roots = layout.starts, layout.binary, layout.roots
    inner, symbols = x.shape
    g_il, g_cl, g_ir, g_cr = np.empty_like(c_l), np.empty_like(c_l), np.empty_like(c_r), np.empty_like(c_r)
    g_x = np.empty((inner, w_i.shape[2]), x.dtype)
    left, right = layout.children[:, 0].copy(), layout.children[:, 1].copy()
    pair = len(c_r)
    for level in range(len(binary) - 1, -1, -1):
        first, last = starts[level], starts[level + 1]
        both, pair = first + binary[level], pair - binary[level]
        here = g_x[first:last]
        here[:] = 0
        down_side_backward(
            g, codes, first, last, left, c_l[first:], n_l[first:], w_i[0], w_h[0], g_il[first:], g_cl[first:], here
        )
        down_side_backward(
            g, codes, first, both, right, c_r[pair:], n_r[pair:], w_i[1], w_h[1], g_ir[pair:], g_cr[pair:], here
        )
        for row in range(first, last):  # through the softmax
            mean = x[row, 0] * g_x[row, 0]
            for j in range(1, symbols):
                mean += x[row, j] * g_x[row, j]
            for j in range(symbols):
                g_x[row, j] = x[row, j] * (g_x[row, j] - mean)
                g_logits[row, j] += g_x[row, j]
        add_product(g_x[first:last, :symbols], w_o, g[first:last])
    g_roots = np.empty((len(roots), codes.shape[1]), x.dtype)
    for tree in range(len(roots)):
        g_roots[tree] = g[roots[tree]]
    return g_roots, g_il, g_cl, g_ir, g_cr


@jit
def cross_entropy(logits: Array, symbols: Ints, trees: Ints, count: int) -> tuple[Array, Array]:
    """Return the cross-entropy of each tree's nodes, (count,), and the softmax of each row."""
    errors, x = np.zeros(count, logits.dtype), np.empty_like(logits)
    for row in range(len(logits)):
        errors[trees[row]] += softmax(logits[row], x[row]) - logits[row, symbols[row]]
    return errors, x


@jit
def cross_entropy_backward(g_errors: Array, x: Array, symbols: Ints, trees: Ints) -> Array:
    """Return the gradient at the logits."""
    g = np.empty_like(x)
    for row in range(len(x)):
        weight = g_errors[trees[row]]
        for j in range(x.shape[1]):
            g[row, j] = weight * x[row, j]
        g[row, symbols[row]] -= weight
    return g


def by_side(w: Array) -> Array:
    """Return weights of GRU12, (…, 6·hidden), as those of two cells: (2, …, 3·hidden), the left one first."""
    gates = w.reshape(*w.shape[:-1], 3, 2, w.shape[-1] // 6)
    sides = np.ascontiguousarray(np.moveaxis(gates, -2, 0))
    return sides.reshape(2, *w.shape[:-1], w.shape[-1] // 2)


def padded(w: Array) -> Array:
    """Fill the last axis with zeros to a multiple of what vectorises."""
    wide = np.zeros((*w.shape[:-1], -(-w.shape[-1] // VECTOR) * VECTOR), dtype=w.dtype)
    wide[..., : w.shape[-1]] = w
    return wide
