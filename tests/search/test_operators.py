"""The paper's operators: children lie between parents, mutants near or far, and randomness is an argument."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from edhie.search.operators import convex_crossover, neighbours, spreads, survivors, tournaments
from searches import HVAE, Wrapped

codes = hnp.arrays(np.float32, (6, 4), elements=st.floats(-100, 100, width=32))
shares = hnp.arrays(np.float32, 6, elements=st.floats(0, 1, width=32))


@given(codes, codes, shares)
def test_children_lie_between_their_parents(a: np.ndarray, b: np.ndarray, w: np.ndarray) -> None:
    child = convex_crossover(a, b, w)
    slack = 1e-4
    assert (child >= np.minimum(a, b) - slack).all()
    assert (child <= np.maximum(a, b) + slack).all()
    # one share for all dimensions of a child
    np.testing.assert_allclose(child - a, w[:, np.newaxis] * (b - a), atol=slack)
    np.testing.assert_array_equal(convex_crossover(a, b, np.zeros(6, np.float32)), a)
    np.testing.assert_array_equal(convex_crossover(a, b, np.ones(6, np.float32)), b)
    assert child.dtype == np.float32


def test_mutants_have_the_paper_s_distribution() -> None:
    n, mean, deviation = 40_000, 3.0, 0.1
    for a in (0.0, 0.3, 1.0):
        drawn = neighbours(
            np.full((n, 2), mean, np.float32), np.full((n, 2), deviation, np.float32),
            np.full(n, a, np.float32), np.random.default_rng(0),
        )  # fmt: skip
        np.testing.assert_allclose(drawn.mean(0), a * mean, atol=0.02)
        np.testing.assert_allclose(drawn.std(0), a * deviation + (1 - a), rtol=0.02)


def test_a_mutant_is_about_what_its_code_decodes_to() -> None:
    z = HVAE.encode(HVAE.sample(300, np.random.default_rng(0)))[0]
    rng = np.random.default_rng(1)
    a = rng.random(300, dtype=np.float32)
    mutants = neighbours(*spreads(HVAE, z), a, rng)
    near, mean = a > 0.9, HVAE.encode(HVAE.decode(z).forest)[0]
    assert np.abs(mutants - mean)[near].mean() < 0.5 * np.abs(mutants - mean)[a < 0.2].mean()
    assert mutants.shape == z.shape
    assert mutants.dtype == np.float32


def test_what_decodes_to_nothing_becomes_random() -> None:
    broken = Wrapped(valid=lambda n: np.zeros(n, np.bool_))
    far = np.full((4000, HVAE.latent_dim), 50, np.float32)
    a = np.random.default_rng(1).random(4000, dtype=np.float32)
    drawn = neighbours(*spreads(broken, far), a, np.random.default_rng(0))
    assert abs(drawn.mean()) < 0.02
    assert abs(drawn.std() - 1) < 0.02
    mean, deviation = spreads(Wrapped(valid=lambda n: np.arange(n) < 2000), far)
    assert (mean[2000:] == 0).all()
    assert (deviation[2000:] == 1).all()
    assert mean[:2000].any()
    assert len(spreads(HVAE, far[:0])[0]) == 0


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, np.inf]), min_size=1, max_size=12), st.integers(1, 4), st.integers(0, 9)
)
def test_parents_are_the_best_of_their_tournament(errors: list[float], pressure: int, seed: int) -> None:
    given_errors = np.array(errors)
    pairs = tournaments(given_errors, 30, pressure, np.random.default_rng(seed))
    assert pairs.shape == (30, 2)
    assert ((pairs >= 0) & (pairs < len(errors))).all()
    if pressure >= 2 * len(errors):  # rivals are permutations: everyone takes part
        assert (given_errors[pairs] == given_errors.min()).all()
    np.testing.assert_array_equal(pairs, tournaments(given_errors, 30, pressure, np.random.default_rng(seed)))


def test_better_ones_become_parents_more_often() -> None:
    pairs = tournaments(np.arange(100.0), 5000, 2, np.random.default_rng(0))
    assert 30 < pairs.mean() < 36  # the lower of two of 0 … 99


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0, np.inf]), st.integers(0, 5)), max_size=20), st.integers(0, 8))
def test_the_best_survive_at_most_one_of_each(rows: list[tuple[float, int]], n: int) -> None:
    errors, keys = np.array([e for e, _ in rows]), np.array([k for _, k in rows], np.uint64)
    kept = survivors(errors, n)
    assert sorted(errors[kept]) == sorted(errors)[:n]
    unique = survivors(errors, n, keys)
    assert len(set(keys[unique].tolist())) == len(unique) == min(n, len(set(keys.tolist())))
    best_of_key = {key: min(e for e, k in rows if k == key) for key in keys.tolist()}
    assert errors[unique].tolist() == sorted(best_of_key.values())[: len(unique)]


@pytest.mark.parametrize("n", [1, 3])
def test_of_equals_the_earlier_survive(n: int) -> None:
    assert survivors(np.zeros(5), n).tolist() == list(range(n))
