"""Excel's formulas: where its grammar is not that of others, and what an engine makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from edhie.errors import ExpressionError
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, parse
from edhie.expr.exports import export
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import OPERATORS
from edhie.grammar import universal_grammar

LIBRARY = everything(["x", "y", "z"])
QUIRKS = {
    "3*x*exp(-y/2)": "=3*A2*EXP(-B2/2)",
    "-x^2": "=-(A2^2)",  # to Excel -A2^2 is (-A2)^2
    "(-x)^2": "=(-A2)^2",
    "(-3)^z": "=(-3)^C2",
    "y - x^2": "=B2-A2^2",
    "x^y^z": "=A2^(B2^C2)",  # to Excel a^b^c is (a^b)^c
    "(x^y)^z": "=(A2^B2)^C2",
    "x^(-y)": "=A2^(-B2)",
    "x^(-2)": "=A2^(-2)",
    "x - -y": "=A2-(-B2)",
    "x*(y*z)": "=A2*(B2*C2)",
    "x - (y - z)": "=A2-(B2-C2)",
    "x/(y*z)": "=A2/(B2*C2)",
    "-(-x)": "=-(-A2)",
    "-(x*y)": "=-(A2*B2)",
    "log(x)": "=LN(A2)",
    "log10(x)": "=LOG10(A2)",
    "2*pi*e": "=2*PI()*EXP(1)",
    "1e-05*x": "=1E-05*A2",
    "2.5e20*x": "=2.5E+20*A2",
    "123456789012345678*x": "=1.23456789012346E+17*A2",
    "0.1234567890123456789*x": "=0.123456789012346*A2",  # Excel reads 15 digits and cuts off the rest
    "x - 0": "=A2-0",
    "cbrt(x)^2": "=(SIGN(A2)*ABS(A2)^(1/3))^2",
    "inv(x)^y": "=(1/A2)^B2",
    "max(x, min(y, z))": "=MAX(A2,MIN(B2,C2))",
}


@pytest.mark.parametrize("text", QUIRKS)
def test_excel_means_what_is_meant(text: str) -> None:
    assert export(parse(text, LIBRARY), "excel") == QUIRKS[text]


def test_columns_are_those_of_the_data() -> None:
    expr = parse("x30 + x702 - x1", everything(703))
    assert export(expr, "excel") == "=AE2+AAA2-B2"


def test_what_excel_cannot_hold_is_refused() -> None:
    for number in ("1e308", "-1e-310"):
        with pytest.raises(ExpressionError, match="rescale"):
            export(parse(f"{number}*x", LIBRARY), "excel")
    assert export(parse("x", LIBRARY), "excel") == "=A2"
    with pytest.raises(ExpressionError, match="8191"):
        export(Expr(LIBRARY, ["+"] * 4000 + ["x"] * 4001), "excel")
    with pytest.raises(ExpressionError, match="8191"):  # and at once: each root doubles the text
        export(Expr(LIBRARY, ["cbrt"] * 60 + ["x"]), "excel")
    with pytest.raises(ExpressionError, match="64"):
        export(Expr(LIBRARY, ["sin"] * 65 + ["x"]), "excel")
    export(Expr(LIBRARY, ["sin"] * 64 + ["x"]), "excel")
    with pytest.raises(ExpressionError, match="columns"):
        export(Expr(everything(16385), ["x0"]), "excel")


OPERATOR_TEXTS = [Expr(LIBRARY, (name, "x", "y")[: symbol.arity + 1]) for name, symbol in OPERATORS.items()]
TEXTS = [*QUIRKS, "sqrt(x*y + z)/(1.5 + sin(x)^2)", "x^0.5 - 2^(-x)*(y - 3)", "tanh(x - y)*atan(z)/(-0.25)"]
ROW = {"A2": 0.7, "B2": 0.3, "C2": 2.0}


def by_engine(formula: str) -> Any:
    formulas = pytest.importorskip("formulas", reason="the package formulas, an engine for Excel's, is not installed")
    compiled = formulas.Parser().ast(formula)[1].compile()
    return np.asarray(compiled(*(ROW[str(cell)] for cell in compiled.inputs))).ravel()[0]


def by_edhie(expr: Expr) -> float:
    return float(values(Forest.from_exprs([expr]), np.array([[value] for value in ROW.values()]))[0, 0])


@pytest.mark.parametrize("expr", [*OPERATOR_TEXTS, *(parse(text, LIBRARY) for text in TEXTS)], ids=str)
def test_an_engine_gives_the_same_values(expr: Expr) -> None:
    assert by_engine(export(expr, "excel")) == pytest.approx(by_edhie(expr), rel=1e-12)


def test_an_engine_gives_the_same_values_for_random_trees() -> None:
    assert by_engine("=-A2^2") == 0.7**2  # the engine has Excel's quirk, so that it can tell
    rng = np.random.default_rng(3)
    forest = universal_grammar(LIBRARY).sample(60, rng, max_height=5)
    forest = Forest(LIBRARY, forest.tokens, forest.offsets, rng.normal(0, 3, len(forest.values)).round(2))
    finite = [expr for expr in forest if np.isfinite(by_edhie(expr))]
    assert len(finite) > 30
    for expr in finite:
        assert by_engine(export(expr, "excel")) == pytest.approx(by_edhie(expr), rel=1e-12), str(expr)
