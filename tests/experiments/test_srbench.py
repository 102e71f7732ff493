"""The adapter for SRBench: SymPy reads the model, which predicts as the estimator does."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas
import pytest
import sympy
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

FILE = Path(__file__).parents[2] / "experiments" / "srbench" / "regressor.py"
RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3, (60, 2))
Y = 1.23456789 * X[:, 0] ** 2 / X[:, 1] + 0.01 * RNG.normal(size=60)


@pytest.fixture(scope="module")
def adapter() -> ModuleType:
    spec = importlib.util.spec_from_file_location("srbench_regressor", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("fitted_with", "asked_with", "read_as"),
    [
        (None, None, ["x0", "x1"]),
        (None, ["x1", "x0"], ["x1", "x0"]),
        (["S", "beta"], ["S", "beta"], ["S", "beta"]),
        (["S", "beta"], None, ["S", "beta"]),
        (["a b", "2nd"], ["E", "sin"], ["E", "sin"]),
        (["wheel-base", "wheel.base"], ["wheel-base", "wheel.base"], ["wheel_base", "wheel_base_2"]),
        ([3, 41], [3, 41], ["x_3", "x_41"]),
    ],
)
def test_the_model_is_read_by_sympy_and_predicts_as_the_estimator(
    adapter: ModuleType, fitted_with: list[Any] | None, asked_with: list[Any] | None, read_as: list[str]
) -> None:
    table, asked = (X if names is None else pandas.DataFrame(X, columns=names) for names in (fitted_with, asked_with))
    fitted = clone(adapter.est).set_params(max_time=None, max_evaluations=60).fit(table, Y)
    symbols = {name: sympy.Symbol(name) for name in read_as}
    read = sympy.parse_expr(adapter.model(fitted, asked), local_dict=symbols)
    assert read.free_symbols == set(symbols.values())
    predicted = sympy.lambdify(list(symbols.values()), read)(*X.T)
    np.testing.assert_allclose(predicted, fitted.predict(table), rtol=1e-9)


def test_every_point_of_the_grid_and_the_quick_settings_are_parameters(adapter: ModuleType) -> None:
    for point in [*ParameterGrid(adapter.hyper_params), adapter.eval_kwargs["test_params"]]:
        assert {name: clone(adapter.est).set_params(**point).get_params()[name] for name in point} == point
