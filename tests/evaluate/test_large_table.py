"""A sample of a table that is read in batches."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.large_table import Sample, take_sample

TABLE = np.random.default_rng(0).normal(size=(5000, 3))


def sampled(batch: int, searched: int = 300, held_out: int = 200) -> Sample:
    parts = iter(np.array_split(TABLE, range(batch, len(TABLE), batch)))
    return take_sample(parts, searched, held_out=held_out, parts=5, rng=np.random.default_rng(7))


def rows_of(part: np.ndarray) -> list[int]:
    """Return the numbers of the rows of a sample, in its order."""
    found = [int(np.flatnonzero((row == TABLE).all(axis=1))[0]) for row in part]
    assert found == sorted(set(found))
    return found


def test_a_sample_does_not_depend_on_batches() -> None:
    one = sampled(5000)
    for batch in (1, 64, 4999):
        other = sampled(batch)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_searched_and_held_out_rows_are_apart_and_extremes_are_searched() -> None:
    found = sampled(640)
    searched, held_out = rows_of(found.searched), rows_of(found.held_out)
    assert held_out == found.held_out_rows.tolist()
    assert not set(searched) & set(held_out)
    extremes = {*TABLE.argmin(axis=0).tolist(), *TABLE.argmax(axis=0).tolist()} - set(held_out)
    assert extremes <= set(searched)
    assert (len(held_out), found.n_rows) == (200, 5000)
    assert 300 <= len(searched) <= 300 + len(extremes)


@pytest.mark.parametrize(("searched", "held_out"), [(10_000, 20_000), (4000, 20_000)])
def test_of_few_rows_all_others_are_searched(searched: int, held_out: int) -> None:
    found = sampled(700, searched, held_out)
    assert len(found.held_out) == 1000  # one in five
    assert sorted(rows_of(found.searched) + rows_of(found.held_out)) == list(range(5000))


def test_all_rows_are_equally_likely() -> None:
    counts = np.zeros(50)
    for seed in range(2000):
        rows = np.arange(50.0)[:, np.newaxis]
        taken = take_sample(iter([rows[:20], rows[20:]]), 10, held_out=5, parts=5, rng=np.random.default_rng(seed))
        counts[taken.held_out_rows] += 1
    assert np.abs(counts - 200).max() < 4.5 * np.sqrt(200 * 0.9)
