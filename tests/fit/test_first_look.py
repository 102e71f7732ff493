"""A first look at data, before a search begins."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from edhie import Constraints
from edhie.evaluate import read_data
from edhie.events import Event, Glimpsed, Started
from edhie.expr import Expr, SymbolLibrary, parse
from edhie.expr.interpret import interpret
from edhie.expr.standard_libraries import everything
from edhie.fit import Settings, discover
from edhie.fit.first_look import first_look

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 4, (80, 2))
SETTINGS = Settings(max_time=None, max_evaluations=60)


def values(expr: Expr) -> np.ndarray:
    return interpret(expr, {"x0": X[:, 0], "x1": X[:, 1]})


@pytest.mark.parametrize(
    "formula",
    [
        "2*x0 - 3", "0.5*x1^2 + 1", "3*log(x0) + 1", "2/x1 - 7", "3*exp(-1.5*x0)", "0.2*x1^2.5", "2*x0 - 3*x1 + 5",
        "4*x0^1.5*x1^(-0.5)",
    ],
)  # fmt: skip
def test_simple_forms_are_seen(formula: str) -> None:
    truth = parse(formula, everything(2))
    y = values(truth)
    seen = first_look(read_data(X, y), everything(2))
    assert seen is not None
    assert seen.error < 1e-9 * np.abs(y).max()
    np.testing.assert_allclose(values(seen.expr), y, rtol=1e-7, atol=1e-9)


def test_the_error_is_that_of_the_expression_by_weights() -> None:
    y, weights = np.sin(X[:, 0]) * X[:, 1], RNG.uniform(0, 1, len(X))
    seen = first_look(read_data(X, y, weights=weights), everything(2))
    assert seen is not None
    squares = np.square(values(seen.expr) - y)
    assert seen.error == pytest.approx(np.sqrt(np.average(squares, weights=weights)))


@pytest.mark.filterwarnings("error")
def test_it_has_the_symbols_of_answers_and_finite_values_alone() -> None:
    y = np.exp(X[:, 0])
    plain = SymbolLibrary.of(["+", "*"], 2, constant=True)
    seen = first_look(read_data(X, y), plain)
    assert seen is not None
    assert set(seen.expr.tokens) <= set(plain.names)
    assert first_look(read_data(X, y), SymbolLibrary.of(["+", "*"], 2)) is None
    assert first_look(read_data(X - 2.0, -y), everything(2)) is not None  # of which there are no logarithms
    huge = first_look(read_data(1e200 * X, 1e140 * y), everything(2))
    assert huge is None or np.isfinite(huge.error)


def test_columns_may_be_named_like_what_a_form_is_written_with() -> None:
    named = read_data(X, 3 * X[:, 1] + 2, names=["x", "c"])
    library = everything(["x", "c"])
    seen = first_look(named, library)
    assert seen is not None
    assert seen.expr.variables == ("c",)


def test_it_is_told_first_and_changes_nothing() -> None:
    data = read_data(X, np.sin(X[:, 0]) * X[:, 1])
    events: list[Event] = []
    watched = discover(data, SETTINGS, on_event=events.append)
    assert isinstance(events[0], Glimpsed)
    assert isinstance(events[1], Started)
    assert str(watched.result.front) == str(discover(data, SETTINGS).result.front)


def test_it_is_silent_where_it_could_not_be_an_answer() -> None:
    data = read_data(X, np.sin(X[:, 0]) * X[:, 1])
    events: list[Event] = []
    discover(data, replace(SETTINGS, constraints=Constraints(max_size=5)), on_event=events.append)
    assert not any(isinstance(event, Glimpsed) for event in events)


def test_nothing_is_compiled_for_it() -> None:
    code = (
        "import numpy as np; from numba.core import dispatcher; "
        "dispatcher.Dispatcher.compile = lambda *a, **k: 1 / 0; "
        "from edhie.fit.first_look import first_look; from edhie.evaluate import read_data; "
        "from edhie.expr.standard_libraries import feynman; x = np.linspace(1, 2, 50); "
        "print(f'{first_look(read_data(x, 3 * x + 1), feynman(1)).expr:.3g}')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "3*x0 + 1\n"
