"""The paper's operators on codes, selection of parents and survivors: pure functions on arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.generators.base import Codes, LatentGenerator
from edhie.search.arrays import Indices, Numbers


def convex_crossover(a: Codes, b: Codes, w: NDArray[np.float32]) -> Codes:
    """Return offspring between their parents: (1 - w)·a + w·b, with one `w` in [0, 1] for each.

    >>> convex_crossover(np.zeros((1, 2), np.float32), np.ones((1, 2), np.float32), np.array([0.25], np.float32))
    array([[0.25, 0.25]], dtype=float32)
    """
    share = w[:, np.newaxis]  # (children, 1)
    return (1 - share) * a + share * b


def spreads(generator: LatentGenerator, z: Codes) -> tuple[Codes, Codes]:
    """Return mean and deviation of each code's expression, encoded again; the prior's where it decodes to nothing."""
    decoded = generator.decode(z)
    return spreads_of(generator, decoded.forest, decoded.sources, len(z))


def spreads_of(generator: LatentGenerator, forest: Forest, sources: Indices, count: int) -> tuple[Codes, Codes]:
    """Return the same of `count` codes, where it is known which of them (`sources`) decode to which expressions."""
    mean = np.zeros((count, generator.latent_dim), np.float32)
    deviation = np.ones_like(mean)
    encoded_mean, log_variance = generator.encode(forest)
    mean[sources], deviation[sources] = encoded_mean, np.exp(log_variance / 2)
    return mean, deviation


def neighbours(mean: Codes, deviation: Codes, a: NDArray[np.float32], rng: np.random.Generator) -> Codes:
    """Draw from N(a·mean, a·deviation + (1 - a)·1), with one `a` for each code.

    Near a = 1 the result is syntactically similar, near 0 it is random.
    """
    share = a[:, np.newaxis]
    noise = rng.standard_normal(mean.shape, dtype=np.float32)
    return share * mean + (share * deviation + (1 - share)) * noise


def tournaments(errors: Numbers, n: int, pressure: int, rng: np.random.Generator) -> Indices:
    """Return pairs of parents, of shape (n, 2): each is the best of `pressure` rivals.

    Rivals are drawn as in pymoo: permutations of the population one after the other, cut into tournaments.
    """
    drawn = 2 * n * pressure
    permutations = [rng.permutation(len(errors)) for _ in range(-(-drawn // len(errors)))]
    rivals: Indices = np.concatenate(permutations)[:drawn].reshape(2 * n, pressure)
    winners = np.argmin(errors[rivals], axis=1)  # of equals the first, and the order is random
    parents: Indices = rivals[np.arange(2 * n), winners].reshape(n, 2)
    return parents


def survivors(errors: Numbers, n: int, forms: NDArray[np.uint64] | None = None) -> Indices:
    """Return the indices of the `n` with the lowest errors, of equals the earlier; at most one of each form."""
    order = np.argsort(errors, kind="stable")
    if forms is not None:
        _, first = np.unique(forms[order], return_index=True)
        order = order[np.sort(first)]
    return order[:n]
