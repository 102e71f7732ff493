"""What a search is given: any generator, over the names of the data's columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from edhie import PCFG, EDHiERegressor
from edhie.fit.generator import generator_and_library
from edhie.fit.settings import Settings

GRAMMAR = PCFG.parse("E -> E '+' T [0.4] | T [0.6]\nT -> 'x0' [0.7] | 'c' [0.3]")
X = np.linspace(0, 3, 30)


@pytest.mark.parametrize("search", ["draw", "mosaic"])
def test_a_grammar_and_columns_with_names_of_their_own(search: str) -> None:
    model = EDHiERegressor(max_time=None, max_evaluations=50, generator=GRAMMAR, search=search)
    model.fit(pd.DataFrame({"t": X}), 2 * X + 1)
    assert model.best_.loss < 1e-9
    assert "t" in model.best_.expr.tokens


def test_columns_that_a_generator_knows_by_name_are_those_whatever_their_order() -> None:
    grammar = PCFG.parse("E -> 'b' '-' 'a' [0.5] | 'b' [0.5]")
    table = pd.DataFrame({"a": X, "b": np.cos(X)})
    model = EDHiERegressor(max_time=None, max_evaluations=5, generator=grammar, search="draw")
    model.fit(table, table["b"] - table["a"])
    assert str(model.best_.expr) == "b - a"


def test_the_default_search_gets_a_generator_as_it_is() -> None:
    assert generator_and_library(Settings(generator=GRAMMAR), ["t"])[0] is GRAMMAR
    renamed = generator_and_library(Settings(generator=GRAMMAR, search="draw"), ["t"])[0]
    assert renamed.library.variables == ("t",)


@pytest.mark.parametrize("search", ["draw", "evolve"])
def test_a_search_of_the_latent_space_keeps_to_the_operators_asked_for(search: str) -> None:
    model = EDHiERegressor(max_time=None, max_evaluations=200, operators=["+", "*"], search=search)
    model.fit(X[:, None], 2 * X + 1)
    used = {token for equation in model.discoveries_[0].equations for token in equation.expr.tokens}
    assert not used & {"-", "/", "sin", "exp", "sqrt"}


def test_a_grammar_cannot_leave_out_its_own_operators() -> None:
    with pytest.raises(Exception, match="leaves out \\+"):
        generator_and_library(Settings(generator=GRAMMAR, search="draw", operators=["*"]), ["x0"])
