"""Exponentials with base e have the values of the powers that they stand for, and nothing else is changed."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import SymbolLibrary, parse
from edhie.expr.interpret import interpret
from edhie.expr.readable import with_natural_base

T = np.linspace(-2, 3, 11)


@pytest.mark.parametrize(
    ("text", "constants", "written"),
    [
        ("c*c^t", [3.0, 0.5], "3*exp(-0.693147*t)"),
        ("c^(c*t) + c", [2.0, 3.0, 1.0], "exp(2.07944*t) + 1"),
        ("c^(t + 1)", [0.2], "exp(-1.60944*(t + 1))"),
        ("c^c^t", [0.2, 0.5], "exp(-1.60944*exp(-0.693147*t))"),
    ],
)
def test_values_stay(text: str, constants: list[float], written: str) -> None:
    before = parse(text, variables=["t"]).with_constants(constants)
    after = with_natural_base(before)
    assert f"{after:.6g}" == written
    np.testing.assert_allclose(interpret(after, {"t": T}), interpret(before, {"t": T}), rtol=1e-12)


@pytest.mark.parametrize(("text", "constants"), [("2^t", []), ("10^(c*t)", [1.0]), ("t^c", [0.3]), ("c^2", [0.3])])
def test_other_powers_stay(text: str, constants: list[float]) -> None:
    given = parse(text, variables=["t"]).with_constants(constants)
    assert with_natural_base(given) == given


def test_without_exponentials_powers_stay() -> None:
    library = SymbolLibrary.of(["*", "^"], ["t"], constant=True)
    given = parse("c^t", library).with_constants([0.3])
    assert with_natural_base(given) == given
