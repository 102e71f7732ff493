"""A frame remembers its best pieces, no two alike, and of every kind some."""

from __future__ import annotations

import numpy as np

from edhie.expr import Forest
from edhie.search.mosaic.screening.elites import Elites
from mosaics import forest_of, free

LIBRARY = free()
ROWS = 10_000  # so many that a node costs next to nothing


def offered(elites: Elites, texts: list[str], shares: list[float]) -> Elites:
    forest = forest_of(LIBRARY, *texts)
    rows = np.repeat(np.arange(3.0 * len(texts), step=3)[:, np.newaxis], ROWS, axis=1)
    plain = np.zeros(len(texts), np.bool_)
    elites.offer(forest, rows, np.arange(len(texts)), plain, np.array(shares))
    return elites


def test_the_best_come_first_and_what_explains_nothing_is_left_out() -> None:
    elites = offered(Elites(LIBRARY, ROWS, 10), ["x0", "sin(x0)", "x1", "x0*x1"], [0.2, 0.9, 0.0, 0.5])
    assert list(map(str, elites.forest)) == ["sin(x0)", "x0*x1", "x0"]
    assert elites.shares.tolist() == [0.9, 0.5, 0.2]
    assert elites.values[:, 0].tolist() == [3, 9, 0]


def test_of_those_alike_the_smaller_stays() -> None:
    elites = offered(Elites(LIBRARY, ROWS, 10), ["x0 + x1 - x1", "x0", "x0 + x0"], [0.5, 0.5, 0.5 + 1e-12])
    assert list(map(str, elites.forest)) == ["x0"]


def test_constants_do_not_make_another_piece() -> None:
    one = forest_of(LIBRARY, "c*x0").take([0, 0, 0])
    forest = Forest(LIBRARY, one.tokens, one.offsets, np.array([1.5, 2.5, 3.5]))
    elites = Elites(LIBRARY, 1, 10)
    elites.offer(forest, np.ones((3, 1)), np.arange(3), np.zeros(3, np.bool_), np.array([0.1, 0.6, 0.3]))
    assert elites.forest.values.tolist() == [2.5]


def test_there_are_never_too_many_and_the_best_stays() -> None:
    rng, elites = np.random.default_rng(0), Elites(LIBRARY, ROWS, 5)
    texts = ["x0", "x1", "sin(x0)", "sin(x1)", "cos(x0)", "x0*x1", "x0/x1", "x1/x0", "exp(x0)", "x0 + x1", "x0^2"]
    best = 0.0
    for _ in range(20):
        shares = rng.random(len(texts)).tolist()
        best = max(best, *shares)
        offered(elites, texts, shares)
        assert len(elites) <= 5
        assert len(elites) == len(elites.values) == len(elites.is_log) == len(elites.shares)
        assert elites.shares[0] == best


def test_one_form_does_not_take_all_places() -> None:
    texts = [f"sin({inner})" for inner in ("x0 - x1", "x0*x1", "x0 + x1", "x0/x1")] + ["exp(x0)*x1"]
    elites = offered(Elites(LIBRARY, ROWS, 2), texts, [0.9, 0.89, 0.88, 0.87, 0.1])
    assert "exp(x0)*x1" in set(map(str, elites.forest))
