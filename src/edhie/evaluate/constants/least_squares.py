"""Compiled: the Levenberg-Marquardt method for the constants of one expression after another.

Constants that enter linearly are not damped, and are solved for by linear least squares at every point that is
tried, so that only the others are searched. A fit depends on the expression, the data and the seed alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edhie.arrays import Flags, Indices, Numbers
from edhie.evaluate.constants.starts import find_linear, start_value
from edhie.evaluate.machine.gradient_kernels import Workspace, find_active, free_leaves, normal_equations, workspace_for
from edhie.evaluate.machine.kernels import Target, leaves_of, squared_error
from edhie.evaluate.machine.program import Program
from edhie.expr.jit import copy_to, jit, jit_inner

FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-12, 1e10
CANCELLED = 1e-8  # share of a sum below which the rest after a subtraction has too few digits
AGREEMENT, ENOUGH_ROUNDS = 1e-6, 6  # relative difference of equal errors, and the rounds that have to reach one
TINY_PIVOT = 1e-14  # of a unit diagonal: less is rounding
SETTLED = 1e-6  # damping below which a small step means convergence


class Effort(NamedTuple):
    """A `FitConfig` as an argument of kernels."""

    lower: float
    upper: float
    points: int
    starts: int
    rounds: int
    iterations: int
    tolerance: float
    enough: float
    """The sum of squares that ends the search."""
    seed: int


@jit
def fit(
    program: Program, scales: Numbers, target: Target, effort: Effort, errors: Numbers, fitted: Numbers,
    from_: int, to: int,
) -> None:  # fmt: skip
    """Fit expressions `from_` to `to`: their sums of squares into `errors`, their leaves' values into `fitted`.

    Constants that have values are the first start; then come the best of all points.
    """
    space, is_linear = workspace_for(program), np.zeros(program.n_registers, np.bool_)
    for k in range(from_, to):
        at, end = program.leaf_starts[k], program.leaf_starts[k + 1]
        free = free_leaves(program, k)
        find_linear(program, k, is_linear)
        find_active(program, k, space.is_active)
        best = fitted[at:end]
        copy_to(best, leaves_of(program, k))
        errors[k] = np.inf
        leaves = best.copy()
        is_whole = True
        for value in leaves:
            is_whole = is_whole and not np.isnan(value)
        if is_whole:
            for j in free:
                leaves[j] = min(max(leaves[j], effort.lower), effort.upper)
            errors[k] = levenberg_marquardt(program, k, leaves, free, is_linear, target, effort, space)
            copy_to(best, leaves)
        n_agreeing = 0
        for number in range(effort.rounds):
            if errors[k] <= effort.enough or n_agreeing == ENOUGH_ROUNDS:
                break
            before, reached = errors[k], np.inf
            for point in best_points(program, k, free, is_linear, scales[at:end], target, effort, number, space):
                copy_to(leaves, point)
                error = levenberg_marquardt(program, k, leaves, free, is_linear, target, effort, space)
                reached = min(reached, error)
                if error < errors[k]:
                    errors[k] = error
                    copy_to(best, leaves)
                if errors[k] <= effort.enough:
                    break
            n_agreeing = 0 if errors[k] < (1.0 - AGREEMENT) * before else n_agreeing
            n_agreeing += reached <= (1.0 + AGREEMENT) * errors[k]
        if errors[k] < np.inf:  # the same bits as any other evaluation of these constants
            errors[k] = squared_error(program, k, best, target, space.registers, np.inf)


@jit_inner
def best_points(
    program: Program, k: int, free: Indices, is_linear: Flags, scales: Numbers, target: Target, effort: Effort,
    round_: int, space: Workspace,
) -> Numbers:  # fmt: skip
    """Return the points of a round to start from, best first; a linear expression needs one in all."""
    linear, m = np.empty(len(free), np.int64), 0
    for j in free:
        if is_linear[j]:
            linear[m] = j
            m += 1
    linear = linear[:m]
    n_points = effort.points
    if len(linear) == len(free):
        n_points = min(n_points, 1) if round_ == 0 else 0
    n_best = min(effort.starts, n_points)
    errors, points = np.empty(n_best), np.empty((n_best, len(scales)))
    errors[:] = np.inf
    leaves = leaves_of(program, k).copy()
    for number in range(n_points):
        for j in free:
            start = start_value(effort.seed, round_ * n_points + number, j, scales[j])
            leaves[j] = min(max(start, effort.lower), effort.upper)
        error = solve_linear(program, k, leaves, linear, target, effort, space)
        if error < np.inf:
            insert(errors, points, error, leaves)
    n_found = 0
    while n_found < n_best and errors[n_found] < np.inf:
        n_found += 1
    return points[:n_found]


@jit_inner
def solve_linear(
    program: Program, k: int, leaves: Numbers, linear: Indices, target: Target, effort: Effort, space: Workspace
) -> float:
    """Solve for the linear constants, the others held; return the sum of squares, up to rounding.

    The step is taken from 0, since cancellation with former values would lose digits.
    """
    m = len(linear)
    if m == 0:
        return squared_error(program, k, leaves, target, space.registers, np.inf)
    products, slope, work = np.empty((m, m)), np.empty(m), np.empty((m, m))
    damping, step, given = np.empty(m), np.empty(m), np.empty(m)
    for p in range(m):
        damping[p], given[p] = LEAST_DAMPING, leaves[linear[p]]
        leaves[linear[p]] = 0.0
    whole = normal_equations(program, k, leaves, linear, target, space, products, slope)
    if not (whole < np.inf and solve_damped(products, slope, damping, step, work)):
        for p in range(m):
            leaves[linear[p]] = given[p]
        return squared_error(program, k, leaves, target, space.registers, np.inf)
    left_over, is_clipped = whole, False
    for p in range(m):
        solved = step[p] if products[p, p] > 0 else given[p]  # a constant without effect stays
        leaves[linear[p]] = min(max(solved, effort.lower), effort.upper)
        left_over -= slope[p] * step[p]
        is_clipped = is_clipped or leaves[linear[p]] != solved
    if is_clipped or left_over <= CANCELLED * whole:
        return squared_error(program, k, leaves, target, space.registers, np.inf)
    return left_over


@jit_inner
def levenberg_marquardt(
    program: Program, k: int, leaves: Numbers, free: Indices, is_linear: Flags, target: Target, effort: Effort,
    space: Workspace,
) -> float:  # fmt: skip
    """Improve the constants in `leaves` step by step; return the sum of squares that is reached."""
    m = len(free)
    products, slope, work = np.empty((m, m)), np.empty(m), np.empty((m, m))
    damping, step, trial = np.empty(m), np.empty(m), leaves.copy()
    best = normal_equations(program, k, leaves, free, target, space, products, slope)
    if not best < np.inf:  # perhaps only the slopes overflow
        return squared_error(program, k, leaves, target, space.registers, np.inf)
    strength = FIRST_DAMPING
    for _ in range(effort.iterations):
        if best <= effort.enough:
            break
        for p in range(m):
            damping[p] = LEAST_DAMPING if is_linear[free[p]] else strength
        reached = np.inf
        if solve_damped(products, slope, damping, step, work):
            is_moved = False
            for p in range(m):
                j = free[p]
                trial[j] = min(max(leaves[j] + step[p], effort.lower), effort.upper)
                is_moved = is_moved or trial[j] != leaves[j]
            if not is_moved:
                break
            reached = squared_error(program, k, trial, target, space.registers, best)
        if reached < best:
            gain = (best - reached) / best
            copy_to(leaves, trial)
            best = reached
            if not normal_equations(program, k, leaves, free, target, space, products, slope) < np.inf:
                break
            strength = max(strength * 0.1, LEAST_DAMPING)
            if gain < effort.tolerance and strength < SETTLED:
                break
        else:
            strength *= 10.0
            if strength > MOST_DAMPING:
                break
    return best


@jit_inner
def insert(errors: Numbers, points: Numbers, error: float, point: Numbers) -> None:
    """Insert a point among the best so far, in order of error; the last one drops out."""
    at = len(errors)
    while at > 0 and error < errors[at - 1]:
        at -= 1
    for j in range(len(errors) - 1, at, -1):
        errors[j] = errors[j - 1]
        copy_to(points[j], points[j - 1])
    if at < len(errors):
        errors[at] = error
        copy_to(points[at], point)


@jit
def solve_damped(products: Numbers, slope: Numbers, damping: Numbers, step: Numbers, work: Numbers) -> bool:
    """Solve (A + diag(A)·damping) x = slope for a positive A scaled to a unit diagonal; return False if that fails.

    Unknowns whose diagonal is 0 (without effect) and those that depend linearly on others (with a pivot at the level
    of rounding) have a step of 0.
    """
    m = len(slope)
    scale = np.empty(m)
    for p in range(m):
        scale[p] = 1.0 / np.sqrt(products[p, p]) if products[p, p] > 0 else 0.0
        if not np.isfinite(scale[p]):
            return False
    for p in range(m):  # Cholesky, by rows
        for q in range(p + 1):
            total = products[p, q] * scale[p] * scale[q]
            if p == q:
                total += damping[p]
            for j in range(q):
                total -= work[p, j] * work[q, j]
            if p != q:
                work[p, q] = total * work[q, q]
            elif total > TINY_PIVOT and scale[p] > 0:
                work[p, p] = 1.0 / np.sqrt(total)
            else:
                work[p, p] = 0.0
    for p in range(m):
        total = slope[p] * scale[p]
        for j in range(p):
            total -= work[p, j] * step[j]
        step[p] = total * work[p, p]
    for p in range(m - 1, -1, -1):
        total = step[p]
        for j in range(p + 1, m):
            total -= work[j, p] * step[j]
        step[p] = total * work[p, p]
    finite = True
    for p in range(m):
        step[p] *= scale[p]
        finite = finite and np.isfinite(step[p])
    return finite
