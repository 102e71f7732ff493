"""SymPy text builds what `to_sympy` does."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import EdhieError
from edhie.expr import Expr, parse
from edhie.expr.exports import export
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import OPERATORS
from edhie.expr.sympy_bridge import to_sympy
from strategies import GAUSS, LIBRARIES, TAME_NUMBERS, exprs

LIBRARY = everything(["x", "y"])
BUILT_IN = [library for library in LIBRARIES.values() if GAUSS.name not in library]
values = st.none() | st.floats(-3, 3) | st.sampled_from([0.1, 2.0, -3.0])
trees = st.sampled_from(BUILT_IN).flatmap(
    lambda library: exprs(library, numbers=TAME_NUMBERS, values=values, max_symbols=12)
)


def built(text: str, target: str = "result") -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names[target]


@given(trees)
def test_sympy_text_builds_the_same_expression(expr: Expr) -> None:
    try:
        expected = to_sympy(expr)
    except EdhieError as error:
        with pytest.raises(type(error)):
            export(expr, "sympy")
        return
    found = built(export(expr, "sympy", target="result"))
    assert isinstance(found, sympy.Basic)
    assert found == expected or sympy.nan in (found, expected)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator(name: str) -> None:
    expr = Expr(LIBRARY, (name, "x", "y")[: OPERATORS[name].arity + 1])
    assert built(export(expr, "sympy", target="result")) == to_sympy(expr)


def test_an_example() -> None:
    text = export(parse("c*x^2 + 1/3 - lambda*exp(-y/2)"), "sympy")
    assert text == (
        "import sympy\n\n"
        'x = sympy.Symbol("x", real=True)\n'
        'lambda_ = sympy.Symbol("lambda", real=True)\n'
        'y = sympy.Symbol("y", real=True)\n'
        'c0 = sympy.Symbol("c0", real=True)\n'
        "# y = c*x^2 + 1/3 - lambda*exp(-y/2)\n"
        "# y_ stands for y\n"
        "y_ = c0 * x ** 2 + sympy.S(1) * sympy.S(3) ** -1 - lambda_ * sympy.exp(-y / 2)\n"
    )


def test_no_tree_is_too_deep_for_python() -> None:
    expr = Expr(LIBRARY, ["+", "y", "sin"] * 60 + ["x"])
    assert built(export(expr, "sympy", target="result")) == to_sympy(expr)
