"""What a user knows beforehand: constraints and guesses of the regressor, and what an earlier fit found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.base import clone

from edhie import Constraints, EDHiERegressor
from edhie.errors import DataError, EdhieError, ParseError, SymbolError

X = np.random.default_rng(0).uniform(0.5, 3, (120, 2))
Y = 2.7 * np.exp(-0.83 * X[:, 0]) * np.sin(1.9 * X[:, 1]) + 0.3
GUESS = "c*exp(c*x0)*sin(c*x1) + c"


def regressor(**options: Any) -> EDHiERegressor:
    return EDHiERegressor(**{"max_time": None, "max_evaluations": 150, **options})


def few(**options: Any) -> EDHiERegressor:
    return regressor(max_evaluations=100, **options)


def test_constraints_hold_for_all_equations() -> None:
    constraints = Constraints(max_size=9, nested={"*": ["*"]}, all_variables=True)
    fitted = regressor(constraints=constraints).fit(X, Y)
    assert constraints.allowed(fitted.explored_.forest).all()
    assert fitted.equations_["complexity"].max() <= 9
    assert clone(fitted).get_params()["constraints"] == constraints


def test_guesses_are_over_the_names_of_the_columns() -> None:
    table = pandas.DataFrame({"time (s)": X[:, 0], "angle": X[:, 1]})
    fitted = regressor(guesses=["c*exp(c*time_s)*sin(c*angle) + c"]).fit(table, Y)
    assert fitted.best_.loss < 1e-9
    assert fitted.explored_.executed_at[fitted.explored_.errors < 1e-9].min() <= 3
    assert regressor().fit(table, Y).best_.loss > 1e-3


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"guesses": ["x0 + sinn(x1)"]}, ParseError),
        ({"guesses": ["exp(x0)"], "operators": ["+", "*"]}, ParseError),
        ({"constraints": Constraints(nested={"sinn": ["sin"]})}, SymbolError),
        ({"constraints": Constraints(only_on={"sin": ["x7"]})}, SymbolError),
    ],
)
def test_what_cannot_be_meant_is_told(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        regressor(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_time": "60"}, "max_time must be 0 or more seconds, or None for no limit; it is '60'"),
        ({"noise": "prop"}, "unknown noise 'prop'; choose one of auto, constant, proportional, both, counts, student"),
        ({"patience": 0}, "patience must be a whole number, at least 1, or None for no early stop"),
        ({"max_time": -1}, "max_time must be 0 or more seconds"),
        ({"max_time": float("nan")}, "max_time must be 0 or more seconds"),
        ({"constraints": {"max_size": 5}}, r"constraints is a Constraints, not {'max_size': 5}; make one: edhie"),
    ],
)
def test_what_is_none_of_these_is_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EdhieError, match=message):
        regressor(**options).fit(X, Y)
    with pytest.raises(EdhieError, match=message):
        EDHiERegressor.revise("c*x0", X, Y, **options)


def test_columns_of_one_name_are_told() -> None:
    with pytest.raises(DataError, match="X has 2 columns named 'a'; rename them or leave all but one out"):
        regressor().fit(pandas.DataFrame(X, columns=["a", "a"]), Y)


# -- a warm start ---------------------------------------------------------------------


def test_a_warm_start_begins_with_the_last_equations() -> None:
    both = np.column_stack([Y, X[:, 0] ** 2])
    fitted = regressor(guesses=[GUESS], warm_start=True).fit(X, both)
    fitted.set_params(guesses=None)
    fitted.fit(X, np.column_stack([3 * Y + 1, 5 * X[:, 0] ** 2]))
    first, second = fitted.discoveries_
    assert first.best.loss < 1e-9
    assert second.best.loss < 1e-9
    assert first.explored.executed_at[first.explored.errors < 1e-9].min() < 60
    cold = regressor(warm_start=False, guesses=[GUESS]).fit(X, Y).set_params(guesses=None).fit(X, 3 * Y + 1)
    assert cold.best_.loss > 1e-3


@pytest.mark.slow
def test_without_an_earlier_fit_or_with_other_columns_it_begins_anew() -> None:
    plain = few().fit(X, Y)
    assert str(few(warm_start=True).fit(X, Y).best_) == str(plain.best_)
    fitted = few(warm_start=True, guesses=[GUESS]).fit(X, Y).set_params(guesses=None)
    wider = np.column_stack([X, X[:, 0] * 2])
    assert str(fitted.fit(wider, Y).best_) == str(few().fit(wider, Y).best_)
    assert len(fitted.fit(X, np.column_stack([Y, Y])).discoveries_) == 2


def test_equations_that_may_not_be_written_any_more_are_passed_over() -> None:
    fitted = regressor(warm_start=True, guesses=[GUESS]).fit(X, Y)
    fitted.set_params(guesses=None, operators=["+", "*"]).fit(X, Y)
    assert not {"sin", "exp"} & set(fitted.best_.expr.tokens)
    fitted.set_params(operators=None, constraints=Constraints(max_size=5)).fit(X, Y)
    assert fitted.explored_.forest.sizes.max() <= 5
