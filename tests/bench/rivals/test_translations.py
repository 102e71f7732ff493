"""The formula of a rival has the values that the rival itself predicts."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from edhie.bench.rivals import Question, packages, srtoolkit
from edhie.errors import SearchError
from edhie.expr import parse
from edhie.expr.interpret import interpret
from edhie.expr.standard_libraries import everything, feynman, nguyen
from edhie.search.base import Budget

Numbers = Any
SYMBOLS = tuple(each.name for each in nguyen(2).symbols if each.arity)


def question(*, has_constants: bool = False, seed: int = 0, evaluations: int = 3000) -> Question:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 3, (40, 2))  # noqa: N806
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 / (1.5 + X[:, 0])
    symbols = SYMBOLS if not has_constants else tuple(each.name for each in feynman(2).symbols if each.arity)
    return Question(X, y, symbols, has_constants, Budget(evaluations, 20, 1e-10), seed)


def values(formula: str, X: Numbers) -> Numbers:  # noqa: N803
    expr = parse(formula, everything(X.shape[1]))
    with np.errstate(all="ignore"):
        return np.broadcast_to(interpret(expr, {"x0": X[:, 0], "x1": X[:, 1]}), len(X))


@pytest.mark.parametrize("has_constants", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_operon(has_constants: bool, seed: int) -> None:
    pytest.importorskip("pyoperon", reason="pyoperon is not installed (extra: peers)")
    asked = question(has_constants=has_constants, seed=seed)
    estimator = packages.operon_estimator(asked).fit(asked.X, asked.y)
    found = values(packages.operon_formula(estimator, asked.names), asked.X)
    np.testing.assert_allclose(found, estimator.predict(asked.X), rtol=2e-4, atol=2e-4)
    formula, evaluated = packages.operon(asked)
    assert formula == packages.operon_formula(estimator, asked.names)  # the same seed, the same result
    assert evaluated is not None
    assert asked.budget.evaluations is not None
    assert evaluated <= 1.1 * asked.budget.evaluations
    few = packages.operon(question(has_constants=has_constants, seed=seed, evaluations=100))[1]
    assert few is not None
    assert few <= 110


@pytest.mark.parametrize("has_constants", [False, True])
def test_gplearn(has_constants: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gplearn", reason="gplearn is not installed (extra: peers)")
    monkeypatch.setattr(packages, "POPULATION", 200)
    asked = question(has_constants=has_constants, evaluations=600)
    estimator = packages.gplearn_estimator(asked)
    with np.errstate(all="ignore"):
        estimator.fit(asked.X, asked.y)
    compared = 0
    for program in estimator._programs[-1]:
        names = {part.name for part in program.program if hasattr(part, "arity")}
        with np.errstate(all="ignore"):
            wanted, moved = program.execute(asked.X), program.execute(asked.X * (1 + 1e-14))
        is_chaotic = not np.allclose(wanted, moved, rtol=1e-9, atol=0)  # such as the sine of a large number
        if names & {"div", "log"} or is_chaotic:  # these two may be protected
            continue
        np.testing.assert_allclose(values(packages.gplearn_formula(program.program), asked.X), wanted, rtol=1e-6)
        compared += 1
    assert compared > 20
    with np.errstate(all="ignore"):
        formula, evaluated = packages.gplearn(asked)
        assert packages.gplearn(question(has_constants=has_constants, evaluations=30))[1] == 30
    assert evaluated == 600
    assert np.isfinite(values(formula, asked.X)).all()


def test_gplearns_protected_functions_are_of_absolute_values() -> None:
    part = {name: SimpleNamespace(name=name, arity=arity) for name, arity in (("div", 2), ("log", 1), ("sqrt", 1))}
    program = [part["div"], part["sqrt"], 0, part["log"], 1]
    X = np.array([[-4.0, -3.0], [9.0, 0.5]])  # noqa: N806
    wanted = np.sqrt(np.abs(X[:, 0])) / np.log(np.abs(X[:, 1]))
    np.testing.assert_allclose(values(packages.gplearn_formula(program), X), wanted)
    assert packages.gplearn_formula([SimpleNamespace(name="pow5", arity=1), 0.25]) == "((0.25))^5"


def test_symbolic_regression_toolkit() -> None:
    pytest.importorskip("SRToolkit", reason="symbolic-regression-toolkit is not installed (extra: peers)")
    utils: Any = importlib.import_module("SRToolkit.utils")
    asked = question(has_constants=True)
    library = srtoolkit.library_of(asked)
    np.random.seed(0)  # noqa: NPY002
    compared = 0
    for tokens in utils.generate_n_expressions(library, 60, verbose=False):
        constants = np.random.default_rng(0).uniform(0.5, 2, tokens.count("C"))
        with np.errstate(all="ignore"):
            wanted = np.broadcast_to(utils.compile_expr(tokens, library)(asked.X, constants), len(asked.y))
        found = values(srtoolkit.formula(tokens, list(constants), library), asked.X)
        is_finite = np.isfinite(wanted)
        np.testing.assert_allclose(found[is_finite], wanted[is_finite], rtol=1e-9, err_msg=str(tokens))
        compared += int(is_finite.any())
    assert compared > 30


def test_what_the_toolkit_samples_comes_back() -> None:
    pytest.importorskip("SRToolkit.approaches", reason="symbolic-regression-toolkit is not installed (extra: peers)")
    asked = question(evaluations=200)
    formula, evaluated = srtoolkit.proged(asked)
    assert evaluated is not None
    assert 0 < evaluated <= 200
    assert np.isfinite(values(formula, asked.X)).all()


def test_pysr(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    class Regressor:
        def __init__(self, **options: Any) -> None:
            given.update(options)

        def fit(self, X: Numbers, y: Numbers) -> Regressor:  # noqa: N803
            return self

        def get_best(self) -> dict[str, str]:
            return {"equation": "square(x0 - cube(-1.5)) + (fourth(x1) / fifth(sqrt(x1)))"}

    monkeypatch.setitem(sys.modules, "pysr", SimpleNamespace(PySRRegressor=Regressor))
    asked = question(seed=5)
    formula, evaluated = packages.pysr(asked)
    x0, x1 = asked.X.T
    np.testing.assert_allclose(values(formula, asked.X), (x0 + 1.5**3) ** 2 + x1**4 / np.sqrt(x1) ** 5)
    assert evaluated is None
    assert (given["random_state"], given["max_evals"], given["precision"]) == (5, 3000, 64)
    assert given["unary_operators"][:4] == ["square", "cube", "fourth(x) = x^4", "fifth(x) = x^5"]


def test_pysr_without_julia(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages.shutil, "which", lambda name: None)
    monkeypatch.setattr(packages.sys, "prefix", "nowhere")
    monkeypatch.delenv("PYTHON_JULIAPKG_EXE", raising=False)
    with pytest.raises(SearchError, match="PySR needs Julia, and none is found"):
        packages.prepare_pysr(question())
