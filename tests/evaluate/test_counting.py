"""Rows by key: as a dict has them, many at once."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from edhie.evaluate.archive import FIRST_CAPACITY
from edhie.evaluate.counting import Keys, KeyTable

CROWDED = 1 << 40  # keys that differ only above the bits that choose a slot, so that all want the same one


def keys(numbers: list[int], step: int = 1) -> Keys:
    return np.array([[n * step, n % 3] for n in numbers], np.uint64).reshape(-1, 2)


batches = st.lists(st.lists(st.integers(0, 40), max_size=30), max_size=6)


@given(batches, st.sampled_from([1, CROWDED]))
def test_it_finds_what_a_dict_finds(given_batches: list[list[int]], step: int) -> None:
    table, reference = KeyTable(row=-1), dict[int, int]()
    for batch in given_batches:
        expected = [reference.get(n, -1) for n in batch]
        assert table.find(keys(batch, step)).tolist() == expected
        for n in batch:
            reference.setdefault(n, len(reference))
        assert table.add(keys(batch, step)).tolist() == [reference[n] for n in batch]
    assert len(table) == len(reference)
    assert table.keys[:, 0].tolist() == [n * step for n in reference]


def test_both_halves_of_a_key_count() -> None:
    table = KeyTable()
    assert table.add(np.array([[1, 0], [1, 1], [0, 1], [1, 0]], np.uint64)).tolist() == [0, 1, 2, 0]


def test_columns_go_with_their_rows() -> None:
    table = KeyTable(number=-1, share=math.inf)
    table.add(keys([5, 6, 5]), number=np.array([50, 60, 70]))
    table.add(keys([7, 6]), share=np.array([0.5, 0.25]))
    assert table["number"].tolist() == [50, 60, -1]  # of equal keys the first, and what is there stays
    assert table["share"].tolist() == [math.inf, math.inf, 0.5]
    chosen = table.chosen(np.array([2, 0]), number=np.array([1, 2]))
    assert chosen.find(keys([5, 6, 7])).tolist() == [1, -1, 0]
    assert (chosen["number"].tolist(), chosen["share"].tolist()) == ([1, 2], [0.5, math.inf])


def test_it_grows() -> None:
    table = KeyTable(number=0)
    first, many = list(range(FIRST_CAPACITY - 1)), list(range(5 * FIRST_CAPACITY))
    table.add(keys(first), number=np.array(first))
    before = table.keys
    table.add(keys(many), number=np.array(many))
    assert table["number"].tolist() == table.find(keys(many)).tolist() == many
    assert before.tolist() == keys(first).tolist()  # as it was
