"""Laws of finished equations, over equations of real searches on benchmark problems with and without noise."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from edhie.evaluate import Data, read_data
from edhie.expr import parse
from edhie.finish import Finisher
from edhie.finish.digits import needed_digits
from finish.laws import broken_laws, equations, rmse, saved

SOME = 41  # one equation in so many is finished where time is short


@cache
def finisher_of(data: Data) -> Finisher:
    return Finisher(data)


def check(every: int) -> None:
    broken: list[str] = []
    for expr, data in equations(every):
        finish = finisher_of(data)
        found = finish(expr)
        printed = needed_digits(found, data)
        laws = broken_laws(printed, f"{printed:r}", rmse(found, data), data)
        laws += [] if finish(found) == found else ["the same when it is finished again"]
        broken += [f"{law}: {printed:r}, of {expr}" for law in laws]
    assert not broken, "\n".join(broken)


def test_there_are_thousands_of_equations() -> None:
    cases, every = saved()
    assert len(every) > 5000
    assert len(cases) > 100


def test_laws_hold_for_some() -> None:
    check(SOME)


@pytest.mark.slow
def test_laws_hold_for_all() -> None:
    check(1)


def test_a_term_below_rounding_is_left_out() -> None:
    x = np.linspace(1, 4, 50)
    data = read_data({"x": x}, 2.3451 * np.sin(x))
    expr = parse("c*sin(x) + c*x", variables=["x"]).with_constants([2.3451, 4.6e-18])
    assert f"{Finisher(data)(expr)}" == "2.3451*sin(x)"


@pytest.mark.parametrize(
    ("text", "constants", "shown"),
    [
        ("c*abs(x)^c", [1.0000001, 0.33333334], "abs(x)^(1/3)"),
        ("c*exp(c*x^2)", [0.398942281, -0.50000001], "exp(-0.5*x^2)/sqrt(2*pi)"),
        ("c*x*t/c", [2.0000001, 3.9999999], "0.5*x*t"),
        ("c*(x^2)^2 + c*t", [1.00000001, 2.9999999], "x^4 + 3*t"),
        ("c*x*(c*(v^2 + c))", [2.0, 1.5e-14, 2.0e14], "x*(3e-14*v^2 + 6)"),
        ("c*sin(x + c)", [2.3451, 2 * np.pi - 4], "2.3451*sin(x - 4)"),
    ],
)
def test_an_exact_equation_has_its_numbers(text: str, constants: list[float], shown: str) -> None:
    rng = np.random.default_rng(0)
    columns = dict(zip("xtv", rng.uniform(-2, 2, (3, 50)) * [[1], [1], [1e7]], strict=True))
    data = read_data(columns, parse(shown, variables=["x", "t", "v"])(**columns))
    found = Finisher(data)(parse(text, variables=["x", "t", "v"]).with_constants(constants))
    assert str(needed_digits(found, data)) == shown
    assert rmse(found, data) <= 1e-15 * np.abs(data.y).max()
