"""Terms are added where a fit of the whole would gain most, as far as slopes can tell."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.values import squared_errors
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr.standard_libraries import everything
from edhie.search.mosaic.config import Growing
from edhie.search.mosaic.fitting.growing import (
    ScoreTest,
    best_insertions,
    grown,
    insertion_positions,
    keep_domain,
    points_beyond,
    small_terms,
    with_zeros,
)
from edhie.search.pieces.rewriting import refitted
from edhie.search.pieces.spelling import Speller
from mosaics import data_of, parsed, row_of, strict

LIBRARY = everything(["x0", "x1"])
COLUMNS = np.random.default_rng(0).uniform(-2, 2, (2, 200))
NOISE = np.random.default_rng(1).normal(size=200)


written = partial(parsed, library=LIBRARY)
values_of = partial(row_of, columns=COLUMNS)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2*sin(3*x0)", ["2*sin(3*x0)", "2", "3*x0", "3"]),  # not sin(3*x0): a multiple of the whole
        ("x0 + 2*x1", ["x0 + 2*x1", "2"]),
        ("x0/x1", ["x0/x1", "x0", "x1"]),
        ("x0/2", ["x0/2", "2"]),
        ("2/x0", ["2/x0", "2", "x0"]),
    ],
)
def test_a_term_has_a_different_effect_in_each_place(text: str, parts: list[str]) -> None:
    expr = written(text)
    assert [str(expr.subtree(position)) for position in insertion_positions(expr)] == parts


def test_exponents_are_no_places() -> None:
    expr = parse("x0^c", SymbolLibrary.of(["+", "*", "^"], ["x0"], constant=True)).with_constants([1.5])
    assert [str(expr.subtree(position)) for position in insertion_positions(expr)] == ["x0^1.5", "x0"]


@pytest.mark.parametrize("text", ["2*sin(3*x0)", "x0*exp(x1/3 + 1)/(x0^2 + 2)", "x0", "1.5"])
def test_zeros_change_nothing_and_have_the_slopes_of_their_places(text: str) -> None:
    expr = written(text)
    at = insertion_positions(expr)
    probe, is_added = with_zeros(expr, at)
    assert is_added.sum() == len(at)
    np.testing.assert_array_equal(values_of(probe), values_of(expr))
    response = Response(probe, COLUMNS)
    _, slopes = response.jacobian(response.constants)
    step = 1e-6
    for position, slope in zip(at, slopes[is_added], strict=True):
        moved = parse(f"({expr.subtree(position)}) + {step}", LIBRARY).numbers_to_constants()
        np.testing.assert_allclose(
            (values_of(expr.replace(position, moved)) - values_of(expr)) / step, slope, atol=1e-4
        )


def test_what_an_effect_explains_is_what_least_squares_gains_by_it() -> None:
    rng = np.random.default_rng(2)
    left, slopes, effects = rng.normal(size=50), rng.normal(size=(3, 50)), rng.normal(size=(4, 50))
    shares, factors = ScoreTest(left, slopes).explained(effects)
    before = np.linalg.lstsq(slopes.T, left)[1][0]
    for share, factor, effect in zip(shares, factors, effects, strict=True):
        solution, after, *_ = np.linalg.lstsq(np.column_stack([slopes.T, effect]), left)
        np.testing.assert_allclose([share, factor], [1 - after[0] / before, solution[-1]])


def test_effects_that_slopes_explain_or_that_are_not_finite_explain_nothing() -> None:
    rng = np.random.default_rng(3)
    slopes = rng.normal(size=(2, 30))
    effects = np.stack([slopes.sum(axis=0), np.full(30, np.inf), np.full(30, np.nan), np.zeros(30)])
    with np.errstate(all="ignore"):
        shares, factors = ScoreTest(rng.normal(size=30), slopes).explained(effects)
    assert shares.tolist() == factors.tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("start", "target"),
    [
        ("0.9*sin(1*x0)", "0.9*sin(x0 + 0.3*x0*x1)"),
        ("1*x0^2 + 1*x1", "(x0 + 0.4)^2 + x1"),  # an offset inside of a power
        ("2/(3 + x0)", "2/(3 + x0 + 0.2*x1)"),
        ("1*x0*exp(0.5*x1)", "(1 + 0.3*x0)*x0*exp(0.5*x1)"),  # a coefficient that depends on a variable
    ],
)
def test_a_missing_term_is_found_in_its_place(start: str, target: str) -> None:
    data = data_of(COLUMNS, values_of(written(target)))
    found = grown(written(start), data)
    assert found
    fitted = refitted(Forest.from_exprs(found), data)
    assert squared_errors(fitted, data).min() < 1e-12 * np.square(data.y).sum()


def test_rows_without_weight_do_not_count() -> None:
    weights = np.where(np.arange(200) < 150, 1.0, 0.0)
    target = values_of(written("sin(x0 + 0.3*x0*x1)")) + np.where(weights > 0, 0.0, 50.0 * NOISE)
    found = grown(written("1*sin(1*x0)"), data_of(COLUMNS, target, weights))
    assert str(found[0].free()) == "c*sin((c + c*x1)*x0)"


def test_noise_alone_is_no_reason_to_grow() -> None:
    data = data_of(COLUMNS, values_of(written("2*sin(3*x0)")) + 0.1 * NOISE)
    (fitted,) = refitted(Forest.from_exprs([written("2*sin(3*x0)")]), data)
    assert grown(fitted, data) == []


def test_what_leaves_next_to_nothing_does_not_grow() -> None:
    start = written("1*sin(1*x0)")
    near, far = (data_of(COLUMNS, values_of(start) + share * COLUMNS[1]) for share in (1e-5, 1e-3))
    assert grown(start, near) == []
    assert grown(start, far)


def test_the_most_bits_come_first_and_the_shorter_of_equal_ones() -> None:
    bits = np.array([[30.0, 50.0, np.nan], [50.0, Growing.LEAST_BITS, 50.0]])
    assert Growing.EQUAL == 2
    assert best_insertions(bits, np.array([3, 1, 0])) == [(1, 2), (0, 1), (0, 0)]


def test_terms_are_one_all_variables_and_products_of_those_that_occur() -> None:
    terms = small_terms(written("sin(x0)"), Speller(LIBRARY))
    assert [str(term) for term in terms] == ["1", "x0", "x1", "x0*x0"]


@pytest.mark.parametrize(
    "library", [strict(), SymbolLibrary.of(["*", "sin"], 2, constant=True), SymbolLibrary.of(["+"], 2, constant=True)]
)
def test_without_the_symbols_for_it_nothing_grows(library: SymbolLibrary) -> None:
    assert grown(parse("x0", library), data_of(COLUMNS, COLUMNS[1])) == []


def test_points_beyond_the_rows_keep_the_sign_of_a_variable() -> None:
    columns = np.array([[0.001, 5.0, 3.0], [-2.0, 1.0, 4.0]])
    low, high, *others = points_beyond(columns).T.tolist()
    assert low == [0.0005, -2.0]
    assert high[0] > 5.0
    assert high[1] == 1.0
    assert others[0][1] < -2.0
    assert others[1][1] > 4.0


def test_what_has_grown_keeps_the_domain_of_its_parents() -> None:
    columns = np.array([[0.0, 1.0, 2.0]])
    points, library = points_beyond(columns), everything(["x0"])
    root, shifted, line = (Forest.from_exprs([parse(text, library)]) for text in ("sqrt(x0)", "sqrt(x0 + 1)", "x0"))
    assert keep_domain(shifted, line, points).all()
    assert not keep_domain(root, line, points).any()
    assert keep_domain(root, root, points).all()  # where the parent has none, nothing is asked
    assert keep_domain(root, Forest.from_exprs([parse("log(0 - 1 - x0^2)", library)]), points).all()
    assert keep_domain(root.take([]), line, points).shape == (0,)
