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
