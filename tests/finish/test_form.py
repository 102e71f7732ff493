"""Readable forms have the same values and are no longer."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.expr import Expr, SymbolLibrary, parse
from edhie.expr.precise import UndefinedError, precise_value
from edhie.finish import normal_form, tidied, without_redundant_constants
from edhie.finish.form import expanded, opened
from edhie.grammar import load
from strategies import LIBRARIES, TAME_NUMBERS, exprs

GRAMMAR = load("general")


def assert_same_values(one: Expr, other: Expr, rtol: float) -> None:
    """At points where one has a value so has the other, and to forty digits: rounding has no part in it."""
    rng = np.random.default_rng(0)
    for low, high in ((-3, 3), (0.5, 3)):
        with mpmath.workdps(40):
            point = {name: mpmath.mpf(rng.uniform(low, high)) for name in one.library.variables}
            try:
                expected = precise_value(one, point)
            except UndefinedError:
                continue
            found = precise_value(other, point)
            assert abs(found - expected) <= rtol * abs(expected) + mpmath.mpf(10) ** -30, (one, other)


def filled(seed: int) -> list[Expr]:
    rng = np.random.default_rng(seed)
    forest = GRAMMAR.sample(8, rng, max_height=7)
    return [each.with_constants(rng.normal(size=len(each.constants)).tolist()) for each in forest]


@given(st.integers(0, 10_000))
def test_the_form_of_formulas(seed: int) -> None:
    for expr in filled(seed):
        check_laws(expr)


@given(
    st.sampled_from(list(LIBRARIES.values())).flatmap(
        lambda library: exprs(library, numbers=TAME_NUMBERS, values=st.none() | st.sampled_from([-2.0, -0.5, 1.0, 3.0]))
    )
)
def test_the_form_of_anything(expr: Expr) -> None:
    form = tidied(expr)
    assert form.size <= expr.size + sum((value or 0.0) < 0 for value in expr.values)
    assert len(form.constants) <= len(expr.constants)
    assert tidied(form) == form
    if None not in expr.constants:
        assert_same_values(expr, form, 1e-12)


def check_laws(expr: Expr) -> None:
    form = tidied(expr)
    assert form.library is expr.library
    assert form.size <= expr.size + sum(value < 0 for value in expr.constants)  # a sign may move out of a number
    assert len(form.constants) <= len(expr.constants)
    assert form.variables == expr.variables
    assert tidied(form) == form
    assert_same_values(expr, form, 1e-12)


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("x0 + c", [-2.0], "x0 - 2"),
        ("x0 - c", [-2.0], "x0 + 2"),
        ("c + x0", [-2.0], "x0 - 2"),
        ("x0 + c*x1/x0", [-2.0], "x0 - 2*x1/x0"),
        ("c*x0 + c*x1", [-2.0, -3.0], "-2*x0 - 3*x1"),
        ("x0*c", [-2.0], "-2*x0"),
        ("exp(x0 + c)", [-2.0], "exp(x0 - 2)"),
        ("exp(-(c)*x0)", [-0.16], "exp(0.16*x0)"),
        ("-(c)*x0", [1.5], "-1.5*x0"),
        ("cos(c*x0)", [-2.2], "cos(2.2*x0)"),
        ("x0 + sin(c*x1)", [-2.2], "x0 - sin(2.2*x1)"),
        ("(-(c/x0^c))^3", [-0.9, 0.16], "(0.9/x0^0.16)^3"),
        ("c*(x0*sqrt(x1))", [0.35], "0.35*x0*sqrt(x1)"),
        ("x0*(x0*x0)", [], "x0^3"),
        ("c*(x0*sqrt(x0))/sqrt(x1)", [0.5], "0.5*x0*sqrt(x0)/sqrt(x1)"),
        ("c*x0/((x0 - x1)*(x0 + x1))", [-91.5], "91.5*x0/((x1 - x0)*(x0 + x1))"),
        ("c*(x0*x1)", [2.0], "2*x0*x1"),
        ("x0 - (x1 - (x0 + c))", [1.5], "x0 - x1 + x0 + 1.5"),
        ("c*(x0/x1)*(x0^2/c)", [1.5, 0.5], "3*x0^3/x1"),
        ("-x0*sin(c*x1)", [2.0], "-x0*sin(2*x1)"),
        ("-(c*x0*log(x0/x1))", [1.5], "-1.5*x0*log(x0/x1)"),
        ("-(x0*log(x0/x1))", [], "x0*log(x1/x0)"),
        ("c*x0*x1^c", [0.5, -5.0], "0.5*x0/x1^5"),
        ("c*x1^c", [0.5, -1.7], "0.5/x1^1.7"),
        ("x0^(-2)*x1^(-3)", [], "x0^-2*x1^-3"),
        ("c*x0 + c", [1.0, 0.0], "x0"),
        ("c*x0/exp(c*x1)", [3.0, 0.5], "3*x0*exp(-0.5*x1)"),
        ("c/exp(x1/c)/x0", [3.0, 0.5], "3*exp(-2*x1)/x0"),
        ("c/exp(x0)", [3.0], "3/exp(x0)"),
        ("exp(x0/c)", [-4.0], "exp(-0.25*x0)"),
    ],
)
def test_how_it_reads(text: str, constants: list[float], expected: str) -> None:
    expr = parse(text, variables=["x0", "x1"]).with_constants(constants)
    assert str(tidied(expr)) == expected


def test_what_cannot_be_said_otherwise_stays() -> None:
    only_sums = SymbolLibrary.of(["+", "*"], 1, constant=True)
    whole = Expr(only_sums, ["+", "x0", "c"], [-2.0])
    assert tidied(whole) == whole
    free = parse("x0 + c")
    assert tidied(free) == free
    apart = parse("(x0 + c)*(x0 + c)")  # two constants, which need not be the same
    assert tidied(apart) == apart
    own = parse("x0*x0", SymbolLibrary.of(["*"], 1))
    assert tidied(own) == own


@given(st.integers(0, 10_000))
def test_fewer_constants_say_the_same(seed: int) -> None:
    for expr in filled(seed):
        found = without_redundant_constants(expr)
        assert found.size <= expr.size + sum(value < 0 for value in expr.constants)
        assert len(found.constants) <= len(expr.constants)
        assert without_redundant_constants(found) == found
        assert_same_values(expr, found, 1e-9)


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("c/(c*x0 + c)", [3.0, 2.0, 1.0], "1.5/(x0 + 0.5)"),
        ("c/(c/x0^2 - c/x1^2)", [2.0, 0.5, 0.5], "4/(1/x0^2 - 1/x1^2)"),
        ("c*x0/(c*x0 + c)", [3.0, 2.0, 1.0], "1.5*x0/(x0 + 0.5)"),
        ("c*(c*x0)", [2.0, 3.0], "6*x0"),
        ("c*(c*x0 + c)^2", [2.0, -3.0, 6.0], "18*(x0 - 2)^2"),
        ("c*exp(c + c*x0)", [2.0, 0.0, -3.0], "2*exp(-3*x0)"),
        ("c + log(c*x0)", [1.0, 1.0], "log(x0) + 1"),
        ("c*x0^c*c", [2.0, 0.5, 4.0], "8*x0^0.5"),
        ("c + (c + x0)", [2.0, 3.0], "x0 + 5"),
        ("c*x0 + c*x1 + c", [2.0, 3.0, 4.0], "2*x0 + 3*x1 + 4"),
    ],
)
def test_what_is_one_too_many(text: str, constants: list[float], expected: str) -> None:
    expr = parse(text, variables=["x0", "x1"]).with_constants(constants)
    assert f"{without_redundant_constants(expr):.6g}" == expected


@pytest.mark.parametrize(
    ("text", "constants", "written"),
    [
        ("c*c^t", [3.0, 0.5], "3*exp(-0.693147*t)"),
        ("c^(c*t) + c", [2.0, 3.0, 1.0], "exp(2.07944*t) + 1"),
        ("c^(t + 1)", [0.2], "exp(-1.60944*(t + 1))"),
        ("c^c^t", [0.2, 0.5], "exp(-1.60944*exp(-0.693147*t))"),
    ],
)
def test_exponentials_with_base_e_keep_values(text: str, constants: list[float], written: str) -> None:
    before = parse(text, variables=["t"]).with_constants(constants)
    after, times = normal_form(before), np.linspace(-2, 3, 11)
    assert f"{after:.6g}" == written
    np.testing.assert_allclose(after(t=times), before(t=times), rtol=1e-12)


@pytest.mark.parametrize(("text", "constants"), [("2^t", []), ("10^(c*t)", [1.2345678]), ("t^c", [0.1234567])])
def test_other_powers_stay(text: str, constants: list[float]) -> None:
    given = parse(text, variables=["t"]).with_constants(constants)
    assert normal_form(given) == given


@pytest.mark.parametrize(
    ("text", "constants", "written"),
    [
        ("t^0.5", [], "sqrt(t)"),
        ("c*m^1.5/t^0.5", [3.0], "3*m^1.5/sqrt(t)"),
        ("c*m^1.5*t^(-0.5)", [3.0], "3*m^1.5/sqrt(t)"),
        ("c*(m + t)^0.5", [3.0], "3*sqrt(m + t)"),
    ],
)
def test_powers_of_a_half_are_roots(text: str, constants: list[float], written: str) -> None:
    found = parse(text, variables=["t", "m"]).with_constants(constants)
    assert str(normal_form(found.cast(opened(found.library)))) == written


def test_without_exponentials_powers_stay() -> None:
    library = SymbolLibrary.of(["*", "^"], ["t"], constant=True)
    given = parse("c^t", library).with_constants([0.3])
    assert normal_form(given) == given


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2*t*(t + 1.5) - 4", "2*t^2 + 3*t - 4"),
        ("1.5 + 3*exp(t*(0.3*t + 2))", "1.5 + 3*exp(0.3*t^2 + 2*t)"),
        ("t*(m + 2)", "t*(m + 2)"),
        ("(t + 1)*(sqrt(t) + 2)", "(t + 1)*(sqrt(t) + 2)"),
    ],
)
def test_a_polynomial_of_one_variable_is_a_sum_of_powers(text: str, written: str) -> None:
    before = parse(text, variables=["t", "m"])
    after = expanded(before.cast(opened(before.library)))
    assert str(after) == written
    assert_same_values(before, after, 1e-12)


@pytest.mark.parametrize(
    ("text", "constants", "wanted"),
    [
        ("c/(1 + (c/x)^c)", [2.9, 61.5, -2.5], "2.9/(1 + (x/61.5)^2.5)"),
        ("c*(1 - exp(neg((c*x)^c)))", [1.9, 0.25, 0.8], "1.9*(1 - exp(-(x/4)^0.8))"),
        ("c*exp(neg((c*x)^c))", [1.9, 0.25, -0.8], "1.9*exp(-(4/x)^0.8)"),
        ("(c*x)^c", [4.0, 0.8], "(x/0.25)^0.8"),
    ],
)
def test_powers_of_ratios_have_a_scale_and_a_positive_exponent(text: str, constants: list[float], wanted: str) -> None:
    assert f"{tidied(parse(text).with_constants(constants)):.6g}" == wanted
