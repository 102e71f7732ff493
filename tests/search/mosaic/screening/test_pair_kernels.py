"""All pairs at once are what trying each of them gives."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from edhie.search.mosaic.screening.pair_kernels import best_pairs_of, best_sums
from mosaics import Numbers


def units(n: int, seed: int) -> tuple[Numbers, Numbers]:
    rng = np.random.default_rng(seed)
    rows, target = rng.normal(size=(n, 30)), rng.normal(size=30)
    return rows / np.linalg.norm(rows, axis=1)[:, np.newaxis], target / np.linalg.norm(target)


@pytest.mark.parametrize(("n", "top"), [(12, 5), (3, 10), (2, 1), (1, 3), (0, 2)])
def test_best_pairs(n: int, top: int) -> None:
    rows, target = units(n, n)
    wanted = []
    for i, j in combinations(range(n), 2):
        both = rows[[i, j]].T
        rest = target - both @ np.linalg.lstsq(both, target, rcond=None)[0]
        wanted.append((1 - float(rest @ rest), i, j))
    wanted.sort(reverse=True)
    found = best_pairs_of(rows @ rows.T, rows @ target, top)
    count = min(top, len(wanted))
    np.testing.assert_allclose(-found[:count, 0], [each[0] for each in wanted[:count]], atol=1e-12)
    assert found[:, 1:].tolist() == [list(each[1:]) for each in wanted[:count]] + [[-1, -1]] * (top - count)


def test_a_regressor_twice_is_no_pair() -> None:
    rows, target = units(3, 0)
    twice = np.concatenate([rows, rows, -rows])
    found = best_pairs_of(twice @ twice.T, twice @ target, 40)
    assert found[:, 0].min() >= -1 - 1e-9
    assert all(i % 3 != j % 3 for _, i, j in found if i >= 0)


@pytest.mark.parametrize(("n", "top"), [(9, 12), (2, 20), (1, 3), (0, 2)])
def test_best_sums(n: int, top: int) -> None:
    rng = np.random.default_rng(n)
    rows, target = rng.normal(size=(n, 20)), rng.normal(size=20)
    wanted = [
        (float(np.square(rows[i] + sign * rows[j] - target).sum()), i, j, sign)
        for i in range(n) for j in range(n) for sign in (1, -1)
        if (sign > 0 and j >= i) or (sign < 0 and i != j)
    ]  # fmt: skip
    wanted.sort()
    found = best_sums(rows @ rows.T, rows @ target, float(target @ target), top)
    count = min(top, len(wanted))
    np.testing.assert_allclose(found[:count, 0], [each[0] for each in wanted[:count]], rtol=1e-9)
    assert found[:count, 1:].tolist() == [list(each[1:]) for each in wanted[:count]]
    assert (found[count:, 1] == -1).all()
