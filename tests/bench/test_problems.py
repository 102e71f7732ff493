"""The problems that come with edhie: complete, in agreement with the paper, finite, and right in their units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edhie.bench import BenchmarkProblem, ProblemError, benchmark_names, load_problems
from edhie.bench.metrics import is_equivalent
from edhie.bench.problem import chosen
from edhie.corpora import physics
from edhie.evaluate import Evaluator
from edhie.expr import Expr, Forest, SymbolLibrary, parse

ALL = [(name, problem) for name in benchmark_names() for problem in load_problems(name)]
IDS = [f"{name}:{problem.id}" for name, problem in ALL]
PLAIN = np.zeros(5)


def test_the_benchmarks() -> None:
    assert {name: len(load_problems(name)) for name in benchmark_names()} == {
        "feynman120": 120, "feynman16": 16, "nguyen": 10,
    }  # fmt: skip
    assert load_problems("feynman") == load_problems("feynman120")
    assert [problem.id for problem in load_problems("feynman16")] == (
        "FM-1 FM-2 FM-3.1 FM-3.2 FM-4.1 FM-4.2 FM-5.1 FM-5.2 FM-6 FM-7.1 FM-7.2 FM-8 FM-9 FM-10 FM-11 FM-12".split()
    )


def test_the_intervals_of_the_paper() -> None:
    ranges = {problem.id: {(each.low, each.high) for each in problem.variables} for problem in load_problems("nguyen")}
    assert ranges == {f"NG-{k}": {(-20, 20)} for k in range(1, 7)} | {
        "NG-7": {(0, 40)}, "NG-8": {(0, 80)}, "NG-9": {(0, 20)}, "NG-10": {(0, 20)},
    }  # fmt: skip
    sizes = {name: {(each.n_train, each.n_test) for each in load_problems(name)} for name in benchmark_names()}
    assert sizes == {"nguyen": {(5000, 5000)}, "feynman16": {(5000, 5000)}, "feynman120": {(1000, 1000)}}


def test_the_sixteen_are_among_the_hundred() -> None:
    whole = {problem.id: problem for problem in load_problems("feynman")}
    for problem in load_problems("feynman16"):
        original = whole[problem.source.removeprefix("Feynman Lectures ")]
        same = replace(original, id=problem.id, library=problem.library, n_train=problem.n_train, n_test=problem.n_test)
        assert problem == same


def test_the_formulas_are_those_of_the_corpus() -> None:
    corpus = physics()
    forms = {_generic(problem, corpus.library) for problem in load_problems("feynman")}
    assert forms == {str(expr) for expr in corpus.forest}


def _generic(problem: BenchmarkProblem, library: SymbolLibrary) -> str:
    """The formula with x0, x1, … for its variables, in the order in which they stand in it."""
    assert problem.truth is not None
    order = list(dict.fromkeys(token for token in problem.truth.tokens if token in problem.names))
    names = {name: f"x{k}" for k, name in enumerate(order)}
    tokens = [names.get(token, token) for token in problem.truth.tokens]
    return str(Expr(library, tokens))


@pytest.mark.parametrize(("name", "problem"), ALL, ids=IDS)
def test_the_truth_is_found_in_its_own_data(name: str, problem: BenchmarkProblem) -> None:
    from edhie.bench.metrics import success_threshold

    assert problem.truth is not None
    assert set(problem.truth.variables) == set(problem.names)
    points, y = problem.data("train", 0)
    assert points.shape == (problem.n_train, len(problem.variables))
    assert np.isfinite(y).all()
    assert y.std() > 0
    low, high = np.array([(each.low, each.high) for each in problem.variables]).T
    assert ((low <= points) & (high >= points)).all()
    error = Evaluator(problem.truth.library, points, y).score(Forest.from_exprs([problem.truth])).errors[0]
    assert error < success_threshold(y)
    assert is_equivalent(problem.truth, problem) == "yes"
    wrong = parse(f"({problem.formula})*1.0001", problem.truth.library)
    assert is_equivalent(wrong, problem) == "no"


@pytest.mark.parametrize(("name", "problem"), ALL, ids=IDS)
def test_units_agree(name: str, problem: BenchmarkProblem) -> None:
    assert problem.truth is not None
    units = {variable.name: np.array(variable.unit) for variable in problem.variables}
    np.testing.assert_allclose(_unit(problem.truth, units), problem.unit, atol=1e-12)


def _unit(expr: Expr, units: dict[str, np.ndarray]) -> np.ndarray:
    """The unit of an expression; raises where units do not go together."""
    name, parts = expr.symbol.name, [_unit(child, units) for child in expr.children]
    if expr.symbol.kind != "operator":
        return units.get(expr.tokens[0], PLAIN)
    if name in ("+", "-"):
        np.testing.assert_allclose(parts[0], parts[1], atol=1e-12)
    elif name == "*":
        return parts[0] + parts[1]
    elif name == "/":
        return parts[0] - parts[1]
    elif name == "^":
        return parts[0] * float(expr.children[1].sympy())
    elif name.startswith("^"):
        return parts[0] * int(name[1:])
    elif name == "sqrt":
        return parts[0] / 2
    elif name != "neg":
        np.testing.assert_allclose(parts[0], PLAIN)
    return parts[0]


def test_data_follow_from_problem_and_seed_alone() -> None:
    first, other = load_problems("nguyen")[:2]
    points, y = first.data("train", 3)
    np.random.seed(0)  # noqa: NPY002 -- it must not matter
    again = load_problems("nguyen")[0].data("train", 3)
    np.testing.assert_array_equal(points, again[0])
    np.testing.assert_array_equal(y, again[1])
    for different in (first.data("test", 3), first.data("train", 4), other.data("train", 3)):
        assert not np.isin(points, different[0]).any()


def test_noise_multiplies_the_target_and_moves_no_point() -> None:
    problem = load_problems("nguyen")[6]
    points, y = problem.data("train", 0)
    by_noise = {noise: problem.data("train", 0, noise) for noise in (0.01, 0.2)}
    for noise, (moved, noisy) in by_noise.items():
        np.testing.assert_array_equal(points, moved)
        share = (noisy / y - 1)[y != 0] / noise
        assert abs(share.mean()) < 0.05
        assert abs(share.std() - 1) < 0.05
    # of two noises only the size differs
    np.testing.assert_allclose((by_noise[0.2][1] - y) / 20, by_noise[0.01][1] - y, atol=1e-12)


@pytest.mark.parametrize("noise", [-0.1, float("nan"), float("inf")])
def test_noise_that_is_none(noise: float) -> None:
    with pytest.raises(ProblemError, match="noise is a share of the target"):
        load_problems("nguyen")[0].data("train", 0, noise)


def test_choosing() -> None:
    problems = load_problems("nguyen")
    assert [problem.id for problem in chosen(problems, ["ng-5", "NG-1"])] == ["NG-1", "NG-5"]
    with pytest.raises(ProblemError, match="unknown problem 'NG-55'; did you mean 'NG-5'"):
        chosen(problems, ["NG-55"])


def test_names_that_are_none() -> None:
    with pytest.raises(ProblemError, match="unknown benchmark 'nguyn'; did you mean 'nguyen'"):
        load_problems("nguyn")
    with pytest.raises(ProblemError, match="there are feynman120, feynman16, nguyen, or give the path"):
        load_problems("qqq")
    with pytest.raises(ProblemError, match="there is no split 'all'"):
        load_problems("nguyen")[0].data("all", 0)  # type: ignore[arg-type]
