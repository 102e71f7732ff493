"""Guesses are read over the table's columns, scored first, and lead to the truth in far fewer evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from classics import SPACINGS, Spacing, arrhenius
from edhie import Constraints
from edhie.errors import EdhieError, ParseError, SearchError, SymbolError
from edhie.evaluate import Data
from edhie.expr import SymbolLibrary, parse
from edhie.fit import Discovery, Settings, discover
from edhie.fit.guesses import castable, read_guesses
from searches import assert_same

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^", "^2", "sin", "exp"], ["t", "gr_e"], constant=True)
COLUMNS = ("t", "größe")
X = np.random.default_rng(0).uniform(0.5, 3, (3, 150))
A, B, D = X


def found(y: Any, guesses: Any = (), evaluations: int = 600, **options: Any) -> Discovery:
    settings = Settings(max_time=None, max_evaluations=evaluations, guesses=guesses, **options)
    return discover(Data(X, y, None, ("a", "b", "d")), settings)


# -- reading --------------------------------------------------------------------------


def test_numbers_become_constants_and_columns_have_both_names() -> None:
    forest = read_guesses(["2*t + c*größe", "gr_e^2 + t^3", parse("sin(2.5*t)"), "-t"], LIBRARY, COLUMNS)
    assert forest.library == LIBRARY
    assert [str(expr) for expr in forest] == ["2*t + c*gr_e", "gr_e^2 + t^3", "sin(2.5*t)", "-1*t"]
    np.testing.assert_array_equal(forest.values, [2, np.nan, 3, 2.5, -1])


def test_expressions_come_over_with_their_constants() -> None:
    other = SymbolLibrary.of(["+", "*"], ["t"], constant="K")
    expr = parse("K*t + K", other).with_constants([1.5, None])
    forest = read_guesses([expr], LIBRARY, COLUMNS)
    np.testing.assert_array_equal(forest.values, [1.5, np.nan])


def test_without_constants_numbers_have_to_be_symbols() -> None:
    library = SymbolLibrary.of(["+", "*"], ["t"], literals=[2])
    assert str(read_guesses(["2*t"], library, ["t"])[0]) == "2*t"
    with pytest.raises(ParseError, match="in guess 0: the number 3 is not in the library"):
        read_guesses(["3*t"], library, ["t"])


@pytest.mark.parametrize(
    ("guesses", "message"),
    [
        (["t", "t + sinn(t)"], r"in guess 1: unknown function 'sinn'; did you mean 'sin'\? at 4 in .*\n.*\n +\^"),
        (["t + log(t)"], "in guess 0: the function 'log' is not in the library"),
        (["t + speed"], "unknown symbol 'speed'"),
        (["t +"], "in guess 0: the expression ends"),
        ("t + t", "guesses is a list of formulas, not one"),
        ([3], "guess 0 is 3; give a text"),
    ],
)
def test_a_bad_formula_is_told(guesses: Any, message: str) -> None:
    with pytest.raises((ParseError, SearchError, SymbolError), match=message):
        read_guesses(guesses, LIBRARY, COLUMNS)


def test_of_earlier_equations_those_that_can_be_written_are_taken() -> None:
    exprs = [parse(text, variables=["t", "gr_e"]) for text in ("t + gr_e", "log(t)", "2*t")]
    assert [str(each) for each in castable(exprs, LIBRARY)] == ["t + gr_e", "2*t"]


# -- scoring --------------------------------------------------------------------------


def test_a_guess_stands_among_the_candidates_with_its_constants_fitted() -> None:
    discovery = found(2.5 * np.exp(-0.7 * A) + B, ["c*exp(c*a) + b", "2*b"], evaluations=8)
    first = discovery.explored.forest[:4]
    assert first[0].tokens == ("+", "*", "c", "exp", "*", "c", "a", "b")
    assert str(first[1]) == "2*b"
    assert discovery.best.loss < 1e-10
    assert discovery.result.counts.executed <= 8


def test_guesses_are_within_the_budget() -> None:
    assert found(A, ["c*a + b", "c*b"], 8).result.counts.executed <= 8
    with pytest.raises(SearchError, match="max_evaluations=7 is too small for 2 guesses; give at least 8"):
        found(A, ["c*a + b", "c*b"], 7)
    earlier = [parse(text, variables=["a", "b", "d"]) for text in ("2*a + b", "3*b", "4*a")]
    assert found(A, (), 2, recalled=earlier).result.counts.executed == 2


def test_what_constraints_forbid_is_passed_over() -> None:
    discovery = found(np.sin(np.sin(A)), ["sin(sin(a))", "c*a"], 300, constraints=Constraints(nested={"sin": ["sin"]}))
    assert "sin(sin(a))" not in {str(expr) for expr in discovery.explored.forest}
    assert not discovery.is_empty


def test_constraints_name_columns_as_the_table_does() -> None:
    only = Constraints(only_on={"log": ["temp (K)"]})
    data = Data(X[:2], np.log(A) * B, None, ("temp (K)", "b"))
    discovery = discover(data, Settings(max_time=None, max_evaluations=2000, constraints=only))
    assert discovery.best.loss < 1e-10
    with pytest.raises(EdhieError, match="unknown variable 'b_'"):
        discover(data, Settings(max_time=None, constraints=Constraints(only_on={"log": ["b_"]})))


# -- what they are good for -----------------------------------------------------------

HARD = {
    "constants": (2.7 * np.exp(-0.83 * A) * np.sin(1.9 * B) / (D + 0.37), "c*exp(c*a)*sin(c*b)/(d + c)"),
    "numbers": (2.7 * np.exp(-0.83 * A) * np.sin(1.9 * B) / (D + 0.37), "2*exp(-1*a)*sin(2*b)/(d + 0.5)"),
    "one term": (3.1 * A * np.cos(2.2 * B * D) + 1.7 * np.sqrt(A + B * B + 0.3), "c*a*cos(2*b*d)"),
    "one factor": (np.exp(-0.6 * A * A) * np.cos(2.4 * B + 0.3) * np.log(1.9 + D), "exp(c*a^2)*cos(2*b + c)"),
}


@pytest.mark.parametrize(
    "lacking",
    ["constants", "numbers", *(pytest.param(f"one {each}", marks=pytest.mark.slow) for each in ("term", "factor"))],
)
def test_a_guess_that_is_nearly_right_leads_to_the_truth(lacking: str) -> None:
    y, guess = HARD[lacking]
    guessed, alone = found(y, [guess], 4000), found(y, (), 300)
    assert guessed.result.stopped == "finished"
    assert guessed.best.loss < 1e-9 * np.std(y)
    assert alone.best.loss > 1e-4 * np.std(y)


def test_stopped_and_gone_on_with_it_ends_the_same(tmp_path: Path) -> None:
    y, guess = HARD["one term"]
    data = Data(X, y + 0.01 * np.sin(40 * A), None, ("a", "b", "d"))

    def search(evaluations: int, **options: Any) -> Discovery:
        settings = Settings(max_time=None, max_evaluations=evaluations, guesses=[guess, "a + b"])
        return discover(data, settings, **options)

    for evaluations in (8, 60, 120):
        last = search(evaluations, folder=tmp_path / "run", resume=True)
    assert_same(last.result, search(120).result)


# -- they are always shown ------------------------------------------------------------


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("seed", [0, 1])
def test_an_exponential_is_fitted_under_the_noise_that_it_has(seed: int, spacing: Spacing) -> None:
    classic = arrhenius(seed, spacing)
    data = Data(np.ascontiguousarray(classic.X.T), classic.y, None, ("T",))
    best = discover(data, Settings(max_time=None, max_evaluations=4, guesses=["c*exp(c/T)"])).best
    assert best.noise == "proportional"
    factor, rate = best.expr.constants
    assert factor == pytest.approx(5e6, rel=0.5)
    assert abs(rate or 0.0) == pytest.approx(5200, rel=0.02)
    np.testing.assert_allclose(best.predict(data.columns), classic.clean, rtol=0.06)


def test_a_power_is_fitted_under_the_noise_that_it_has() -> None:
    y = 3e-7 * A**6.3 * (1 + 0.05 * np.random.default_rng(3).normal(size=150))
    best = found(y, ["c*a^c"], 4).best
    assert best.noise == "proportional"
    np.testing.assert_allclose(best.predict(X), 3e-7 * A**6.3, rtol=0.05)


@pytest.mark.parametrize("selection", ["mdl", "accuracy"])
def test_a_poor_guess_is_shown_too(selection: str) -> None:
    y = 2.5 * np.exp(-0.7 * A) + B + 0.01 * np.random.default_rng(0).normal(size=150)
    discovery = found(y, ["c*a*sin(c*b) + c*d", "b + c*exp(c*a)"], 300, selection=selection)
    texts = [str(each.expr.free()) for each in discovery.equations]
    assert any("sin" in text and "d" in text for text in texts)
    assert any("exp" in text for text in texts)
    complexities = [each.complexity for each in discovery.equations]
    assert complexities == sorted(complexities)
