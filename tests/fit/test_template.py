from __future__ import annotations

import numpy as np
import pytest

from edhie import EDHiERegressor
from edhie.errors import ParseError, SearchError
from edhie.evaluate import Evaluator
from edhie.expr import SymbolLibrary, parse
from edhie.finish import normal_form
from edhie.fit.template import template_library, template_strategy
from edhie.form import Form
from edhie.generators import load
from edhie.search import Budget, run
from edhie.selection.choice import shortest_description

PLAIN = SymbolLibrary.of(["+", "-", "*", "^2"], ["t", "k"], constant=True)


def test_a_library_gets_what_the_text_needs() -> None:
    assert template_library("f(t) + g(k)", PLAIN) == PLAIN
    assert template_library("f(t)*exp(-c*k)", PLAIN).names == (*PLAIN.names, "neg", "exp")
    assert template_library("1/(1 + f(t)) + pi", PLAIN).names == (*PLAIN.names, "/", "#")
    assert template_library("f()*t", SymbolLibrary.of(["*"], ["t"])).names == ("*", "t", "c")
    with pytest.raises(ParseError, match="unknown symbol 'u'"):
        template_library("f(t) + u", PLAIN)


def test_parts_are_made_of_the_library_s_own_operators() -> None:
    assert template_strategy("f(t) + g(k)", PLAIN).config.operators is None
    assert template_strategy("f(t)*exp(k)", PLAIN).config.operators == ("+", "-", "*", "^2")
    with pytest.raises(ParseError, match="has no unknown part"):
        template_strategy("t + k", PLAIN)


def test_the_parts_of_what_was_found() -> None:
    text, rng = "f(t)/(1 + exp(-c*k))", np.random.default_rng(0)
    table = rng.uniform(0.5, 3, (150, 2))
    y = (table[:, 0] ** 2 - 3 * table[:, 0]) / (1 + np.exp(-2 * table[:, 1]))
    used = Evaluator(template_library(text, PLAIN), table, y + 0.01 * y.std() * rng.standard_normal(150))
    strategy = template_strategy(text, PLAIN)
    result = run(load("general-2"), used, strategy=strategy, budget=Budget(3000))
    found = shortest_description(result.candidates, used.data)
    assert found is not None
    shown = Form.parse(text, found.expr.library).parts(found.expr)
    assert set(shown) == {"f"}
    grid = np.linspace(0, 5, 50)
    np.testing.assert_allclose(shown["f"](t=grid), grid**2 - 3 * grid, atol=0.1)
    operators = {token for token in shown["f"].tokens if shown["f"].library[token].arity}
    assert operators <= {"+", "-", "*", "^2"}


def test_another_form_has_no_such_parts() -> None:
    with pytest.raises(SearchError, match="is not of the form"):
        Form.parse("f(t)*g(k)", PLAIN).parts(parse("t + k", PLAIN))


def test_parts_are_read_whatever_their_signs() -> None:
    X = np.random.default_rng(0).uniform(0.5, 4, (80, 2))  # noqa: N806
    y = -3 * X[:, 0] - 6 * X[:, 1]
    model = EDHiERegressor(template="f(x0) + 2*f(x1)", max_time=None, max_evaluations=300).fit(X, y)
    assert str(model.parts()["f"].free()) in ("c*x0", "x0*c", "-c*x0", "x0/c", "-3*x0")


def test_parts_are_shown_in_normal_form() -> None:
    X = np.random.default_rng(0).uniform(0.5, 4, (80, 2))  # noqa: N806
    y = X[:, 1] * (2.5 * X[:, 0] + 1) + np.random.default_rng(1).normal(0, 0.01, 80)
    model = EDHiERegressor(template="x1*f(x0)", max_time=None, max_evaluations=2000).fit(X, y)
    for each in model.discoveries_[0].equations:
        part = Form.parse("x1*f(x0)", each.expr.library).parts(each.expr)["f"]
        assert normal_form(part).size == part.size
