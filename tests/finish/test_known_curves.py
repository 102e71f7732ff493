"""Curves are written as people know them, whatever the way in which the search found them."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import Data
from edhie.expr import parse
from edhie.finish import Finisher
from edhie.finish.known_curves import as_known, is_as_known
from edhie.selection.prior.known_forms import curves

X = np.linspace(0.2, 12.0, 40)


def finished(text: str, constants: list[float]) -> str:
    expr = parse(text, variables=["x"]).with_constants(constants)
    noise = 0.02 * np.random.default_rng(0).normal(size=len(X))
    data = Data(X[np.newaxis], expr(x=X) * (1.0 + noise), None, ("x",))
    finish = Finisher(data)
    found = finish(expr)
    assert finish(found) == found
    return f"{found.free()}"


@pytest.mark.parametrize(
    ("text", "constants", "wanted"),
    [
        ("c/(c + x^c)", [0.8, 0.25, -2.4], "c/(1 + (c/x)^c)"),
        ("1/(c/x^c + c)", [0.8, 0.25, 2.4], "c/(1 + (c/x)^c)"),
        ("c/(c + exp(c*x))", [28.0, 0.03, -0.42], "c/(1 + exp(c*(c - x)))"),
        ("c*exp(c*x^2 + c*x)", [2.0, -0.03, 0.3], "c*exp(-((x - c)/c)^2)"),
        ("c/((x - c)^2 + c)", [2.0, 5.0, 1.5], "c/(1 + ((x - c)/c)^2)"),
        ("exp(c + c/(x + c))", [8.0, -20.0, 3.0], "c*exp(c/(x + c))"),
        ("x/(c*x + c)", [2.0, 3.0], "c*x/(x + c)"),
        ("c*(c*exp(c*x) + c)", [4.0, 26.0, -0.5, 20.0], "c*exp(c*x) + c"),
    ],
)  # fmt: skip
def test_the_first_way_is_shown(text: str, constants: list[float], wanted: str) -> None:
    assert finished(text, constants) == wanted


def test_what_is_no_curve_stays() -> None:
    data = Data(X[np.newaxis], X, None, ("x",))
    assert as_known(parse("c*sin(x) + sqrt(x)", variables=["x"]).with_constants([2.0]), data) is None


def test_the_first_way_of_each_curve_is_known_as_such() -> None:
    for ways in curves().values():
        assert is_as_known(parse(ways[0])) == (len(ways) > 1)
