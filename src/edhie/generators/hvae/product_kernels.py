"""Matrix products, compiled: sums of a few rows and one vector of columns stay in registers.

Left to itself the compiler stores every partial sum and loads it again, since it cannot know that `out` and the
factors lie apart. The order of additions is the same on every machine, however wide its vectors are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from edhie.expr.jit import jit, jit_inner

Array = NDArray[Any]  # of float32, and in tests of float64
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
