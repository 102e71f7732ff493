"""Compiled softmax and gated cell of one node, forward and backward, and matrix products.

The letters are those of `reference`: i = W_i·x + b_i and c = W_h·h + b_h are the two parts of the gates (r, u, n). Both
cells end alike: (1 - u)·n + u·old, with the mean of the children (GRU21) or the parent (GRU12) as old.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
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


# -- matrix products: sums of a few rows and one vector of columns stay in registers -----

# Left to itself the compiler stores every partial sum and loads it again, since it cannot know that `out` and the
# factors lie apart. The order of additions is the same on every machine, however wide its vectors are.

LANES = 16  # columns of a tile
GROUP = 4  # products that are summed before they join the rest
WORD = ir.IntType(64)


class _Tile:
    """Code for `rows` rows and `LANES` columns of out = start + a·b; start is one row for all, or a matrix."""

    def __init__(self, context: Any, builder: Any, signature: Any, values: Any, rows: int) -> None:
        self.builder = builder
        self.a, self.b, self.start, self.out = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:4], values[:4], strict=True)
        )
        self.row, self.column = values[4:]
        self.rows = rows
        self.number = context.get_data_type(signature.args[3].dtype)
        self.vector = ir.VectorType(self.number, LANES)
        self.itemsize = context.get_abi_sizeof(self.number)

    def place(self, array: Any, row: Any, column: Any, kind: Any) -> Any:
        """Return a pointer into an array whose rows are contiguous, or into one row that stands for all."""
        builder = self.builder
        *strides, _ = cgutils.unpack_tuple(builder, array.strides)
        offset = builder.mul(column, WORD(self.itemsize))
        for stride in strides:
            offset = builder.add(offset, builder.mul(row, stride))
        first = builder.bitcast(array.data, ir.IntType(8).as_pointer())
        return builder.bitcast(builder.gep(first, [offset]), kind.as_pointer())

    def vector_at(self, array: Any, row: Any) -> Any:
        """Return a pointer to the tile's columns in a row."""
        return self.place(array, row, self.column, self.vector)

    def everywhere(self, row: Any, column: Any) -> Any:
        """Return one number of `a` in all lanes."""
        builder, lane = self.builder, ir.IntType(32)
        number = builder.load(self.place(self.a, row, column, self.number))
        nothing = ir.Constant(self.vector, ir.Undefined)
        first = builder.insert_element(nothing, number, lane(0))
        return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(lane, LANES), [0] * LANES))

    def add(self, totals: list[Any], k: Any, count: int) -> None:
        """Add to each row's total the sum of its products with the rows k … k + count of `b`."""
        builder = self.builder
        at = [builder.add(k, WORD(m)) for m in range(count)]
        loaded = [builder.load(self.vector_at(self.b, row), align=self.itemsize) for row in at]
        for r, total in enumerate(totals):
            row = builder.add(self.row, WORD(r))
            products = [builder.fmul(self.everywhere(row, k), b) for k, b in zip(at, loaded, strict=True)]
            joined = products[0]
            for product in products[1:]:
                joined = builder.fadd(joined, product)
            builder.store(builder.fadd(builder.load(total), joined), total)

    def emit(self, group: int) -> None:
        """Emit the loop over the rows of `b`, a group at a time, then the rest one by one."""
        builder, inner = self.builder, cgutils.unpack_tuple(self.builder, self.a.shape, 2)[1]
        rows = [builder.add(self.row, WORD(r)) for r in range(self.rows)]
        totals = [cgutils.alloca_once(builder, self.vector) for _ in rows]
        for row, total in zip(rows, totals, strict=True):
            builder.store(builder.load(self.vector_at(self.start, row), align=self.itemsize), total)
        whole = builder.and_(inner, WORD(-group))  # the group is a power of two
        with cgutils.for_range_slice(builder, WORD(0), whole, WORD(group), inc=True) as (k, _):
            self.add(totals, k, group)
        with cgutils.for_range_slice(builder, whole, inner, WORD(1), inc=True) as (k, _):
            self.add(totals, k, 1)
        for row, total in zip(rows, totals, strict=True):
            builder.store(builder.load(total), self.vector_at(self.out, row), align=self.itemsize)


def _tile(rows: int, group: int) -> Callable[[Array, Array, Array, Array, int, int], None]:
    """Return a function of a, b, start, out, row and column that writes one tile of out."""

    def lowered(typing_context: Any, a: Any, b: Any, start: Any, out: Any, row: Any, column: Any) -> tuple[Any, Any]:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            _Tile(context, builder, signature, values, rows).emit(group)
            return context.get_dummy_value()

        return types.none(a, b, start, out, types.int64, types.int64), emit

    return cast("Callable[[Array, Array, Array, Array, int, int], None]", intrinsic(lowered))


# a last odd row is summed one product at a time: searches with a seed have always seen that rounding
_four_rows, _two_rows, _one_row = _tile(4, GROUP), _tile(2, GROUP), _tile(1, 1)


@jit_inner
def _tiles(a: Array, b: Array, start: Array, out: Array) -> None:
    """Write start + a·b into out, but for the columns that are left over."""
    rows = len(a)
    paired = rows - rows % 2
    for j in range(0, b.shape[1] - LANES + 1, LANES):  # these columns of `b` stay in the processor's cache
        i = 0
        while i + 4 <= rows:
            _four_rows(a, b, start, out, i, j)
            i += 4
        if i < paired:
            _two_rows(a, b, start, out, i, j)
        if paired < rows:
            _one_row(a, b, start, out, paired, j)


@jit_inner
def _add_rest(a: Array, b: Array, out: Array) -> None:
    """Add a·b to out in the columns that are left over, in the order of `_tiles`."""
    (rows, inner), width = a.shape, b.shape[1]
    paired = rows - rows % 2
    for i in range(rows):
        for j in range(width - width % LANES, width):
            k, total = 0, out[i, j]
            while i < paired and k + GROUP <= inner:
                total += (
                    a[i, k] * b[k, j]
                    + a[i, k + 1] * b[k + 1, j]
                    + a[i, k + 2] * b[k + 2, j]
                    + a[i, k + 3] * b[k + 3, j]
                )
                k += GROUP
            while k < inner:
                total += a[i, k] * b[k, j]
                k += 1
            out[i, j] = total


@jit
def add_product(a: Array, b: Array, out: Array) -> None:
    """Add a·b to out; all have contiguous rows."""
    _tiles(a, b, out, out)
    _add_rest(a, b, out)


@jit
def affine(a: Array, b: Array, bias: Array, out: Array) -> None:
    """Write bias + a·b into out, with one row of bias for all rows."""
    _tiles(a, b, bias, out)
    for i in range(len(out)):
        for j in range(len(bias) - len(bias) % LANES, len(bias)):
            out[i, j] = bias[j]
    _add_rest(a, b, out)
