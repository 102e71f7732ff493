"""Waves as people write them: the same values, a phase within one turn, the lowest frequency on a grid."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.expr import SymbolLibrary, parse
from edhie.finish import tidied
from edhie.finish.waves import Grid, normal_phases
from strategies import exprs

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "neg", "^2", "sin", "cos", "tan"], ["x", "t"], constant=True)
T = np.arange(40) * 0.1 + 3.7


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("sin(c*t + c)", [1.5, 5.1], "sin(1.5*t - 1.18319)"),
        ("sin(c*t + c)", [1.5, 5.0], "sin(1.5*t + 5)"),
        ("sin(t + c)", [2 * math.pi - 4], "sin(t - 4)"),
        ("cos(x*t + c)", [math.pi / 2 - 1], "-sin(x*t - 1)"),
        ("sin(c - c*t)", [1.0, 2.0], "-sin(2*t - 1)"),
        ("cos(c - c*t)", [1.0, 2.0], "cos(2*t - 1)"),
        ("cos(c*(t + c))", [2.0, 10.0], "cos(2*t + 1.15044)"),
        ("sin(t + c)", [100.0], "sin(t - 0.530965)"),
        ("sin(x*t + c)", [100.0], "sin(x*t - 0.530965)"),
        ("sin(c - x*t - c)", [100.1, 90.0], "sin(-x*t - 2.46637)"),
        ("tan(c*t + c)", [1.0, 2.1], "tan(1*t - 1.04159)"),
        ("sin(c*t + c)", [2.0, math.pi / 2], "cos(2*t)"),
        ("cos(c*t + c)", [2.0, -math.pi / 2], "sin(2*t)"),
        ("sin(c*t + c)", [2.0, 4 * math.pi], "sin(2*t)"),
        ("sin(c*t + c)", [2.0, 1.0], "sin(2*t + 1)"),
        ("sin(c*(t + c))", [2.0, 1.0], "sin(2*(t + 1))"),
        ("sin(c)*t", [20.0], "0.912945*t"),
    ],
)
def test_phases_are_within_half_a_turn(text: str, constants: list[float], expected: str) -> None:
    expr = parse(text, LIBRARY).with_constants(constants)
    found = normal_phases(expr)
    assert found.size <= expr.size + 1  # a sign
    assert f"{tidied(found):.6g}".replace("tan(t", "tan(1*t") == expected
    np.testing.assert_allclose(found(x=T, t=T), expr(x=T, t=T), atol=1e-9)


def test_a_huge_phase_is_reduced_exactly() -> None:
    with mpmath.workdps(50):
        exact = mpmath.mpf(5.86834e22) - 2 * mpmath.pi * mpmath.nint(mpmath.mpf(5.86834e22) / (2 * mpmath.pi))
    found = normal_phases(parse("sin(c*t + c)", LIBRARY).with_constants([1.5, 5.86834e22]))
    assert found.constants == (1.5, pytest.approx(float(exact), rel=1e-15))


@given(st.floats(0.1, 400.0), st.floats(-50, 50), st.sampled_from(["sin", "cos", "tan"]), st.sampled_from([1, -1]))
def test_aliases_have_the_same_values_on_the_grid(frequency: float, phase: float, wave: str, sign: int) -> None:
    expr = parse(f"{wave}(c*t + c)", LIBRARY).with_constants([sign * frequency, phase])
    found = normal_phases(expr, {"t": Grid(3.7, 0.1)})
    limit = (math.pi if wave == "tan" else 2 * math.pi) / 0.1 / 2
    frequencies = found.constants or (1.0,)  # sin(t) has no constant
    assert found == expr or abs(frequencies[0]) <= limit * (1 + 1e-9)
    ours, theirs = found(t=T), expr(t=T)
    usual = np.abs(theirs) < 100  # near to a pole of the tangent rounding is all there is
    np.testing.assert_allclose(ours[usual], theirs[usual], atol=2e-8 if wave == "tan" else 1e-9)


def test_without_room_for_a_phase_only_a_grid_through_zero_has_aliases() -> None:
    expr = parse("sin(c*t)", LIBRARY).with_constants([65.0])
    assert normal_phases(expr, {"t": Grid(3.76, 0.1)}) == expr
    assert normal_phases(expr, {"t": Grid(3.7, 0.1)}).constants == (pytest.approx(65 - 20 * math.pi, abs=1e-9),)


def test_a_library_without_constants_or_numbers_is_left_alone() -> None:
    library = SymbolLibrary.of(["+", "*", "sin"], ["t"], literals=("9", "2"))
    expr = parse("sin(2*t + 9)", library)
    assert normal_phases(expr) == expr


@given(exprs(LIBRARY, values=st.floats(-1e6, 1e6)))
def test_any_expression_keeps_its_values_and_is_no_longer(expr) -> None:  # type: ignore[no-untyped-def]
    found = normal_phases(expr)
    assert found.size <= expr.size + len(expr.constants)  # signs
    assert normal_phases(found) == found or found.size > normal_phases(found).size or "tan" in str(found)
