"""Compiled: the claims of expressions about units, from their slopes at some points. See `units`."""

from __future__ import annotations

import math

import numpy as np

from edhie.arrays import Flags, Indices, Numbers
from edhie.evaluate.machine.gradient_kernels import free_leaves, jacobian
from edhie.evaluate.machine.program import Program
from edhie.expr.jit import jit, jit_inner

ABSORBED = 1e-6  # share of a change of units that is left where constants absorb it: rounding
DEPENDENT = 1e-13  # share of a slope that is left where others span it: rounding
ZERO = 1e-3  # coefficients of units that count as 0, and distance to a fraction that counts as none
LARGEST = 4.0  # exponent that a unit follows from another with
FEWEST = 3  # points at which an expression has to be defined


@jit
def claims(
    program: Program, kinds: Indices, points: Numbers, n_variables: int, prices: Numbers, from_: int, to: int,
    out: Numbers,
) -> None:  # fmt: skip
    """Write the bits of the claims of expressions `from_` to `to`; `kinds` says by leaf what its slope is."""
    n = points.shape[1]
    values = np.empty(n)
    for k in range(from_, to):
        at, end = program.leaf_starts[k], program.leaf_starts[k + 1]
        leaves, free = program.leaf_values[at:end], free_leaves(program, k)
        slopes, constants, own = np.empty((len(free), n)), np.empty(len(free)), np.empty(len(free), np.int64)
        jacobian(program, k, leaves, points, values, slopes)
        for p in range(len(free)):
            own[p], constants[p] = kinds[at + free[p]], leaves[free[p]]
        out[k] = claims_of(values, slopes, constants, own, n_variables, prices)


@jit
def claims_of(
    values: Numbers, slopes: Numbers, constants: Numbers, kinds: Indices, n_variables: int, prices: Numbers
) -> float:
    """Return the bits of the claims of one expression, from its values and its slopes by constants and factors."""
    rows, n_constants = by_kind(values, slopes, constants, kinds, n_variables)
    if rows.shape[1] < FEWEST:
        return 0.0
    sizes = normalise(rows)
    basis = rows[:n_constants]
    for p in range(n_constants):
        left = leave(basis[p], basis[:p])
        basis[p] *= 1.0 / left if left > DEPENDENT else 0.0
    changes, sizes = rows[n_constants:], sizes[n_constants:]
    for i in range(len(changes)):
        if leave(changes[i], basis) <= ABSORBED:
            changes[i] = 0.0
    found, of_target = relations(changes, sizes)
    return price_of(found, of_target, prices)


@jit_inner
def by_kind(
    values: Numbers, slopes: Numbers, constants: Numbers, kinds: Indices, n_variables: int
) -> tuple[Numbers, int]:
    """Return the slopes by constants, then the changes with the units of the variables and of the target.

    Constants of one value are one constant. Points are left out at which anything is not finite.
    """
    m, n = slopes.shape
    is_known = np.isfinite(values)
    for p in range(m):
        for i in range(n):
            is_known[i] &= np.isfinite(slopes[p, i])
    n_known = np.count_nonzero(is_known)
    found = np.zeros((m + n_variables + 1, n_known))
    n_constants = 0
    first = np.empty(m)
    for p in range(m):
        if kinds[p] != 0:
            continue
        row = n_constants
        for q in range(n_constants):
            if first[q] == constants[p]:
                row = q
                break
        first[row] = constants[p]
        n_constants = max(n_constants, row + 1)
        add_known(found[row], slopes[p], is_known)
    for p in range(m):
        if kinds[p] > 0:
            add_known(found[n_constants + kinds[p] - 1], slopes[p], is_known)
    add_known(found[n_constants + n_variables], -values, is_known)
    return found[: n_constants + n_variables + 1], n_constants


@jit_inner
def add_known(out: Numbers, row: Numbers, is_known: Flags) -> None:
    """Add the known points of a row."""
    at = 0
    for i in range(len(row)):
        if is_known[i]:
            out[at] += row[i]
            at += 1


@jit_inner
def normalise(rows: Numbers) -> Numbers:
    """Scale each row to length 1, unless it is 0, and return the lengths."""
    sizes = np.zeros(len(rows))
    for k in range(len(rows)):
        largest = 0.0
        for i in range(rows.shape[1]):
            largest = max(largest, abs(rows[k, i]))
        if largest > 0.0:
            rows[k] /= largest
            length = math.sqrt(dot(rows[k], rows[k]))
            rows[k] /= length
            sizes[k] = length * largest
    return sizes


@jit_inner
def leave(row: Numbers, basis: Numbers) -> float:
    """Subtract from a row what an orthonormal basis spans, and return the length of the rest."""
    for _ in range(2):  # twice, since rounding leaves some
        for p in range(len(basis)):
            subtract(row, basis[p])
    return math.sqrt(dot(row, row))


@jit_inner
def subtract(row: Numbers, direction: Numbers) -> float:
    """Subtract from a row its part along a direction of length 1, and return the length of that."""
    along = dot(row, direction)
    for i in range(len(row)):
        row[i] -= along * direction[i]
    return along


@jit_inner
def dot(a: Numbers, b: Numbers) -> float:
    """Return the sum of products."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@jit_inner
def relations(changes: Numbers, sizes: Numbers) -> tuple[Numbers, bool]:
    """Return the equations that changes of units have to satisfy, and whether the first one is the target's.

    They are in reduced echelon form, and the target's is the first if there is one, so that the others are of columns.
    """
    n = len(changes)
    found, pivots, rank = np.zeros((n, n)), np.empty(n, np.int64), 0
    while rank < n:
        pivot, length = n - 1, math.sqrt(dot(changes[n - 1], changes[n - 1]))
        if rank > 0 or length <= ABSORBED:
            for i in range(n):
                own = math.sqrt(dot(changes[i], changes[i]))
                if own > length:
                    pivot, length = i, own
        if length <= ABSORBED:
            break
        direction = changes[pivot] / length
        for i in range(n):
            found[rank, i] = subtract(changes[i], direction)
        changes[pivot] = 0.0
        pivots[rank] = pivot
        rank += 1
    for k in range(rank - 1, -1, -1):
        found[k] /= found[k, pivots[k]]
        for above in range(k):
            found[above] -= found[above, pivots[k]] * found[k]
    for k in range(rank):
        for i in range(n):
            found[k, i] = found[k, i] * sizes[i] / sizes[pivots[k]] if sizes[i] > 0.0 else 0.0
            if abs(found[k, i]) < ZERO:
                found[k, i] = 0.0
        found[k, pivots[k]] = 0.0  # what is left says what the pivot's unit follows from
    return found[:rank], rank > 0 and pivots[0] == n - 1


@jit_inner
def price_of(found: Numbers, of_target: bool, prices: Numbers) -> float:
    """Return the bits of claims: of no unit or a coincidence, that the target follows, and that two are equal."""
    total = 0.0
    for k in range(len(found)):
        n_units, is_same, is_simple = 0, True, True
        for i in range(found.shape[1]):
            size = abs(found[k, i])
            if size > 0.0:
                n_units += 1
                is_same &= abs(found[k, i] + 1.0) < ZERO
                thirds, halves = 3.0 * size, 2.0 * size
                is_near = abs(thirds - np.round(thirds)) < ZERO or abs(halves - np.round(halves)) < ZERO
                is_simple &= is_near and size < LARGEST + ZERO
        if n_units == 0 or not is_simple:
            total += prices[0]
            continue
        for other in range(k):  # two units that follow from others in the same way are the same
            distance = 0.0
            for i in range(found.shape[1]):
                distance = max(distance, abs(found[other, i] - found[k, i]))
            if distance < ZERO:
                is_same, n_units = True, 1
        if is_same and n_units == 1:
            total += prices[2]
        else:
            total += prices[1] if k == 0 and of_target else prices[0]
    return total
