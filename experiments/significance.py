"""Tests and intervals behind "more", "fewer" and "within chance" in the tables of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

CHANCE = 0.05  # significance level
Counts = dict[str, tuple[int, int]]
"""Successes and runs, by equation."""
Outcomes = Mapping[str, Sequence[bool]]
"""Whether each run found the equation, by equation."""
RESAMPLES = 10_000


def p_value(first: Counts, second: Counts) -> float:
    """Return the exact two-sided p of successes and runs by equation, on the equations that both have.

    Given how often each equation was found in all, the successes of the first are hypergeometric on every equation if
    both have the same chance on it; p is the probability of all totals that are at most as probable as the one seen.

    >>> p_value({"a": (10, 10)}, {"a": (0, 10)}) < 1e-4
    True
    >>> round(p_value({"a": (5, 10)}, {"a": (5, 10)}), 9)
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


def paired_t(gains: Sequence[float]) -> float:
    """Return the two-sided p of the paired t-test; 1 if nothing differs.

    >>> round(paired_t([1.0, 2.0, 3.0]), 3)
    0.074
    """
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(gains, 0.0).pvalue) if np.any(gains) else 1.0


def rank_sum(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p of the Mann-Whitney test; 1 if all values are equal."""
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(first, second).pvalue) if len({*first, *second}) > 1 else 1.0


def interval(first: Outcomes, second: Outcomes, *, paired: bool = False) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two success rates, in percentage points.

    It is a percentile bootstrap: equations are drawn anew, and for each of them its runs; if `paired`, the same runs of
    both. A method has as many runs of each equation.

    >>> interval({"a": [True] * 9}, {"a": [False] * 9})
    (100.0, 100.0)
    """
    rng = np.random.default_rng(0)
    names = sorted(first.keys() & second.keys())
    one, other = (np.array([each[name] for name in names], dtype=float) for each in (first, second))
    drawn = rng.integers(len(names), size=(RESAMPLES, len(names), 1))
    runs = rng.integers(one.shape[1], size=(RESAMPLES, len(names), one.shape[1]))
    others = runs if paired else rng.integers(other.shape[1], size=(RESAMPLES, len(names), other.shape[1]))
    differences = one[drawn, runs].mean((1, 2)) - other[drawn, others].mean((1, 2))
    low, high = np.percentile(100 * differences, (2.5, 97.5))
    return float(low), float(high)


def shown_interval(first: Outcomes, second: Outcomes, *, paired: bool = False) -> str:
    """Return the difference of two success rates with its interval, as the pages show it.

    >>> shown_interval({"a": [True] * 9}, {"a": [False] * 9})
    '+100 points (95 % interval +100 to +100)'
    """
    names = first.keys() & second.keys()
    rates = [np.mean([np.mean(each[name]) for name in names]) for each in (first, second)]
    low, high = (_signed(each) for each in interval(first, second, paired=paired))
    return f"{_signed(100 * float(rates[0] - rates[1]))} points (95 % interval {low} to {high})"


def _signed(number: float) -> str:
    return "0" if round(number, 1) == 0 else f"{number:+.1f}".removesuffix(".0").replace("-", "−")
