from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.errors import ParseError, SearchError
from edhie.evaluate import Evaluator, FitConfig
from edhie.expr import Expr, Forest, SymbolLibrary, operator, parse
from edhie.generators import load
from edhie.results import SearchResult
from edhie.search import Budget, run
from edhie.search.forms import FormConfig, FormSearch
from searches import StopAfter, assert_same

GENERATOR = load("general-2")
LIBRARY = GENERATOR.library.with_numbers()
STRICT = SymbolLibrary.of(["+", "-", "*", "/", "sin", "exp", "log", "neg"], 2)
X = np.random.default_rng(0).uniform(0.3, 3, (80, 2))
Y = np.sin(X[:, 0]) * np.exp(-0.5 * X[:, 1]) + 0.3 * X[:, 1] ** 2
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "^"}


def search(template: str, library: SymbolLibrary = LIBRARY, y: Any = Y, **options: Any) -> SearchResult:
    settings = {name: options.pop(name) for name in ("operators", "fit_rows") if name in options}
    budget = options.pop("budget", Budget(2500))
    searching = {name: options.pop(name) for name in ("rng", "folder", "resume") if name in options}
    used = options.pop("evaluator", None) or Evaluator(library, X, y, **options)
    strategy = FormSearch(FormConfig(template, **settings))
    return run(GENERATOR, used, strategy=strategy, budget=budget, **searching)


# -- the law: everything that is scored is an instance, as another reader of templates sees it --


class Matcher(ast.NodeVisitor):
    """Compares Python's own reading of a template with an expression, node by node."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text.replace("^", "**"), mode="eval").body

    def matches(self, expr: Expr) -> bool:
        self.parts: dict[str, tuple[tuple[str, ...], tuple[Any, ...], list[str]]] = {}
        return self.agrees(self.tree, expr)

    def agrees(self, node: ast.expr, expr: Expr) -> bool:
        name = expr.tokens[0]
        if isinstance(node, ast.Name):
            return expr.tokens == (node.id,)
        if isinstance(node, ast.Constant):
            return expr.size == 1 and float(name) == node.value
        if isinstance(node, ast.UnaryOp):
            return name == "neg" and self.agrees(node.operand, expr.children[0])
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and name == f"^{node.right.value}":
                return self.agrees(node.left, expr.children[0])
            is_same = name == BINARY[type(node.op)]
            return is_same and all(map(self.agrees, (node.left, node.right), expr.children))
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        if node.func.id in expr.library:
            return name == node.func.id and all(map(self.agrees, node.args, expr.children))
        return self.is_part(node.func.id, [arg.id for arg in node.args if isinstance(arg, ast.Name)], expr)

    def is_part(self, name: str, arguments: list[str], expr: Expr) -> bool:
        if not {*expr.variables} <= {*arguments} or (not arguments and expr.size > 1):
            return False
        tokens, constants, formal = self.parts.setdefault(name, (expr.tokens, expr.constants, arguments))
        renamed = dict(zip(formal, arguments, strict=True))
        return expr.tokens == tuple(renamed.get(token, token) for token in tokens) and expr.constants == constants


TEMPLATES = [
    "f(x0)*exp(-c*x1) + g(x1)",
    "f(x0) + f(x1)",
    "f(x0, x1) - f(x1, x0)*g(x1)",
    "2*f(x0)^2 + sin(g(x0, x1))",
    "f()*x0 + f()*g(x1)",
    "f(x0)/(1 + exp(g(x1)))",
    "log(f(x0, x1))",
    "sqrt(f(x0))^g(x1)",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_everything_that_is_scored_is_an_instance(template: str) -> None:
    result = search(template)
    matcher = Matcher(template)
    assert len(result.candidates) > 20
    for each in result.candidates:
        assert matcher.matches(each.expr), each.expr
        assert None not in each.expr.constants


@pytest.mark.parametrize("template", ["f(x0) + g(x1)", "f(x0)*sin(x1) + f(x1)", "exp(f(x0, x1))"])
def test_without_constants_too(template: str) -> None:
    y = np.log(X[:, 0]) + X[:, 1] * np.sin(X[:, 1]) if "g" in template else Y
    result = search(template, STRICT, y, rng=2, budget=Budget(20_000 if "g" in template else 2500))
    assert all(Matcher(template).matches(each.expr) for each in result.candidates)
    assert not any(each.expr.constants for each in result.candidates)
    if "g" in template:
        assert result.best is not None
        assert result.best.error < 1e-12
        assert result.stopped == "finished"


def test_the_matcher_can_say_no() -> None:
    matcher = Matcher("f(x0) + f(x1)")
    found = search("f(x0) + f(x1)", budget=Budget(600)).candidates
    instance = next(each.expr for each in found if "x1" in each.expr.tokens)
    assert matcher.matches(instance)
    assert not Matcher("f(x0)*f(x1)").matches(instance)
    assert not Matcher("f(x0) + f(x0)").matches(instance)


# -- what it finds ----------------------------------------------------------------------


def test_without_noise_it_ends_when_nothing_is_left() -> None:
    result = search("f(x0)*exp(-c*x1) + g(x1)", budget=Budget(20_000))
    assert result.stopped == "finished"
    assert result.best is not None
    assert result.best.error < 1e-10
    assert result.best.complexity <= 16


def test_nothing_to_find_ends_too() -> None:
    result = search("f()*x0 + c", budget=Budget(seconds=20.0))
    assert result.stopped == "finished"
    design = np.column_stack([X[:, 0], np.ones(len(X))])
    left = Y - design @ np.linalg.lstsq(design, Y, rcond=None)[0]
    assert result.best is not None
    assert result.best.error == pytest.approx(np.sqrt(np.mean(left**2)))


def test_parts_have_only_the_operators_that_they_may() -> None:
    result = search("exp(f(x0)) + g(x1)", operators=("+", "*"))
    for each in result.candidates:
        assert {token for token in each.expr.tokens[2:] if each.expr.library[token].arity} <= {"+", "*"}
    with pytest.raises(SearchError, match="parts may not have 'bessel'"):
        search("f(x0)", operators=("+", "bessel"))


def test_constants_keep_to_their_bounds() -> None:
    for template in ("f(x0)*exp(c*x1) + g(x1)", "f(x0) + f(x1)"):
        result = search(template, constants=FitConfig(lower=-0.4, upper=0.9))
        for each in result.candidates:
            assert all(-0.4 <= value <= 0.9 for value in each.expr.constants if value is not None)


def test_weights_losses_and_operators_of_the_user_s() -> None:
    library = LIBRARY.extended(operator("bump", 1, numpy=lambda a: np.exp(-np.square(a))))
    weights = np.random.default_rng(1).uniform(0, 1, len(X))
    y = np.exp(-np.square(X[:, 0])) + X[:, 1]
    for template in ("bump(f(x0)) + g(x1)", "f(x0) + f(x1)"):
        result = search(template, library, y, weights=weights, loss="mae", budget=Budget(1500))
        assert all(Matcher(template).matches(each.expr) for each in result.candidates)
        assert np.isfinite(result.candidates.errors).any()


def test_of_many_rows_a_few_are_looked_at_and_all_are_scored() -> None:
    wide = np.random.default_rng(3).uniform(0.3, 3, (20_000, 2))
    y = np.sqrt(wide[:, 0]) * np.cos(2 * wide[:, 1]) + 0.05 * np.random.default_rng(4).standard_normal(20_000)
    used = Evaluator(LIBRARY, wide, y)
    result = search("f(x0)*g(x1)", evaluator=used, budget=Budget(6000))
    assert result.best is not None
    assert result.best.error < 0.0505


def test_it_goes_on_from_instances_that_were_scored_before() -> None:
    used = Evaluator(LIBRARY, X, Y)
    guesses = ["sin(x0)*exp(-c*x1) + c*x1^2", "sin(x0)", "x1*exp(-c*x1) + x1"]  # the second is none, nor the third
    used.score(Forest.from_exprs([parse(each, LIBRARY) for each in guesses]))
    result = search("f(x0)*exp(-c*x1) + g(x1)", evaluator=used, budget=Budget(5000))
    assert result.stopped == "finished"
    assert result.counts.executed < 1000
    matcher = Matcher("f(x0)*exp(-c*x1) + g(x1)")
    assert sum(not matcher.matches(each.expr) for each in result.candidates) == 2


# -- going on ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "template", ["f(x0)*exp(-c*x1) + g(x1)", pytest.param("f(x0) + k()*f(x1)", marks=pytest.mark.slow)]
)
def test_stopped_and_gone_on_with_it_ends_the_same(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = Y + 0.05 * np.random.default_rng(2).standard_normal(len(Y))
    whole = search(template, y=noisy, rng=5)
    assert_same(search(template, y=noisy, rng=5), whole)
    score = Evaluator.score
    for calls in (3, 9):
        stop = StopAfter(calls)

        def stopping(self: Evaluator, *given: Any, stop: StopAfter = stop, **options: Any) -> Any:
            stop()
            return score(self, *given, **options)

        monkeypatch.setattr(Evaluator, "score", stopping)
        partial = search(template, y=noisy, rng=5, folder=tmp_path / "run", resume=(tmp_path / "run").exists())
        assert partial.stopped == "interrupted"
    monkeypatch.setattr(Evaluator, "score", score)
    assert_same(search(template, y=noisy, folder=tmp_path / "run", resume=True), whole)


def test_errors() -> None:
    with pytest.raises(ParseError, match="has no unknown part"):
        search("x0 + c")
    with pytest.raises(SearchError, match="needs a form whose parts are unknown"):
        run(GENERATOR, Evaluator(LIBRARY, X, Y), strategy="template")
    with pytest.raises(SearchError, match="a template is a text"):
        FormConfig(3)  # type: ignore[arg-type]
    with pytest.raises(SearchError, match="FormConfig"):
        FormSearch("f(x0)")  # type: ignore[arg-type]
