"""Tests behind "more", "fewer" and "within chance" in the tables of results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CHANCE = 0.05  # significance level
Counts = dict[str, tuple[int, int]]
"""Successes and runs, by equation."""


def p_value(first: Counts, second: Counts) -> float:
    """Return the exact two-sided p of successes and runs by equation, on the equations that both have.

    Given how often each equation was found in all, the successes of the first are hypergeometric on every equation if
    both have the same chance on it; p is the probability of all totals that are at most as probable as the one seen.

    >>> p_value({"a": (10, 10)}, {"a": (0, 10)}) < 1e-4
    True
    >>> p_value({"a": (5, 10)}, {"a": (5, 10)})
    1.0
    """
    from scipy.stats import hypergeom

    chances, seen = np.ones(1), 0
    for name in first.keys() & second.keys():
        (found, runs), (other_found, other_runs) = first[name], second[name]
        every = hypergeom.pmf(np.arange(runs + 1), runs + other_runs, found + other_found, runs)
        chances, seen = np.convolve(chances, every), seen + found
    return min(1.0, float(chances[chances <= chances[seen] * (1 + 1e-9)].sum()))


def holm(p: Sequence[float]) -> list[float]:
    """Return p values corrected for their number by Holm's method.

    >>> holm([0.04, 0.01])
    [0.04, 0.02]
    >>> holm([0.02, 0.03])
    [0.04, 0.04]
    """
    corrected, least = [1.0] * len(p), 0.0
    for rank, k in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        least = max(least, min(1.0, (len(p) - rank) * p[k]))
        corrected[k] = least
    return corrected


def rate(counts: Counts, names: set[str]) -> float:
    """Return the share of successful runs on these equations."""
    return sum(counts[name][0] for name in names) / max(1, sum(counts[name][1] for name in names))


def verdict(first: Counts, second: Counts, p: float, more: str = "more", fewer: str = "fewer") -> str:
    """Return whether the first found more or fewer than the second, on the equations that both have."""
    shared = first.keys() & second.keys()
    one, other = rate(first, set(shared)), rate(second, set(shared))
    if p >= CHANCE:
        return "as many" if one == other else f"within chance ({shown(p)})"
    return f"{more if one > other else fewer} ({shown(p)})"


def shown(p: float) -> str:
    """Return p as the page shows it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def sign_p(better: int, worse: int) -> float:
    """Return the exact two-sided p of McNemar's test: runs that only one of two methods got right, on the same data.

    >>> sign_p(5, 0)
    0.0625
    >>> sign_p(0, 0)
    1.0
    """
    from scipy.stats import binomtest

    return float(binomtest(better, better + worse).pvalue) if better + worse else 1.0


def signed_rank(gains: Sequence[float]) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test; 1 if nothing differs."""
    from scipy.stats import wilcoxon

    return float(wilcoxon(np.asarray(gains)).pvalue) if np.any(gains) else 1.0
