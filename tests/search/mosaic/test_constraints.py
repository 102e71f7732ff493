"""With constraints the default search looks at no piece in vain, and finds what there is to be found."""

from __future__ import annotations

import numpy as np
import pytest

from edhie import Constraints
from edhie.evaluate import Evaluator
from edhie.evaluate.constraints import Rules
from edhie.evaluate.values import values
from edhie.expr import Expr, SymbolLibrary
from edhie.results import SearchResult
from edhie.search import Budget, run
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames.opening_frames import opening_frames
from edhie.search.mosaic.screening.elites import Elites
from edhie.search.mosaic.screening.frame_pool import PooledFrame
from edhie.search.mosaic.screening.pairs import plain_sums
from edhie.search.pieces.piece_pool import PiecePool
from edhie.search.pieces.rewriting import completed, trimmed
from mosaics import Numbers, data_of, forest_of, frames_of, free, positive, strict
from searches import HVAE

X = positive(2, 100)
A, B = X
NOISE = 0.01 * np.random.default_rng(0).normal(size=100)
both = pytest.mark.parametrize("library", [free(), strict()], ids=["free", "strict"])


def found(library: SymbolLibrary, y: Numbers, constraints: Constraints, budget: int = 800) -> SearchResult:
    result = run(HVAE, Evaluator(library, X.T, y, constraints=constraints), budget=Budget(budget))
    assert constraints.allowed(result.candidates.forest).all()
    assert result.best is not None
    return result


def error_of(result: SearchResult) -> float:
    assert result.best is not None
    return result.best.error


@both
def test_a_variable_that_says_nothing_is_written_where_it_has_to_be(library: SymbolLibrary) -> None:
    assert error_of(found(library, A**2, Constraints(all_variables=True))) < 1e-12
    assert error_of(found(library, A**2, Constraints(max_size=7, all_variables=True))) < 1e-12
    assert error_of(found(library, A**2 + NOISE, Constraints(all_variables=True))) < 0.011


@both
def test_what_is_small_enough_is_found(library: SymbolLibrary) -> None:
    result = found(library, A * np.sin(B), Constraints(max_size=7))
    assert error_of(result) < 1e-12
    rough = found(library, A * np.sin(B) + np.exp(-A) * B + 1, Constraints(max_size=7))
    assert error_of(rough) < 0.7 * np.std(A * np.sin(B) + np.exp(-A) * B)
    assert rough.candidates.forest.sizes.max() <= 7


@pytest.mark.slow
@both
def test_what_may_not_be_used_is_gone_around(library: SymbolLibrary) -> None:
    y = np.exp(A) * B
    without = found(library, y, Constraints(only_on={"exp": []}))
    assert error_of(without) < 0.1 * np.std(y)
    nothing = found(library, y, Constraints(forbidden=has_exp))
    assert error_of(nothing) < 0.1 * np.std(y)
    nested = found(library, np.sin(A + np.sin(B)), Constraints(nested={"sin": ["sin", "cos"], "cos": ["*"]}))
    assert error_of(nested) < 0.3 * np.std(np.sin(A + np.sin(B)))
    assert error_of(found(library, np.log(A) * B + A, Constraints(only_on={"log": ["x0"]}))) < 1e-12


def has_exp(expr: Expr) -> bool:
    return "exp" in expr.tokens


def test_pieces_that_may_be_in_no_equation_are_not_looked_at() -> None:
    rules = Rules(Constraints(max_size=4, nested={"sin": ["sin"]}, all_variables=True), free())
    pieces = PiecePool(free(), X, 100, np.ones(len(free())), rules=rules)
    given = forest_of(free(), "sin(sin(x0))", "x0", "x0*x1 + x1 + x0", "sin(x0 + x1)")
    assert list(map(str, pieces.unseen(given))) == ["x0", "sin(x0 + x1)"]
    assert pieces.n_seen == 2


def test_frames_keep_out_what_may_not_stand_within_their_links() -> None:
    data = data_of(X, np.exp(A) + B)
    rules = Rules(Constraints(nested={"log": ["sin"], "exp": ["sin"]}), free())
    linked = next(f for f in opening_frames(data, free(), MosaicConfig()) if f.link.head == ("log",))
    forest = forest_of(free(), "x0", "sin(x0)", "x1*sin(x0)", "cos(x1)")
    which, is_log = np.arange(4), np.zeros(4, np.bool_)
    elites = Elites(free(), data.n_rows, 1)
    assert PooledFrame(linked, elites, 0, rules).allowed(forest, which, is_log).tolist() == [True, False, False, True]
    assert PooledFrame(linked, elites, 0).allowed(forest, which, is_log).all()
    product = PooledFrame(frames_of(data, free(), "y", is_product=True)[0], elites, 0, rules)
    assert product.allowed(forest, which, is_log).tolist() == [True, False, False, True]
    assert product.allowed(forest, which, ~is_log).all()


@both
def test_completed_they_have_all_variables_and_the_same_values(library: SymbolLibrary) -> None:
    rules = Rules(Constraints(all_variables=True), library)
    forest = forest_of(library, "x0", "x0*x1", "sin(x1)")
    made = completed(forest, rules)
    assert rules.allowed(made).all()
    assert str(made[1]) == "x0*x1"
    np.testing.assert_array_equal(values(made, X), values(forest, X))
    assert completed(forest, Rules(Constraints(max_size=3), library)) is forest


@both
def test_trimmed_they_are_allowed(library: SymbolLibrary) -> None:
    rules = Rules(Constraints(max_size=5, nested={"sin": ["*"]}), library)
    made = trimmed(forest_of(library, "x0*sin(x1) + x1/x0 + x0*x0*x1"), rules)
    assert "x0*sin(x1)" in map(str, made)
    assert rules.allowed(made).all()
    assert len(trimmed(made.take([]), rules)) == 0


def test_sums_are_among_those_that_are_allowed() -> None:
    data = data_of(X, A + np.sin(B))
    forest = forest_of(strict(), "x0", "sin(x1)", "x1", "cos(x0)")
    assert "x0 + sin(x1)" in map(str, plain_sums(forest, data)[0])
    rules = Rules(Constraints(max_size=3), strict())
    assert rules.allowed(plain_sums(forest, data, rules)[0]).all()
