"""Rules that choose from a front, on fronts where the choice is plain."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.errors import SearchError
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.results import Candidates, Front
from edhie.selection.rules import SELECTION, best, score, scores_of

LIBRARY = SymbolLibrary.of(["sin"], ["x"])


def front(*points: tuple[int, float], negligible: float = 0.0) -> Front:
    """A front of nested sines: so many nodes, such an error."""
    forest = Forest.from_exprs([Expr(LIBRARY, ["sin"] * (size - 1) + ["x"]) for size, _ in points], LIBRARY)
    errors, sizes = np.array([error for _, error in points]), np.array([float(size) for size, _ in points])
    return Front(Candidates(forest, errors, sizes, np.arange(len(points))), negligible)


KNEE = front((1, 10.0), (3, 1.0), (5, 0.01), (9, 0.008), (20, 0.0079))


def test_score_takes_the_steepest_drop() -> None:
    np.testing.assert_allclose(scores_of(KNEE)[:3], [0, np.log(10) / 2, np.log(100) / 2])
    assert score(KNEE).complexity == 5


def test_best_takes_the_steepest_drop_close_to_the_least_error() -> None:
    assert best(KNEE).complexity == 5
    assert best(front((1, 10.0), (3, 0.1), (5, 0.09), (7, 0.01))).complexity == 7


def test_a_perfect_fit_is_chosen_by_all_and_no_error_is_infinite() -> None:
    perfect = front((1, 3.0), (4, 0.0))
    assert np.isfinite(scores_of(perfect)).all()
    assert {rule(perfect).complexity for rule in SELECTION.values()} == {4}


def test_a_front_of_one_and_of_none() -> None:
    for rule in SELECTION.values():
        assert rule(front((3, 1.0))).complexity == 3
        with pytest.raises(SearchError, match="the front is empty"):
            rule(front())
