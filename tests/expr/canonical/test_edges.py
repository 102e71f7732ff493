"""Canonical forms at the edge: overflow, zero, depth, odd libraries; and fast enough."""

from __future__ import annotations

import time

import numpy as np
import pytest

from edhie.expr import Expr, Forest, SymbolLibrary, operator, parse
from edhie.expr.canonical import canonical, canonical_expr, canonical_library
from edhie.expr.standard_libraries import everything, nguyen
from edhie.grammar import load

LIBRARY = everything(["x", "y"])
CHAIN = 5000


def form(text: str) -> str:
    forest = canonical(Forest.from_exprs([parse(text, LIBRARY)]))
    Forest.checked(forest.library, forest.tokens, forest.offsets, forest.values)
    return str(forest[0])


@pytest.mark.parametrize(
    "text",
    [
        "1/0", "0/0", "0^(-1)", "x/(y - y)", "inv(0)", "log(0)", "log(-1)", "sqrt(-1)", "asin(2)", "(-8)^0.5",
        "exp(1000)", "exp(-1000)", "0.5^100000.5", "2^1025", "1e+308*1e+308", "1e+308*10*x", "x - 1e+308 - 1e+308",
        "1e-200*x*(1e-200*y)", "5e-324/2 + x", "1e+200*(x + 1e+200) - 1e+200*(x + 1e+200)",
        "1e+200*(1e+200*x + y) - 1e+200*(1e+200*x + y)", "1e-200*(1e-200*x + y) + x",
        "exp(exp(exp(exp(10))))", "((x^999999)^999999)^999999", "((((x^1000000)^1000000)^1000000)^1000000)*x",
    ],
)  # fmt: skip
def test_what_leaves_the_doubles_stays_as_it_is(text: str) -> None:
    assert form(text) == str(parse(text, LIBRARY))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0^0", "1"), ("x^(-0.0)", "1"), ("-0.0*x", "0"), ("0*c", "0"), ("0/c", "0"), ("c^0", "1"), ("0^c", "0^c"),
        ("x/5e-324", "x/5e-324"), ("5e-324*x", "5e-324*x"), ("c - 1e308 - 1e308", "c"), ("x^1e300", "x^1e+300"),
        ("(x^1000000)^1000000", "x^1000000000000"), ("x^7/x^2", "x^5"), ("x^6*y^(-6)", "x^6/y^6"), ("pi*1", "pi"),
        ("0.1*x", "x/10"), ("x/3 + x/3 + x/3", "x"), ("0.3*x + 0.3", "0.3*(x + 1)"), ("-x/3", "-x/3"), ("tan(0)", "0"),
        ("3.141592653589793*x", "pi*x"), ("2*x + 4*y + 6", "2*(x + 2*y + 3)"), ("x*1e16", "1e+16*x"),
    ],
)  # fmt: skip
def test_corners(text: str, expected: str) -> None:
    assert form(text) == expected


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        (["neg"] * CHAIN + ["x"], "x"),
        (["inv"] * CHAIN + ["x"], "x"),
        (["+", "x"] * CHAIN + ["y"], "5000*x + y"),
        (["+"] * CHAIN + ["x"] * (CHAIN + 1), "5001*x"),
        (["*", "x"] * CHAIN + ["y"], "x^5000*y"),
        (["-", "x"] * CHAIN + ["y"], "y"),
        (["/", "x"] * CHAIN + ["y"], "y"),
        (["+", "c"] * CHAIN + ["y"], "y + c"),
        (["*", "c", "+", "c"] * (CHAIN // 2) + ["y"], "c*y + c"),
        (["exp", "log"] * (CHAIN // 2) + ["x"], "x"),
    ],
    ids=lambda value: value if isinstance(value, str) else "…".join([*value[:2], value[-1]]),
)
def test_long_chains(prefix: list[str], expected: str) -> None:
    assert str(canonical_expr(Expr(LIBRARY, prefix))) == expected


@pytest.mark.parametrize("step", [["sin"], ["+", "x", "sin"], ["inv", "+", "x"], ["^", "x"], ["^5"], ["min", "x"]])
def test_long_chains_that_stay(step: list[str]) -> None:
    expr = Expr(LIBRARY, step * (CHAIN // len(step)) + ["y"])
    once = canonical(Forest.from_exprs([expr]))
    Forest.checked(once.library, once.tokens, once.offsets, once.values)
    assert canonical(once).to_exprs() == once.to_exprs()
    assert expr.size / 2 < once[0].size < 2 * expr.size


def test_no_expressions_and_single_leaves() -> None:
    assert len(canonical(Forest.from_exprs([], LIBRARY))) == 0
    assert [form(leaf) for leaf in ("x", "c", "2", "pi", "-1", "0")] == ["x", "c", "2", "pi", "-1", "0"]


def test_long_and_short_in_one_forest() -> None:
    long = Expr(LIBRARY, ["+", "x"] * 2000 + ["y"])
    forest = Forest.from_exprs([parse("x", LIBRARY), long, parse("y*c*c", LIBRARY), long, parse("x - x", LIBRARY)])
    assert [str(each) for each in canonical(forest)] == ["x", "2000*x + y", "c*y", "2000*x + y", "0"]


def test_operators_of_a_user_stay_but_their_operands_do_not() -> None:
    bump, blend = operator("bump", 1, numpy=np.exp), operator("blend", 2, numpy=np.hypot)
    library = SymbolLibrary.of(["+", "*", bump, blend], ["x"], constant=True)
    forms = {
        "bump(x + x)": "bump(2*x)",
        "bump(x) + bump(x)": "2*bump(x)",
        "bump(c*x) + bump(c*x)": "bump(c*x) + bump(c*x)",
        "blend(x + c + c, x)": "blend(x + c, x)",  # the order of its operands is its own
        "blend(c, c)": "blend(c, c)",
    }
    assert {text: str(canonical_expr(parse(text, library))) for text in forms} == forms


def test_a_variable_may_be_called_neg() -> None:
    library = SymbolLibrary.of(["+", "-"], ["neg", "x"])
    assert str(canonical_expr(parse("x - x - neg", library))) == "-1*neg"
    assert str(canonical_expr(parse("neg - x - neg - neg", library))) == "-1*neg - x"
    assert canonical_expr(parse("x - neg", library))(x=3.0, neg=1.0) == 2.0


def test_libraries_without_arithmetic_or_numbers() -> None:
    library = SymbolLibrary.of(["sin"], ["x"])
    assert str(canonical_expr(parse("sin(sin(x))", library))) == "sin(sin(x))"
    assert canonical_library(library).symbols[: len(library)] == library.symbols
    assert str(canonical_expr(parse("x0 + x0", nguyen()))) == "2*x0"
    literals = SymbolLibrary.of(["+", "*"], ["x"], literals=("1", "2", "e"))
    assert canonical_expr(parse("x + x + 1", literals)).tokens == ("+", "*", "2", "x", "1")
    assert str(canonical_expr(parse("2.718281828459045*x", everything(["x"])))) == "e*x"


@pytest.mark.parametrize("name", ["nguyen-1", "feynman-2"])
def test_twenty_thousand_a_second(name: str) -> None:
    forest = load(name).sample(20_000, np.random.default_rng(0), max_size=64).unique()
    canonical(forest[:10])  # compiles
    seconds = []
    for _ in range(3):
        start = time.process_time()
        canonical(forest)
        seconds.append(time.process_time() - start)
    assert len(forest) / min(seconds) > 20_000
