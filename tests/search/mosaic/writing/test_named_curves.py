"""Named curves: each is found from noisy rows in any units, whatever other curves there are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from edhie.evaluate.constants.fitting import FitConfig
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import constant
from edhie.search.mosaic.writing.named_curves import curves_of, named_curves

OPERATORS = ("+", "-", "*", "/", "^", "neg", "^2", "^3", "sqrt", "exp", "log", "sin", "tanh", "atan")
X = np.sort(np.random.default_rng(1).uniform(0.5, 10, 30))
LAWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "two exponentials": lambda x: 5 * np.exp(-1.3 * x) + np.exp(-0.1 * x),
    "absorption and elimination": lambda x: 5 * (np.exp(-0.1 * x) - np.exp(-1.1 * x)),
    "Hill": lambda x: 1 + 5 / (1 + (x / 4) ** -3.1),
    "logistic": lambda x: 5 / (1 + np.exp(2 * (5 - x))),
    "Gompertz": lambda x: 5 * np.exp(-9 * np.exp(-0.6 * x)),
    "Weibull": lambda x: 5 * (1 - np.exp(-0.1 * x**2.2)),
    "cooling": lambda x: 20 + 70 * np.exp(-0.4 * x),
    "Antoine": lambda x: 500 * np.exp(-30 / (x + 4)),
    "Gauss": lambda x: 2 + 3 * np.exp(-(((x - 4.4) / 1.3) ** 2)),
    "Lorentz": lambda x: 5 / ((x - 7.1) ** 2 + 1.7),
    "arctangent": lambda x: 3 - 2 * np.arctan(0.8 * (x - 5)),
    "shifted power": lambda x: 4 * (x + 2.2) ** -1.7,
    "decay over a line": lambda x: 20 * np.exp(-0.2 * x) / (x + 0.8),
}


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("name", LAWS)
def test_the_law_is_among_them_at_its_optimum(name: str, unit: float) -> None:
    noise = 0.03 * np.random.default_rng(2).normal(size=len(X))
    clean = LAWS[name](X)
    data = Data(unit * X[np.newaxis], clean + noise * clean.std(), None, ("x",))
    found = named_curves(data, SymbolLibrary.of(OPERATORS, ["x"], constant=True), FitConfig())
    least = float(squared_errors(Forest.from_exprs(found), data).min())
    assert least <= 1.02 * float(np.square(noise * clean.std()).sum())


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_rows_at_0_do_not_matter(unit: float) -> None:
    x = np.concatenate([np.zeros(4), X])
    y = 3 / (1 + (x / 4) ** 2.5) + 0.8 + 0.01 * np.random.default_rng(2).normal(size=len(x))
    data = Data(unit * x[np.newaxis], y, None, ("x",))
    found = named_curves(data, SymbolLibrary.of(OPERATORS, ["x"], constant=True), FitConfig())
    forms = [str(each.with_constants([None] * len(each.constants))) for each in found]
    assert "c/(c + (c/x)^c) + c" in forms
    assert float(squared_errors(Forest.from_exprs(found), data).min()) < 1.1 * len(x) * 0.01**2


def test_a_column_may_have_the_name_of_constants() -> None:
    assert "C*exp(C*c)" in list(curves_of(["c"], "C"))
    assert "C*c^C*t^C" in list(curves_of(["c", "t"], "C"))
    data = Data(X[np.newaxis], LAWS["cooling"](X), None, ("c",))
    library = SymbolLibrary.of([*OPERATORS, constant("C")], ["c"])
    found = Forest.from_exprs(named_curves(data, library, FitConfig()))
    assert float(squared_errors(found, data).min()) < 1e-6


def test_columns_are_also_multiplied() -> None:
    texts = list(curves_of(["dose", "time"]))
    assert "dose*(c*exp(c*time))" in texts
    assert "c*dose^c*time^c" in texts
    assert "c*exp(c*x8)" in list(curves_of([f"x{k}" for k in range(9)]))
    assert len(list(curves_of([f"x{k}" for k in range(99)]))) == 2


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_a_product_of_powers_takes_the_place_of_a_column(unit: float) -> None:
    rng = np.random.default_rng(1)
    t, r, c = columns = unit * rng.uniform(0.4, 6.0, (3, 40))
    noise = 0.03 * rng.normal(size=40)
    data = Data(columns, 9 * (1 - np.exp(-t * unit / (r * c))) + noise, None, ("t", "r", "k"))
    found = Forest.from_exprs(named_curves(data, SymbolLibrary.of(OPERATORS, data.names, constant=True), FitConfig()))
    near = np.flatnonzero(squared_errors(found, data) <= 1.1 * float(np.square(noise).sum()))
    forms = {str(each.with_constants([None] * len(each.constants))) for each in found.take(near)}
    assert "c*(c - exp(c*t^c*r^c*k^c))" in forms
    assert any(each.constants[-3:] == (1.0, -1.0, -1.0) for each in found.take(near))


def test_powers_of_sines_are_tried_for_angles() -> None:
    texts = list(curves_of(["Z", "theta"]))
    assert "Z*(c*sin(c*theta)^c)" in texts
    assert "theta*(c*sin(c*Z)^c)" not in texts


def test_without_constants_there_are_none() -> None:
    data = Data(X[np.newaxis], X, None, ("x",))
    assert named_curves(data, SymbolLibrary.of(OPERATORS, ["x"]), FitConfig()) == []


def test_numbers_stay_as_they_are() -> None:
    data = Data(X[np.newaxis], 3 * (1 - np.exp(-X)), None, ("x",))
    found = named_curves(data, SymbolLibrary.of(OPERATORS, ["x"], constant=True), FitConfig())
    saturating = [each for each in found if str(each.free()) == "c*(c - exp(c*x))"]
    assert saturating
    assert all(each.constants[1] == 1 for each in saturating)
