"""Which columns of a wide table are searched."""

from __future__ import annotations

import numpy as np
import pytest

from edhie import Constraints
from edhie.evaluate import Data, read_data
from edhie.fit import Settings, discover
from edhie.fit.column_choice import CHOSEN, MANY, columns_to_search, informative_columns
from edhie.fit.revision import revise


def wide(n_columns: int, n_rows: int = 400, seed: int = 0, *, centred: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)) if centred else rng.uniform(0.5, 3, (n_rows, n_columns))


@pytest.mark.parametrize("seed", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 2))])
def test_what_the_target_is_made_of_is_among_them(seed: int) -> None:
    X = wide(300, 600, seed)  # noqa: N806
    a, b, c = np.random.default_rng(seed).choice(300, 3, replace=False)
    for y in (
        X[:, a] * np.exp(-0.7 * X[:, b]) / (1 + X[:, c]),
        10 * X[:, a] * X[:, b] + 0.3 * X[:, c],  # the last shows only in what the product leaves
        np.exp(6 * X[:, a]) * X[:, b] / X[:, c],  # over eight magnitudes
    ):
        assert {a, b, c} <= set(informative_columns(read_data(X, y)).tolist())


def test_a_product_that_shows_in_neither_factor() -> None:
    X = wide(300, 1000, centred=True)  # noqa: N806
    assert {5, 200} <= set(informative_columns(read_data(X, X[:, 5] * X[:, 200])).tolist())


def test_they_are_few_in_order_and_always_the_same() -> None:
    X = wide(100)  # noqa: N806
    data = read_data(X, X.sum(axis=1))
    chosen = informative_columns(data)
    assert len(chosen) <= CHOSEN
    assert (np.diff(chosen) > 0).all()
    assert (informative_columns(data) == chosen).all()


@pytest.mark.filterwarnings("error")
def test_columns_that_say_nothing_are_no_trouble() -> None:
    X = wide(60)  # noqa: N806
    X[:, 1], X[:, 2] = 1.0, 1e300 * X[:, 2]
    X[:, 3] = X[:, 0]
    y = 2 * X[:, 0]
    assert {0, 3} & set(informative_columns(read_data(X, y)).tolist())
    assert len(informative_columns(read_data(X[:5], y[:5]))) <= CHOSEN
    assert len(informative_columns(read_data(X, np.ones(len(X)), allow_constant_target=True))) <= CHOSEN


def test_a_narrow_table_is_searched_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    X = wide(MANY)  # noqa: N806
    assert columns_to_search(read_data(X, X[:, 0]), Settings()).tolist() == list(range(MANY))
    assert not caplog.text


def test_what_the_user_names_is_kept() -> None:
    X = wide(50)  # noqa: N806
    data = read_data(X, X[:, 0] ** 2)
    for settings, named in (
        (Settings(guesses=["c*x33 + x41"]), {33, 41}),
        (Settings(template="f(x0) + g(x44)"), {0, 44}),
        (Settings(constraints=Constraints(only_on={"sin": ["x45"]})), {45}),
        (Settings(constraints=Constraints(all_variables=True)), set(range(50))),
    ):
        assert named <= set(columns_to_search(data, settings).tolist())


def test_equations_are_over_all_columns(caplog: pytest.LogCaptureFixture) -> None:
    X = wide(40)  # noqa: N806
    names = (*(f"v{k}" for k in range(39)), "c")  # a column that is named like the constant of the others
    data = Data(np.ascontiguousarray(X.T), 3 * X[:, 11] * X[:, 39] + X[:, 2], None, names)
    found = discover(data, Settings(max_time=None, max_evaluations=1500))
    assert "of 40 columns" in caplog.text
    assert found.train.names == names
    assert found.best.expr.library.variables == names
    assert set(found.best.expr.variables) == {"v11", "c", "v2"}
    np.testing.assert_allclose(found.best.predict(data.columns), data.y, rtol=1e-6)


def test_guesses_are_over_the_columns_that_are_searched() -> None:
    X = wide(40)  # noqa: N806
    names = tuple(f"v{k}" for k in range(40))
    data = Data(np.ascontiguousarray(X.T), 3 * X[:, 33] + np.sin(5 * X[:, 2]), None, names)
    found = discover(data, Settings(max_time=None, max_evaluations=50, guesses=["c*v33 + sin(5*v2)"]))
    assert set(found.best.expr.variables) == {"v2", "v33"}
    assert found.best.loss < 1e-9


def test_revising_keeps_the_columns_of_the_formula() -> None:
    X = wide(40, 200)  # noqa: N806
    names = tuple(f"v{k}" for k in range(40))
    data = Data(np.ascontiguousarray(X.T), 3 * X[:, 33] + X[:, 2] ** 2, None, names)
    found = revise("c*v33 + c*v39", data, Settings(max_time=None, max_evaluations=400))
    assert {"v2", "v33", "v39"} <= set(found.columns)
    assert len(found.columns) <= CHOSEN + 1
    assert found.refitted.expr.variables == ("v33", "v39")
