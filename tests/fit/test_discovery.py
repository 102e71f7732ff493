"""Data and settings in, equations out: what is chosen, what is listed, how it is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edhie.errors import DataError, EdhieError, SearchError, SymbolError
from edhie.evaluate import Data, read_data
from edhie.expr import operator
from edhie.expr.symbols import OPERATORS
from edhie.fit import Discovery, Equation, Problem, Settings, discover
from edhie.fit.problem import variable_names

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 4, (150, 2))
Y = 3 * X[:, 0] / (1 + X[:, 0]) + 0.5 * X[:, 1]
QUICK = {"max_time": None, "max_evaluations": 1500}


def data_of(y: np.ndarray = Y, names: tuple[str, ...] = ("dose", "time")) -> Data:
    return read_data(X, y, names=names, allow_constant_target=True)


@pytest.fixture(scope="module")
def found() -> Discovery:
    return discover(Problem.of(data_of(Y + 0.02 * RNG.normal(size=150)), target="effect"), Settings(**QUICK))


def test_equations_rise_in_complexity_and_the_chosen_one_is_among_them(found: Discovery) -> None:
    complexities = [each.complexity for each in found.equations]
    assert complexities == sorted(complexities)
    assert found.best is found.equations[found.index]
    assert found.best.text().startswith("effect = ")
    assert found.best.r2 > 0.99
    assert not found.is_empty
    texts = [str(each.expr) for each in found.equations]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("selection", ["mdl", "best", "accuracy", "score"])
def test_every_rule_chooses(found: Discovery, selection: str) -> None:
    other = Discovery.of(found.result, found.problem, replace(found.settings, selection=selection))
    assert other.best in other.equations


def test_losses_and_shares_are_those_of_the_predictions(found: Discovery) -> None:
    train = found.train
    for each in found.equations:
        rest = train.y - each.predict(train.columns)
        assert each.loss == pytest.approx(np.sqrt(np.square(rest).mean()), rel=1e-6)
        assert each.r2 == pytest.approx(1 - np.square(rest).sum() / np.square(train.y - train.y.mean()).sum())
        assert len(each.uncertainty.values) == len(each.expr.constants)
    table = found.table()
    assert tuple(table.columns) == Equation.COLUMNS
    assert len(table) == len(found.equations)


def test_many_rows_are_split_and_a_set_of_the_users_is_not() -> None:
    rows = RNG.uniform(0.5, 4, (1500, 1))
    many = read_data(rows, 2 * rows[:, 0], names=["x"])
    assert (split := discover(many, Settings(**QUICK))).validation is not None
    assert split.train.n_rows + split.validation.n_rows == 1500
    assert split.best.r2_validation == pytest.approx(1)
    other = read_data(rows[:50], 2 * rows[:50, 0], names=["x"])
    own = discover(Problem.of(many, validation=other), Settings(**QUICK))
    assert own.train.n_rows == 1500
    assert own.validation is not None
    assert own.validation.n_rows == 50


SPELLING = ("-", "neg", "/", "^", "^2", "^3", "^4", "^5")  # x - 2 for x + (-2), x^2 for x*x


def test_operators_that_are_asked_for_alone_are_used() -> None:
    found = discover(data_of(), Settings(**QUICK, operators=["+", "*"]))
    for each in found.equations:
        used = {token for token in each.expr.tokens if token in OPERATORS}
        assert used <= {"+", "*", *SPELLING}


def test_an_operator_of_the_users() -> None:
    half = operator("half", 1, numpy=lambda a: a / (1 + a))
    y = 3 * X[:, 0] / (1 + X[:, 0])
    found = discover(data_of(y), Settings(max_time=None, max_evaluations=3000, operators=["+", "*", half]))
    assert found.best.loss < 1e-10
    assert "half(dose)" in str(found.best)


def test_what_is_asked_has_to_make_sense() -> None:
    with pytest.raises(SymbolError, match=r"sinn.*did you mean 'sin'"):
        discover(data_of(), Settings(**QUICK, operators=["+", "sinn"]))
    with pytest.raises(SymbolError, match="is one text"):
        discover(data_of(), Settings(**QUICK, operators="+"))
    with pytest.raises(SearchError, match=r"unknown selection.*did you mean 'mdl'"):
        Settings(selection="mdll")
    with pytest.raises(SearchError, match="not 3"):
        discover(data_of(), Settings(**QUICK, generator=3))
    with pytest.raises(EdhieError, match="there is no model folder"):
        discover(data_of(), Settings(**QUICK, generator="nothing"))


def test_a_loss_of_the_users() -> None:
    y = Y.copy()
    y[::10] += 20  # outliers

    def mean_absolute(target: np.ndarray, predicted: np.ndarray, weights: object) -> float:
        return float(np.abs(target - predicted).mean())

    found = discover(data_of(y), Settings(max_time=None, max_evaluations=120, loss=mean_absolute))
    assert found.best.loss <= 21


def test_names_of_columns_become_identifiers_each_its_own() -> None:
    columns = ["a", "a b", "a_b", "A-B", "a b ", "", "(m)", "7", "sin", "pi", "温度 °C"]
    names = variable_names(columns)
    assert len(set(names)) == len(columns)
    assert all(name.isidentifier() and name not in OPERATORS for name in names)
    assert names[0] == "a"
    assert names[2] == "a_b"
    assert names[-1] == "温度_C"
    found = discover(data_of(names=("dose (mg)", "exp")), Settings(**QUICK))
    assert found.columns == ("dose (mg)", "exp")
    assert found.train.names == ("dose_mg", "exp_")


def test_data_are_checked_where_they_come_in() -> None:
    with pytest.raises(DataError, match="nan"):
        read_data([[np.nan]], [1.0])
