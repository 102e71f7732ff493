"""Signs change, values do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.signs import plain_signs
from edhie.grammar import load

GRAMMAR = load("general")
X = np.random.default_rng(0).uniform(-3, 3, (len(GRAMMAR.library.variables), 20))


@given(st.integers(0, 10_000))
def test_values_stay_to_the_bit_and_so_does_the_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = GRAMMAR.sample(20, rng, max_height=7)
    filled = [each.with_constants(rng.normal(size=len(each.constants)).tolist()) for each in forest]
    plain = [plain_signs(each) for each in filled]
    before, after = (values(Forest.from_exprs(each), X) for each in (filled, plain))
    np.testing.assert_array_equal(before, after)
    assert [each.size for each in plain] == [each.size for each in filled]
    assert [plain_signs(each) for each in plain] == plain


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("x0 + c", [-2.0], "x0 - 2"),
        ("x0 - c", [-2.0], "x0 + 2"),
        ("c + x0", [-2.0], "x0 - 2"),
        ("x0 + c*x1/x0", [-2.0], "x0 - 2*x1/x0"),
        ("c*x0 + c*x1", [-2.0, -3.0], "-2*x0 - 3*x1"),
        ("x0*c", [-2.0], "x0*(-2)"),
        ("exp(x0 + c)", [-2.0], "exp(x0 - 2)"),
    ],
)
def test_how_it_reads(text: str, constants: list[float], expected: str) -> None:
    assert str(plain_signs(parse(text).with_constants(constants))) == expected


def test_what_cannot_be_said_otherwise_stays() -> None:
    only_sums = SymbolLibrary.of(["+", "*"], 1, constant=True)
    whole = Expr(only_sums, ["+", "x0", "c"], [-2.0])
    assert plain_signs(whole) is whole
    free = parse("x0 + c")
    assert plain_signs(free) == free
