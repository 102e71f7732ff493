"""Building blocks of the elementary functions: exact multiply-add, the bits of a float, polynomials.

A block is computed in one loop without branches, which the compiler turns into vector code.
For that every scalar function on the way has to be inlined, whatever its size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from edhie.arrays import Numbers
from edhie.expr.jit import OPTIONS

# kernels are built anew when a file changes that has "expr.jit import" in it, as all files of this package have

F = TypeVar("F", bound=Callable[..., Any])

SIGN = -(1 << 63)  # the sign bit of a float64, as an int64
MAGIC = 1.5 * 2.0**52  # x + MAGIC rounds x to an integer, which then stands in the low bits
SMALLEST_NORMAL = 2.0**-1022
LARGEST = 1.7976931348623157e308


def inlined(function: F) -> F:
    """Compile a function into the loops that call it."""
    return cast(F, _for_compiled_callers(forceinline=True)(function))


def over_block(
    function: Callable[[float], float],
    is_edge: Callable[[float], bool] | None = None,
    exact: Callable[[float], float] | None = None,
) -> Callable[[Numbers, Numbers], None]:
    """Return a function of blocks, compiled into its callers, from inlined functions of numbers.

    Elements for which `is_edge` holds are computed by `exact`, of the C library, one by one.
    """

    def whole(a: Numbers, out: Numbers) -> None:
        for i in range(len(a)):
            out[i] = function(a[i])

    def with_edges(a: Numbers, out: Numbers) -> None:
        strange = 0
        for i in range(len(a)):
            out[i] = function(a[i])
            strange |= is_edge(a[i])  # type: ignore[misc]
        if strange:
            for i in range(len(a)):
                if is_edge(a[i]):  # type: ignore[misc]
                    out[i] = exact(a[i])  # type: ignore[misc]

    chosen = whole if is_edge is None else with_edges
    # compiled code is linked by name: two functions of one name in a cached build would be taken for each other
    chosen.__qualname__ = f"{chosen.__name__}_{function.__name__}"
    return cast("Callable[[Numbers, Numbers], None]", _for_compiled_callers()(chosen))


def _for_compiled_callers(**options: Any) -> Any:
    """Return a decorator as `jit_inner`, without a cache of its own: the callers' has the code."""
    return numba.njit(no_cpython_wrapper=True, **OPTIONS, **options)


def _emitter(result: Any, arguments: tuple[Any, ...], emit: Callable[..., Any]) -> tuple[Any, Any]:
    """Return a numba signature and the code for it; `emit` takes the builder and the LLVM values."""
    return result(*arguments), lambda context, builder, signature, values: emit(builder, *values)


def _fma(typing_context: Any, x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    """The value of x * y + z, rounded once; on every machine, also where that is slow."""
    return _emitter(types.float64, (types.float64,) * 3, lambda builder, x, y, z: builder.fma(x, y, z))


fma = cast("Callable[[float, float, float], float]", intrinsic(_fma))


def _bits(typing_context: Any, x: Any) -> tuple[Any, Any]:
    return _emitter(types.int64, (types.float64,), lambda builder, x: builder.bitcast(x, ir.IntType(64)))


bits = cast("Callable[[float], int]", intrinsic(_bits))


def _from_bits(typing_context: Any, n: Any) -> tuple[Any, Any]:
    return _emitter(types.float64, (types.int64,), lambda builder, n: builder.bitcast(n, ir.DoubleType()))


from_bits = cast("Callable[[int], float]", intrinsic(_from_bits))


def _shifted_right(typing_context: Any, n: Any, count: Any) -> tuple[Any, Any]:
    """The bits of n moved to the right, with zeros moving in; vectors of the shift with signs are newer."""
    return _emitter(types.int64, (types.int64,) * 2, lambda builder, n, count: builder.lshr(n, count))


shifted_right = cast("Callable[[int, int], int]", intrinsic(_shifted_right))


def _horner(typing_context: Any, x: Any, coefficients: Any) -> tuple[Any, Any]:
    """The polynomial in x with these coefficients, a constant tuple from x^0 upwards."""

    def emit(builder: Any, x: Any, coefficients: Any) -> Any:
        value = builder.extract_value(coefficients, n - 1)
        for k in range(n - 2, -1, -1):
            value = builder.fma(value, x, builder.extract_value(coefficients, k))
        return value

    n = len(coefficients)
    return _emitter(types.float64, (types.float64, types.UniTuple(types.float64, n)), emit)


horner = cast("Callable[[float, tuple[float, ...]], float]", intrinsic(_horner))


@inlined
def quotient(numerator: float, numerator_low: float, denominator: float, denominator_low: float) -> float:
    """(numerator + its low part) / (denominator + its low part), almost as exact as the parts."""
    inverse = 1.0 / denominator
    q = numerator * inverse
    rest = fma(-q, denominator, numerator) + fma(-q, denominator_low, numerator_low)
    return fma(rest, inverse, q)
