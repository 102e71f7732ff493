from __future__ import annotations

import numpy as np
import pytest

from edhie.errors import ParseError, SearchError
from edhie.evaluate import Evaluator
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.generators import load
from edhie.generators.base import Codes, Renamed
from edhie.search import Budget, run, strategy_named
from edhie.search.arrays import read, written
from edhie.search.revision import Revise, ReviseConfig
from edhie.search.revision.formula import neighbours_by
from edhie.search.revision.revisions import STAGES, Revisions
from edhie.search.revision.search import constants_only
from searches import HVAE, evaluator

LIBRARY = SymbolLibrary.of(["+", "-", "*", "exp", "^2"], 2, constant=True)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"formula": 3}, "formula is a text"),
        ({"radii": ()}, "radii are positive"),
        ({"radii": (1.0, -1.0)}, "radii are positive"),
        ({"edits": 0}, "edits"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], match: str) -> None:
    with pytest.raises(Exception, match=match):
        ReviseConfig(**settings)  # type: ignore[arg-type]


def test_it_needs_a_formula_that_the_answers_can_have() -> None:
    with pytest.raises(SearchError, match="needs a formula"):
        run(HVAE, evaluator(), strategy=strategy_named("revise"), budget=Budget(10))
    with pytest.raises(ParseError, match="unknown symbol 'z'"):
        run(HVAE, evaluator(), strategy=Revise(ReviseConfig("z + x0")), budget=Budget(10))


def test_the_latent_space_alone_is_near_the_formula() -> None:
    x = np.random.default_rng(0).uniform(0.5, 3, (80, 2))
    model = Renamed(load("general-2"), ["a", "b"])
    scored = Evaluator(model.library, x, 2 * x[:, 0] * np.exp(-0.5 * x[:, 1]) + 1)
    formula, rng = parse("c*a*exp(-c*b)", model.library), np.random.default_rng(0)
    found, invalid = neighbours_by(model, formula, 200, 2.0, rng)
    assert invalid == 0
    assert 20 < len(found.unique()) == len(found)
    assert np.isfinite(scored.score(found).errors).any()


def test_a_generator_that_lacks_symbols_is_asked_for_what_is_nearest() -> None:
    library = SymbolLibrary.of(["+", "*", "sinh", "sin"], 1, constant=True)
    found, _ = neighbours_by(HVAE, parse("c*sinh(x0)", library), 50, 2.0, np.random.default_rng(0))
    assert len(found)
    assert found.library == library
    assert all(expr.tokens[:2] == ("*", "c") for expr in found)  # its own have no constants


def test_there_is_none_over_other_variables() -> None:
    library = SymbolLibrary.of(["+", "sin"], ["t"])
    found, _ = neighbours_by(HVAE, parse("sin(t)", library), 10, 1.0, np.random.default_rng(0))
    assert len(found) == 0


def test_the_front_and_who_is_next() -> None:
    forest = Forest.from_exprs([parse(text, LIBRARY) for text in ("x0", "x0^2", "exp(x0)", "x0 + x1")])
    known = Revisions.empty(LIBRARY, 10, 5.0).with_more(forest, np.array([4.0, 2.0, 3.0, 1.0]), np.array([0, 1, 1, 2]))
    assert known.front.tolist() == [0, 1, 3]
    assert known.next(by_bits=True) == 3
    assert known.next(by_bits=False) == 0
    assert known.tried(0).next(by_bits=False) == 1
    assert known.best(3).errors.tolist() == [4.0, 2.0, 1.0]
    assert known.would_stay(np.array([0.5, 9.0]), np.array([2, 3]), 4).tolist() == [True, False]
    again = read(Revisions.empty(LIBRARY, 10, 5.0), "known", written({"known": known}))
    np.testing.assert_array_equal(again.distances, known.distances)
    for _ in range(STAGES):
        for k in range(4):
            known = known.tried(k)
    assert known.next(by_bits=True) is None


def test_operators_over_constants_alone_are_counted() -> None:
    texts = ("c*x0", "exp(c)*x0", "(c + c)*x0 + c^2", "x0 + x1")
    forest = Forest.from_exprs([parse(text, LIBRARY) for text in texts])
    assert constants_only(forest).tolist() == [0, 1, 2, 0]


class Watched(Renamed):
    """A generator that notes what it encodes."""

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        encoded.append(str(forest[0].free()))
        return super().encode(forest)


encoded: list[str] = []


def test_it_starts_at_the_code_of_the_formula_and_goes_outwards() -> None:
    """Around the formula at every radius first, then around what explains more."""
    encoded.clear()
    x = np.random.default_rng(0).uniform(0.5, 3, (80, 2))
    model = Watched(load("general-2"), ["a", "b"])
    scored = Evaluator(model.library, x, 2 * x[:, 0] * np.exp(-0.5 * x[:, 1]) + 1 + 0.01 * np.sin(99 * x[:, 0]))
    config = ReviseConfig("c*a*exp(-b)", edits=20, radii=(1.0, 2.0))
    result = run(model, scored, strategy=Revise(config), budget=Budget(500))
    assert encoded[:2] == ["c*a*exp(-b)"] * 2
    assert len(set(encoded)) > 2
    found = {str(each.free()) for each in result.candidates.forest}
    around, _ = neighbours_by(model, parse("c*a*exp(-b)", model.library), 100, 1.0, np.random.default_rng(0))
    assert found & {str(each) for each in around}
