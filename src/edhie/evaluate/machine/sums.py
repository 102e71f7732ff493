"""Compiled: sums over blocks of rows, 32 partial sums side by side in vectors.

The compiler may not reorder a sum by itself, so it would add one number after another. The order here is the same on
every machine, whatever the width of its vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from edhie.arrays import Numbers
from edhie.expr.jit import jit_inner

LANES, VECTORS = 8, 4
AT_ONCE = LANES * VECTORS
VECTOR = ir.VectorType(ir.DoubleType(), LANES)


def _lane_sums(context: Any, builder: Any, arrays: list[Any], n: Any, combine: Callable[..., Any]) -> Any:
    """Emit the sum of `combine` over the arrays' vectors, for the first n elements, a multiple of `AT_ONCE`."""
    word = context.get_value_type(types.intp)
    totals = [cgutils.alloca_once_value(builder, ir.Constant(VECTOR, [0.0] * LANES)) for _ in range(VECTORS)]
    zero, step = ir.Constant(word, 0), ir.Constant(word, AT_ONCE)
    with cgutils.for_range_slice(builder, zero, n, step, inc=True) as (i, _):
        for j, total in enumerate(totals):
            at = builder.add(i, ir.Constant(word, LANES * j))
            vectors = []
            for array in arrays:
                place = builder.bitcast(builder.gep(array.data, [at]), VECTOR.as_pointer())
                vectors.append(builder.load(place, align=8))
            builder.store(builder.fadd(builder.load(total), combine(builder, *vectors)), total)
    first, second, third, fourth = (builder.load(total) for total in totals)
    joined = builder.fadd(builder.fadd(first, second), builder.fadd(third, fourth))
    lanes = [builder.extract_element(joined, ir.Constant(ir.IntType(32), j)) for j in range(LANES)]
    while len(lanes) > 1:
        lanes = [builder.fadd(a, b) for a, b in zip(lanes[::2], lanes[1::2], strict=True)]
    return lanes[0]


def _lowered(combine: Callable[..., Any], *array_types: Any) -> tuple[Any, Any]:
    """Return a numba signature, of the arrays and n, and the code for it."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:-1], values[:-1], strict=True)
        ]
        return _lane_sums(context, builder, arrays, values[-1], combine)

    return types.float64(*array_types, types.intp), emit


def _square(builder: Any, a: Any, b: Any) -> Any:
    difference = builder.fsub(a, b)
    return builder.fmul(difference, difference)


def _products(typing_context: Any, a: Any, b: Any, n: Any) -> tuple[Any, Any]:
    return _lowered(lambda builder, a, b: builder.fmul(a, b), a, b)


def _squares(typing_context: Any, a: Any, b: Any, n: Any) -> tuple[Any, Any]:
    return _lowered(_square, a, b)


def _weighted_squares(typing_context: Any, a: Any, b: Any, weights: Any, n: Any) -> tuple[Any, Any]:
    return _lowered(lambda builder, a, b, w: builder.fmul(w, _square(builder, a, b)), a, b, weights)


products = cast("Callable[[Numbers, Numbers, int], float]", intrinsic(_products))
squares = cast("Callable[[Numbers, Numbers, int], float]", intrinsic(_squares))
weighted_squares = cast("Callable[[Numbers, Numbers, Numbers, int], float]", intrinsic(_weighted_squares))


@jit_inner
def squared_distance(a: Numbers, b: Numbers, weights: Numbers, start: int, stop: int) -> float:
    """Return the sum of squared differences of a block from rows `start` to `stop`; weighted if there are weights."""
    rows, whole = b[start:stop], len(a) - len(a) % AT_ONCE
    if len(weights) == 0:
        total = squares(a, rows, whole)
        for i in range(whole, len(a)):
            total += (a[i] - rows[i]) ** 2
        return total
    own = weights[start:stop]
    total = weighted_squares(a, rows, own, whole)
    for i in range(whole, len(a)):
        total += own[i] * (a[i] - rows[i]) ** 2
    return total


@jit_inner
def dot(a: Numbers, b: Numbers, n: int) -> float:
    """Return the sum of products over the first n."""
    whole = n - n % AT_ONCE
    total = products(a, b, whole)
    for i in range(whole, n):
        total += a[i] * b[i]
    return total
