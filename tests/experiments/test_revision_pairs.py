"""The pairs of the revision experiment: sound, and in two halves."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import parse
from edhie.expr.difference import distance
from edhie.expr.standard_libraries import everything
from revision import HALVES, NOISE, read_pairs, table, verdict

PAIRS = read_pairs()


def test_half_of_them_are_held_out() -> None:
    halves = [pair.half for pair in PAIRS.values()]
    assert [halves.count(half) for half in HALVES] == [len(PAIRS) // 2] * 2


@pytest.mark.parametrize("name", PAIRS)
def test_the_truth_is_the_truth_and_what_is_given_is_not(name: str) -> None:
    pair = PAIRS[name]
    given, truth = parse(pair.given, everything(pair.problem.names)), pair.problem.truth
    assert truth is not None
    assert distance(given, truth) > 0
    X, y = pair.problem.data("train", 0)  # noqa: N806
    _, noisy = pair.problem.data("train", 0, NOISE)
    assert np.isfinite(X).all()
    assert 0 < np.std(noisy - y) < 0.1 * np.std(y)
    assert verdict(truth, pair, 0) == "yes"


def test_the_table_counts_half_by_half() -> None:
    row = {"pair": "a", "half": "held out", "given": "x", "truth": "x^2", "chosen": "no", "listed": "yes"}
    assert "| total | | | 0 of 1 | 1 of 1 |" in table([row])
