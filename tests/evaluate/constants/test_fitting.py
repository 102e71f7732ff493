"""Constants by least squares: closed forms, recovery, and independence of everything but expression, data and seed."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.errors import EdhieError
from edhie.evaluate.constants.fitting import CHEAP, THOROUGH, FitConfig, fit_constants, fit_missing
from edhie.evaluate.data import Data
from edhie.evaluate.parallel import using_threads
from edhie.evaluate.reading import read_data
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest, parse
from edhie.expr import standard_libraries as standard
from edhie.grammar import load

LIBRARY = standard.everything(2)
RNG = np.random.default_rng(0)
X = RNG.uniform(1, 5, (200, 2))


def forest_of(*texts: str) -> Forest:
    return Forest.from_exprs([parse(text, LIBRARY) for text in texts])


def data_of(text: str, *constants: float, noise: float = 0.0, weights: np.ndarray | None = None) -> Data:
    truth = Forest.from_exprs([parse(text, LIBRARY).with_constants(constants)])
    y = values(truth, np.ascontiguousarray(X.T))[0]
    return read_data(X, y + noise * RNG.normal(size=len(y)), weights=weights, names=LIBRARY.variables)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_what_is_linear_has_a_closed_form(is_weighted: bool) -> None:
    weights = RNG.random(len(X)) if is_weighted else None
    data = data_of("sin(x0)*x1", noise=1.0, weights=weights)
    forest = forest_of("c + c*x0 - c*sin(x1)/x0 + x1")
    fitted = fit_constants(forest, data, config=FitConfig(points=1, starts=1, iterations=3))
    design = np.stack([np.ones(len(X)), X[:, 0], -np.sin(X[:, 1]) / X[:, 0]], axis=1)
    root = np.sqrt(np.ones(len(X)) if weights is None else weights)
    expected, *_ = np.linalg.lstsq(design * root[:, None], (data.y - X[:, 1]) * root, rcond=None)
    np.testing.assert_allclose(fitted.forest[0].constants, expected, rtol=1e-9)
    np.testing.assert_allclose(fitted.squared_errors, squared_errors(fitted.forest, data), rtol=1e-10)


RECOVERED = [
    ("c*exp(-c*x0) + c", (2.5, 0.7, 1.0)),
    ("c*x0^c", (3.0, 1.5)),
    ("sin(c*x0 + c)*c", (2.0, 0.5, 3.0)),
    ("x0/(x1 + c)", (2.0,)),
    ("sqrt(c*x0^2 + c*x1)", (2.0, 3.0)),
    ("c*x0/(c + x1)", (3.0, 0.5)),
    ("exp(-(x0 - c)^2/c)", (2.5, 1.5)),
    ("log(c*x0 + x1) + c", (0.3, -2.0)),
    ("c*tanh(c*(x0 - c))", (2.0, 1.5, 3.0)),
    ("abs(x0 - c)", (2.2,)),
    ("max(x0, c)", (3.0,)),
    ("c", (4.0,)),
]


@pytest.mark.parametrize(("text", "constants"), RECOVERED)
def test_what_data_was_made_with_is_found_again(text: str, constants: tuple[float, ...]) -> None:
    if text == "c":
        data = read_data(X, np.full(len(X), 4.0), names=LIBRARY.variables, allow_constant_target=True)
    else:
        data = data_of(text, *constants)
    fitted = fit_constants(forest_of(text), data, config=THOROUGH)
    assert fitted.squared_errors[0] <= 1e-18 * max(data.squares_about_mean, 1.0)


def test_a_fit_depends_on_nothing_else() -> None:
    grammar = load("feynman-2")
    forest = grammar.sample(300, np.random.default_rng(3), max_height=5).unique()
    y = X[:, 0] * np.exp(-X[:, 1]) + 0.1 * RNG.normal(size=len(X))
    data = read_data(X, y, names=grammar.library.variables)
    fitted = fit_constants(forest, data)
    for threads in (2, 3):
        with using_threads(threads):
            again = fit_constants(forest, data)
        np.testing.assert_array_equal(again.squared_errors, fitted.squared_errors)
        np.testing.assert_array_equal(again.forest.values, fitted.forest.values)
    order = np.random.default_rng(0).permutation(len(forest))
    shuffled = fit_constants(forest.take(order), data)
    np.testing.assert_array_equal(shuffled.squared_errors, fitted.squared_errors[order])
    finite = np.isfinite(fitted.squared_errors)
    np.testing.assert_allclose(
        squared_errors(fitted.forest.take(finite), data), fitted.squared_errors[finite], rtol=1e-6, atol=1e-20
    )


def test_a_start_that_is_given_is_never_left_for_a_worse_place() -> None:
    data = data_of("c*sin(c*x0)", 2.0, 7.3, noise=0.1)
    given = Forest.from_exprs([parse("c*sin(c*x0)", LIBRARY).with_constants((2.0, 7.3))])
    before = squared_errors(given, data)[0]
    assert fit_constants(given, data, config=CHEAP).squared_errors[0] <= before


def test_many_rows_are_fitted_on_all_of_them() -> None:
    x = np.random.default_rng(0).uniform(1, 5, (20_000, 2))
    y = 2.0 * np.exp(-0.5 * x[:, 0]) + np.random.default_rng(1).normal(size=len(x))
    data = read_data(x, y, names=LIBRARY.variables)
    few, every = (fit_constants(forest_of("c*exp(c*x0)"), data, config=FitConfig(rows=rows)) for rows in (200, None))
    np.testing.assert_allclose(few.forest.values, every.forest.values, rtol=1e-4)


def test_bounds_are_kept() -> None:
    data = data_of("c*exp(-c*x0) + c", 2.5, 0.7, 1.0)
    fitted = fit_constants(forest_of("c*exp(c*x0) + c", "c*x0"), data, config=FitConfig(lower=0.0, upper=2.0))
    assert (fitted.forest.values >= 0).all()
    assert (fitted.forest.values <= 2).all()


@pytest.mark.parametrize(
    "text",
    ["c*c*x0", "c/c", "c - c + x0", "c*(c*x0 + c)", "0*c", "sign(c)*x0", "c^c", "c/(c*x0)", "sqrt(-c^2 - 1)", "x0/0*c"],
)
def test_degenerate_constants_break_nothing(text: str) -> None:
    data = data_of("2*x0 + x1", noise=0.1)
    fitted = fit_constants(forest_of(text), data, config=THOROUGH)
    error = fitted.squared_errors[0]
    assert error >= 0
    if np.isfinite(error):
        assert np.isfinite(fitted.forest.values).all()


def test_numbers_are_not_constants() -> None:
    data = data_of("2*x0")
    fitted = fit_constants(forest_of("3*x0 + c", "x0"), data)
    assert str(fitted.forest[0]).startswith("3*x0")
    assert fitted.squared_errors[1] == pytest.approx(squared_errors(forest_of("x0"), data)[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": 0}, "starts must be a whole number, at least 1; it is 0"),
        ({"points": 2.5}, "points must be a whole number"),
        ({"seed": 1 << 64}, "seed must be a whole number"),
        ({"rows": 0}, "rows must be a whole number, at least 1, or None for all rows"),
        ({"lower": 1.0, "upper": 1.0}, "lower must be below upper"),
        ({"tolerance": -1.0}, "tolerance is a share"),
        ({"enough": float("nan")}, "enough is a share"),
    ],
)
def test_a_wrong_setting_is_told(changes: dict[str, float], message: str) -> None:
    with pytest.raises(EdhieError, match=message):
        FitConfig(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-9, 1e9, 1e100, 1e150])
def test_the_unit_of_the_target_does_not_matter(scale: float) -> None:
    y = scale * 3.0 * np.exp(-0.7 * X[:, 0])
    data = read_data(X, y, names=LIBRARY.variables)
    fitted = fit_constants(forest_of("c*exp(c*x0)", "c + c*x0"), data)
    np.testing.assert_allclose(fitted.forest[0].constants, (3.0 * scale, -0.7), rtol=1e-7)
    slope, offset = np.polyfit(X[:, 0], y / scale, 1)
    np.testing.assert_allclose(fitted.forest[1].constants, (offset * scale, slope * scale), rtol=1e-9)


def test_a_small_signal_on_a_large_offset_is_found() -> None:
    data = read_data(X, 1e9 + 3.0 * np.exp(-0.7 * X[:, 0]), names=LIBRARY.variables)
    fitted = fit_constants(forest_of("c + c*exp(c*x0)"), data)
    np.testing.assert_allclose(fitted.forest[0].constants, (1e9, 3.0, -0.7), rtol=1e-6)


@pytest.mark.parametrize("config", [CHEAP, FitConfig(lower=0.5, upper=2.0), FitConfig(rows=50)])
@pytest.mark.parametrize("low", [-3.0, 1.0])
def test_errors_are_those_of_the_constants_to_the_bit(low: float, config: FitConfig) -> None:
    x = RNG.uniform(low, 3, (300, 2))
    data = read_data(x, x[:, 0] / (x[:, 1] ** 2 + 2.0), names=load("feynman-2").library.variables)
    forest = load("feynman-2").sample(150, np.random.default_rng(1), max_height=6)
    fitted = fit_constants(forest, data, config=config)
    known = np.isfinite(fitted.squared_errors)
    found = squared_errors(fitted.forest.take(known), data)
    np.testing.assert_array_equal(found, fitted.squared_errors[known])


def test_slopes_beyond_float64_lose_no_fit() -> None:
    data = data_of("sin(x0)")
    fitted = fit_constants(forest_of("sin(1e200*c*x0)"), data)
    assert np.isfinite(fitted.squared_errors[0])
    assert squared_errors(fitted.forest, data)[0] == fitted.squared_errors[0]


def test_constants_with_values_can_be_kept() -> None:
    data = data_of("c*x0 + c", 3.0, 5.0)
    forest = Forest.from_exprs([Expr(LIBRARY, ("+", "*", "c", "x0", "c"), (2.0, None)), parse("c*x0", LIBRARY)])
    fitted = fit_missing(forest, data)
    assert fitted.forest.library == LIBRARY
    assert fitted.forest[0].constants == (2.0, pytest.approx(5.0 + np.mean(X[:, 0])))
    assert fitted.forest[1].constants == fit_constants(forest[1:], data).forest[0].constants


def test_what_a_sample_shows_to_be_worse_than_the_bound_is_cut_and_nothing_else_changes() -> None:
    data = data_of("c*x0*exp(-c*x1)", 3.0, 0.5, noise=0.05)
    forest = forest_of("c*x0*exp(c*x1)", "c*x0/x1", "c*x1", "c + c*x0 + c*x1", "c*sin(c*x0)", "log(c - x0)")
    config = FitConfig(rows=40)
    whole = fit_constants(forest, data, config=config)
    assert not whole.is_cut.any()
    bound = 2 * float(whole.squared_errors.min())
    found = fit_constants(forest, data, config=config, bound=bound)
    assert 1 < found.is_cut.sum() < len(forest)
    assert (whole.squared_errors[found.is_cut] > bound).all()
    assert np.isinf(found.squared_errors[found.is_cut]).all()
    np.testing.assert_array_equal(found.squared_errors[~found.is_cut], whole.squared_errors[~found.is_cut])
    assert not fit_constants(forest, data, config=FitConfig(rows=None), bound=bound).is_cut.any()
