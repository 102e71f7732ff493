"""Standard errors and intervals: as SciPy's, true to their level, and infinite where nothing is known.

Standard errors of values are those of linear algebra, whatever constants are redundant.
"""

import numpy as np
import pytest
from scipy.optimize import curve_fit

from edhie.errors import EdhieError
from edhie.evaluate.constants.fitting import fit_constants
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.polish import gauss_newton, polish
from edhie.evaluate.constants.uncertainty import LinearisedFit, uncertainty, value_deviations_of
from edhie.evaluate.data import Data
from edhie.evaluate.reading import read_data
from edhie.expr import Expr, Forest, parse

X = np.linspace(0.2, 4, 50)
MODELS = {
    "c*x0 + c": [2.0, -1.0],
    "c*exp(c*x0)": [3.0, -0.7],
    "c*sin(c*x0 + c)": [1.5, 2.0, 0.3],
    "c*x0/(c + x0)": [4.0, 1.2],
    "c*x0^c + c": [0.5, 1.7, 2.0],
}


def value_deviations(expr: Expr, data: Data, columns: np.ndarray) -> np.ndarray:
    return value_deviations_of(LinearisedFit.of(expr, data, None), expr, columns)


def fitted(text: str, *, weights: np.ndarray | None = None, noise: float = 0.1, seed: int = 0) -> tuple[Expr, Data]:
    truth = parse(text).with_constants(MODELS[text])
    y = truth(x0=X) + noise * np.random.default_rng(seed).normal(size=len(X))
    data = read_data(X, y, weights=weights)
    return polish(Forest.from_exprs([truth]), data).forest[0], data


@pytest.mark.parametrize("text", MODELS)
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 9, len(X))], ids=["even", "weighted"])
def test_standard_errors_are_those_of_scipy(text: str, weights: np.ndarray | None) -> None:
    expr, data = fitted(text, weights=weights)

    def curve(x: np.ndarray, *constants: float) -> np.ndarray:
        return expr.with_constants(constants)(x0=x)

    sigma = None if weights is None else 1 / np.sqrt(weights)
    best, covariance = curve_fit(curve, X, data.y, p0=expr.constants, sigma=sigma)
    found = uncertainty(expr, data)
    np.testing.assert_allclose(found.values, best, rtol=1e-5)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-3)
    np.testing.assert_allclose(found.standard_errors, np.sqrt(np.diag(covariance)), rtol=1e-3)
    assert found.degrees_of_freedom == len(X) - len(best)
    assert found.unidentified == ()


def test_only_ratios_of_weights_count_and_rows_without_weight_do_not() -> None:
    expr, data = fitted("c*exp(c*x0)", weights=np.arange(50.0))
    heavier = Data(data.columns, data.y, data.weights * 1e5, data.names)
    without = data.take(np.arange(1, 50))
    for other in (heavier, without):
        np.testing.assert_allclose(
            uncertainty(expr, data).standard_errors, uncertainty(expr, other).standard_errors, rtol=1e-10
        )


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    text, truth = "c*exp(c*x0)", np.array(MODELS["c*exp(c*x0)"])
    rng = np.random.default_rng(3)
    x = X[::4]
    start = parse(text).with_constants(truth.tolist())
    clean = start(x0=x)
    covered = np.zeros(2)
    for _ in range(400):
        data = read_data(x, clean + 0.05 * rng.normal(size=len(x)))
        response = Response(start, data.columns)
        constants, _ = gauss_newton(response, truth, data.y, None)
        found = uncertainty(start.with_constants(constants.tolist()), data)
        covered += (found.lower <= truth) & (truth <= found.upper)
    assert (np.abs(covered / 400 - 0.95) < 0.03).all()  # 0.95 ± 0.011 by chance


def test_a_higher_level_reaches_farther() -> None:
    expr, data = fitted("c*x0 + c")
    narrow, wide = uncertainty(expr, data, level=0.68), uncertainty(expr, data, level=0.99)
    assert (wide.lower < narrow.lower).all()
    assert (narrow.upper < wide.upper).all()
    for level in (0.0, 1.0, 95):
        with pytest.raises(EdhieError, match="between 0 and 1"):
            uncertainty(expr, data, level=level)


@pytest.mark.parametrize(
    ("text", "values", "groups", "held"),
    [
        ("c*c*x0", [2.5, 3.5], ((0, 1),), (0,)),
        ("c*(c*x0 + c)", [2.5, 3.0, 1.5], ((0, 1, 2),), (1,)),
        ("c/(c*x0 + c)", [1.0, 3.5, 1.5], ((0, 1, 2),), (0,)),
        ("c*exp(x0 + c) + c*x0", [2.5, 0.1, 1.5], ((0, 1),), (0,)),
        ("c + c*x0 + c + c*x0", [1.5, 2.5, 3.5, 4.0], ((0, 2), (1, 3)), (0, 3)),
        ("c*c*c*x0", [1.5, 2.5, 3.5], ((0, 1, 2),), (0, 1)),
        ("sign(c*x0)*c", [2.0, 1.0], ((0,),), ()),
        ("0*c + c*x0", [2.0, 1.0], ((0,),), ()),
        ("c/c", [2.5, 1.5], ((0, 1),), (0,)),
        ("c^c", [2.5, 3.0], ((0, 1),), (1,)),
        ("c*x0 + abs(c)", [2.0, 3.0], (), ()),
        ("max(x0, c)", [-5.0], ((0,),), ()),
    ],
)
def test_what_data_cannot_tell_apart_is_grouped_and_some_of_it_held(
    text: str, values: list[float], groups: tuple[tuple[int, ...], ...], held: tuple[int, ...]
) -> None:
    expr = parse(text, variables=["x0"]).with_constants(values)
    data = read_data(X, expr(x0=X) + np.sin(X))
    found = uncertainty(expr, data)
    places = np.arange(len(values))
    lost = np.isin(places, [group[0] for group in groups if len(group) == 1])  # it changes nothing by itself
    given = np.isin(places, held)
    assert found.unidentified == groups
    assert found.held == held
    np.testing.assert_array_equal(np.isinf(found.standard_errors), lost)
    np.testing.assert_array_equal(found.standard_errors[given], 0)
    assert (found.standard_errors[~given] > 0).all()
    assert (found.lower[lost] == -np.inf).all()
    assert (found.upper[lost] == np.inf).all()
    assert np.isfinite(found.lower[~lost]).all()
    np.testing.assert_array_equal(found.lower[given], found.values[given])


@pytest.mark.parametrize(
    ("text", "values", "without", "few"),
    [
        ("c/(c*x0 + c)", [1.0, 2.5, 3.5], "1/(c*x0 + c)", [2.5, 3.5]),
        ("c*c*exp(c*x0)", [2.0, 1.5, -0.7], "2*c*exp(c*x0)", [1.5, -0.7]),
    ],
)
def test_errors_beside_what_is_held_are_those_of_a_fit_with_it_given(
    text: str, values: list[float], without: str, few: list[float]
) -> None:
    whole, short = parse(text).with_constants(values), parse(without).with_constants(few)
    data = read_data(X, whole(x0=X) + 0.1 * np.sin(50 * X))
    found, expected = uncertainty(whole, data), uncertainty(short, data)
    assert found.held == (0,)
    assert found.degrees_of_freedom == expected.degrees_of_freedom == len(X) - 2
    np.testing.assert_allclose(found.standard_errors, [0, *expected.standard_errors], rtol=1e-6)
    columns = np.linspace(-1, 6, 9).reshape(1, -1)
    np.testing.assert_allclose(
        value_deviations(whole, data, columns), value_deviations(short, data, columns), rtol=1e-6
    )


def test_too_few_rows_know_nothing() -> None:
    expr = parse("c*x0^2 + c*x0 + c").with_constants([1.0, 2.0, 3.0])
    for rows in (1, 2, 3):
        data = read_data(X[:rows], X[:rows] * 5, allow_constant_target=True)
        found = uncertainty(expr, data)
        assert np.isinf(found.standard_errors).all()
        assert found.degrees_of_freedom <= 0
        assert bool(found.unidentified) == (rows < 3)


def test_exact_fits_undefined_values_and_no_constants() -> None:
    line = parse("c*x0 + c").with_constants([2.0, 1.0])
    assert (uncertainty(line, read_data(X, 2 * X + 1)).standard_errors < 1e-14).all()
    undefined = uncertainty(parse("log(c - x0)").with_constants([1.0]), read_data(X, X))
    assert np.isinf(undefined.standard_errors).all()
    found = uncertainty(parse("x0^2"), read_data(X, X))
    assert found.standard_errors.shape == (0,)
    assert found.covariance.shape == (0, 0)
    assert found.degrees_of_freedom == len(X)


# -- of values -------------------------------------------------------------------------

NOISE = np.random.default_rng(0)
LINE = NOISE.uniform(0, 4, (80, 1))
ON_LINE = 3 + 2 * LINE[:, 0] + 0.3 * NOISE.normal(size=80)
COLUMNS = np.array([[-1.0, 0.0, 2.0, 9.0]])


def deviations(text: str, data: Data, columns: np.ndarray = COLUMNS) -> np.ndarray:
    fitted = fit_constants(Forest.from_exprs([parse(text)]), data).forest[0]
    return value_deviations(fitted, data, columns)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_deviations_of_values_are_those_of_a_line(is_weighted: bool) -> None:
    weights = NOISE.uniform(0.2, 2, 80) if is_weighted else None
    data = read_data(LINE, ON_LINE, weights=weights)
    design, count = np.column_stack([np.ones(80), LINE[:, 0]]), np.ones(80) if weights is None else weights
    inverse = np.linalg.inv(design.T @ (design * count[:, None]))
    beta = inverse @ design.T @ (count * ON_LINE)
    variance = count @ np.square(ON_LINE - design @ beta) / 78
    there = np.column_stack([np.ones(4), COLUMNS[0]])
    expected = np.sqrt(variance * np.einsum("ij,jk,ik->i", there, inverse, there))
    np.testing.assert_allclose(deviations("c + c*x0", data), expected, rtol=1e-7)


def test_redundant_constants_change_no_deviation() -> None:
    data = read_data(LINE, ON_LINE)
    plain = deviations("c + c*x0", data)
    np.testing.assert_allclose(deviations("c + c*x0 + c", data), plain, rtol=1e-6)
    np.testing.assert_allclose(deviations("(c + c*x0)/c", data), plain, rtol=1e-6)


def test_what_data_do_not_tell_is_infinite_and_what_has_no_constant_is_certain() -> None:
    data = read_data(np.column_stack([LINE, np.zeros(80)]), ON_LINE)
    columns = np.array([[1.0, 1.0], [0.0, 1.0]])
    found = deviations("c*x0 + c*x1", data, columns)
    assert np.isfinite(found[0])
    assert np.isinf(found[1])
    np.testing.assert_array_equal(value_deviations(parse("x0"), read_data(LINE, ON_LINE), COLUMNS), 0)
