"""Values of expressions on data, and sums of their squared errors, on one or several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError, ExpressionError, shortened
from edhie.evaluate.data import Data
from edhie.evaluate.numbers import read_only
from edhie.evaluate.program import Program, check_constants, plan, plan_shared, with_custom_operators
from edhie.expr import Expr, Forest
from edhie.expr.interpret import interpret

if TYPE_CHECKING:
    from edhie.evaluate.kernels import Target

Numbers = NDArray[np.float64]
PARTS_A_THREAD = 8  # expressions differ in cost: small parts even it out


def values(forest: Forest, columns: Numbers, *, threads: int | None = 1) -> Numbers:
    """Return the values of all expressions, one row each; `columns` has one row for each variable of the library.

    Invalid operations give inf or NaN.

    >>> from edhie.expr import parse, Forest
    >>> values(Forest.from_exprs([parse("x0^2"), parse("1/x0")]), np.array([[0.0, 2.0, 4.0]])).tolist()
    [[0.0, 4.0, 16.0], [inf, 0.5, 0.25]]
    """
    check_columns(forest, columns)
    check_constants(forest)
    from edhie.evaluate import kernels

    out = np.empty((len(forest), columns.shape[1]))
    n_blocks, count = block_count(columns.shape[1]), thread_count(threads)
    if n_blocks < count:  # too few rows to share out: each thread has expressions of its own
        program = plan_shared(forest, group=-(-len(forest) // count))
        n_groups = len(program.groups) - 1
        parallel_for(
            lambda start, stop: kernels.values(program, (start, stop), (0, n_blocks), columns, out), n_groups, threads
        )
    else:
        program = plan_shared(forest)
        n_groups = len(program.groups) - 1
        parallel_for(
            lambda start, stop: kernels.values(program, (0, n_groups), (start, stop), columns, out),
            n_blocks, threads, parts=1,
        )  # fmt: skip
    for k, found in custom_values(forest, columns):
        out[k] = found
    return out


def squared_errors(forest: Forest, data: Data, *, bounds: float | Numbers = np.inf, threads: int | None = 1) -> Numbers:
    """Return the weighted sum of squared errors of each expression, infinite where a value is not finite.

    Sums above their bound are infinite too, and their computation ends early; all others are exact.
    """
    check_columns(forest, data.columns)
    check_constants(forest)
    from edhie.evaluate import kernels

    out = np.empty(len(forest))
    limits = np.ascontiguousarray(np.broadcast_to(np.asarray(bounds, np.float64), out.shape))
    target = target_of(data)
    count, n_blocks = thread_count(threads), block_count(data.n_rows)
    is_bounded = bool(np.isfinite(limits).any())
    if not is_bounded and 1 < count <= n_blocks:
        _add_up_blocks(plan_shared(forest), target, threads, out)
    else:
        # under a bound most end after a block of rows: that pays more than sharing subtrees does
        program = plan(forest) if is_bounded else plan_shared(forest, group=-(-len(forest) // count))
        parallel_for(partial(kernels.squared_errors, program, target, limits, out), len(program.groups) - 1, threads)
    for k, found in custom_values(forest, data.columns):
        with np.errstate(all="ignore"):
            squares = (found - data.y) ** 2
            total = float(squares.sum() if data.weights is None else squares @ data.weights)
        out[k] = total if total <= limits[k] and total < np.inf else np.inf
    return out


def _add_up_blocks(program: Program, target: Target, threads: int | None, out: Numbers) -> None:
    """Compute squared errors by threads that share out the rows; they are added in the order of one thread."""
    from edhie.evaluate.kernels import block_errors

    n_blocks = block_count(len(target.y))
    for g in range(len(program.groups) - 1):
        first, last = program.groups[g : g + 2]
        sums = np.empty((n_blocks, last - first))
        parallel_for(partial(block_errors, program, g, target, sums), n_blocks, threads, parts=1)
        with np.errstate(all="ignore"):
            total = sums[0]
            for block in sums[1:]:
                total += block
        out[first:last] = np.where(np.isnan(total), np.inf, total)


def block_count(n_rows: int) -> int:
    """Return the number of blocks that the machine makes of so many rows."""
    from edhie.evaluate.machine import BLOCK

    return -(-n_rows // BLOCK)


def target_of(data: Data) -> Target:
    """Return data as kernels take it."""
    from edhie.evaluate.kernels import Target

    return Target(data.columns, data.y, np.empty(0) if data.weights is None else data.weights)


def custom_values(forest: Forest, columns: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield the places and values of expressions with a user's operators, by NumPy: the slower path."""
    for k in with_custom_operators(forest).tolist():
        yield k, numpy_values(forest[k], columns)


def numpy_values(expr: Expr, columns: Numbers) -> Numbers:
    """Return the values of one expression by NumPy, on columns that a user's operators cannot change."""
    named = dict(zip(expr.library.variables, map(read_only, columns), strict=True))
    found = np.asarray(interpret(expr, named))
    if found.dtype.kind not in "fiub" or found.shape not in ((), columns.shape[1:]):
        shown = f"{found.dtype} of shape {found.shape}"
        raise ExpressionError(
            f"{shortened(str(expr))!r} came to {shown} on {columns.shape[1]} rows; "
            "the operators that were added must give one real number a row"
        )
    return np.array(np.broadcast_to(found, columns.shape[1:]), dtype=np.float64)


def check_columns(forest: Forest, columns: Numbers) -> None:
    """Raise unless the data has one row of doubles for each variable."""
    wanted = len(forest.library.variables)
    if columns.ndim != 2 or len(columns) != wanted:
        raise EdhieError(
            f"the library has {wanted} variables; the data has the shape {columns.shape}, not {wanted} rows"
        )
    if columns.dtype != np.float64 or not columns.flags.c_contiguous:
        raise EdhieError("the data must be contiguous rows of float64; read_data() makes them so")


# -- threads --------------------------------------------------------------------------


def thread_count(threads: int | None) -> int:
    """Return the number of threads to use: as many as there are cores for None."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise EdhieError(f"threads must be at least 1, not {threads}; give None to use every core")
    return threads


def parallel_for(work: Callable[[int, int], None], n: int, threads: int | None, *, parts: int = PARTS_A_THREAD) -> None:
    """Call `work(from, to)` over 0 to n in parts on several threads; compiled code releases the interpreter lock.

    Parts must not depend on each other, so that the number of threads changes nothing.
    """
    count = thread_count(threads)
    if count == 1 or n <= 1:
        work(0, n)
        return
    size = max(1, -(-n // (parts * count)))
    places = [(start, min(start + size, n)) for start in range(0, n, size)]
    for _ in _pool(count, os.getpid()).map(lambda place: work(*place), places):
        pass


@lru_cache(maxsize=4)
def _pool(count: int, process: int) -> ThreadPoolExecutor:
    """Return a pool that stays: starting threads takes longer than many a forest. A forked process needs its own."""
    return ThreadPoolExecutor(count, thread_name_prefix="edhie")
