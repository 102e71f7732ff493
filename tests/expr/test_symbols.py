"""The table of symbols is complete and consistent; names and literals of every kind."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import SymbolError
from edhie.expr import operator
from edhie.expr.interpret import POWERS, numpy_function
from edhie.expr.symbols import (
    ALIASES,
    NAMED_LITERALS,
    OPERATORS,
    Opcode,
    constant,
    is_name,
    latex_name,
    literal,
    variable,
)

FUNCTIONS = "inv sqrt cbrt exp log log10 abs sin cos tan asin acos atan sinh cosh tanh min max"
REQUIRED = ["+", "-", "*", "/", "^", "neg", "^2", "^3", "^4", "^5", *FUNCTIONS.split()]


@pytest.mark.parametrize("name", REQUIRED)
def test_every_required_symbol_is_in_the_table(name):
    assert OPERATORS[name].name == name


@pytest.mark.parametrize("symbol", OPERATORS.values(), ids=OPERATORS)
def test_each_row_is_complete(symbol):
    operands = [np.array([0.5, 0.25])] * symbol.arity
    assert numpy_function(symbol)(*operands).shape == (2,)
    assert symbol.sympy
    filled = symbol.latex.format(*"①②"[: symbol.arity])
    assert ("①" in filled, "②" in filled) == (True, symbol.arity == 2)
    assert {"infix": 2, "prefix": 1, "postfix": 1}.get(symbol.style, symbol.arity) == symbol.arity


DOMAINS = {"non-negative": (0, 4), "positive": (0.01, 4), "unit": (-1, 1)}


@pytest.mark.parametrize("symbol", [each for each in OPERATORS.values() if each.arity == 1], ids=lambda each: each.name)
def test_facts_agree_with_values(symbol):
    low, high = DOMAINS.get(symbol.domain, (-4, 4))
    function, x = numpy_function(symbol), np.linspace(low, high, 101)[1:-1]
    with np.errstate(all="ignore"):
        y, outside = function(x), function(np.array([-5.0, 5.0]))
        mirrored, shifted = function(-x), function(x + np.pi * symbol.period)
        again = function(numpy_function(OPERATORS[symbol.undoes])(x)) if symbol.undoes else x
    assert symbol.domain == "pieces" or np.isfinite(y).all()
    assert symbol.domain not in DOMAINS or np.isnan(outside[0])
    if symbol.parity:
        np.testing.assert_allclose(mirrored, y if symbol.parity == "even" else -y)
    if symbol.sign:
        assert (y[x > 0] >= 0).all()
        assert symbol.sign == "kept" or (y >= 0).all()
    if symbol.period:
        np.testing.assert_allclose(shifted, y, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(again[np.isfinite(again)], x[np.isfinite(again)], rtol=1e-9, atol=1e-12)


def test_opcodes_differ_and_stay():
    codes = [symbol.opcode for symbol in OPERATORS.values()]
    assert len(set(codes)) == len(codes)
    # kept machine code knows these numbers: a change here must come with a change of kernels
    assert (Opcode.ADD, Opcode.POW, Opcode.NEG, Opcode.SQRT, Opcode.SIGN) == (10, 14, 15, 21, 38)


def test_aliases_lead_to_symbols():
    assert set(ALIASES.values()) <= OPERATORS.keys() | NAMED_LITERALS.keys()
    assert not ALIASES.keys() & OPERATORS.keys()


@pytest.mark.parametrize(("power", "exponent"), [(POWERS[f"power{n}"], n) for n in (3, 4, 5)])
def test_powers_agree_with_numpy(power, exponent):
    x = np.array([-2.0, -0.5, 0.0, 3.0, np.inf])
    np.testing.assert_allclose(power(x), x**exponent, rtol=1e-15)


@pytest.mark.parametrize(
    "make", [lambda: variable("x"), lambda: literal("0.5"), lambda: constant(), lambda: OPERATORS["+"]]
)
def test_equal_symbols_are_equal_also_in_another_process(make):
    assert make() == make()
    copy = pickle.loads(pickle.dumps(make()))
    assert copy == make()
    assert hash(copy) == hash(make())


# -- names ----------------------------------------------------------------------------

GOOD_NAMES = [
    "x",
    "x0",
    "_",
    "temperature_2",
    "lambda",
    "class",
    "None",
    "θ",
    "速度",
    "तापमान",
    "é",
    "é",
    "CO₂",
    "sin",
    "c",
]
BAD_NAMES = ["", " ", "2x", "a b", "a-b", "x²", "a·b", "a.b", "x\n", "#", "^2", "½", "x(", "a,b", "\ud800"]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_good_names(name):
    assert variable(name).name == name


@pytest.mark.parametrize("name", [*BAD_NAMES, None, 0, 1.5, b"x"])
@pytest.mark.parametrize("make", [variable, constant, lambda name: operator(name, 1, numpy=np.sin)])
def test_bad_names_are_refused_with_a_hint(make, name):
    with pytest.raises(SymbolError, match="use letters, digits and underscores") as caught:
        make(name)
    assert repr(name) in str(caught.value)


def test_a_fitting_name_is_suggested():
    with pytest.raises(SymbolError, match="such as 'wind_speed__m_s'"):
        variable("wind speed (m/s)")


@given(st.text(max_size=5))
def test_any_text_is_a_good_name_or_a_clear_error(text):
    if is_name(text):
        assert variable(text).name == text
    else:
        with pytest.raises(SymbolError, match="cannot name a variable"):
            variable(text)


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("x", "x"),
        ("x12", "x_{12}"),
        ("theta", r"\theta"),
        ("lambda_1", r"\lambda_{1}"),
        ("x_", r"\mathrm{x\_}"),
        ("_x", r"\mathrm{\_x}"),
        ("a_b_c", r"a_{b\_c}"),
        ("wind_speed", r"\mathrm{wind\_speed}"),
    ],
)
def test_names_in_latex(name, latex):
    assert latex_name(name) == latex


# -- literals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ("pi", "pi", np.pi),
        ("e", "e", np.e),
        (1, "1", 1),
        ("2.0", "2", 2),
        (0.5, "0.5", 0.5),
        ("-0.0", "0", 0),
        ("1e308", "1e+308", 1e308),
    ],
)
def test_literals(given, name, value):
    assert (literal(given).name, literal(given).value) == (name, value)


@pytest.mark.parametrize("given", ["tau", "", "1x", "1e400", float("nan"), float("inf"), 10**400])
def test_bad_literals_are_refused(given):
    with pytest.raises(SymbolError):
        literal(given)


# -- operators of the user's ----------------------------------------------------------


def test_an_operator_of_ones_own():
    gauss = operator("my_gauss", 1, numpy=lambda x: np.exp(-x * x), sympy=lambda x: sympy.exp(-x * x))
    assert gauss.is_custom
    assert gauss.latex.format("x") == r"\operatorname{my\_gauss}\left(x\right)"
    assert operator("f", np.int64(2), numpy=np.hypot).latex.format("x", "y") == r"\operatorname{f}\left(x, y\right)"


@pytest.mark.parametrize("name", ["sin", "ln", "pi", "e", "min", "E"])
def test_built_in_names_are_taken(name):
    with pytest.raises(SymbolError, match="built-in"):
        operator(name, 1, numpy=np.sin)


@pytest.mark.parametrize("arity", [0, 3, -1])
def test_operators_take_one_or_two_operands(arity):
    with pytest.raises(SymbolError, match="1 or 2"):
        operator("f", arity, numpy=np.sin)


def test_an_operator_needs_a_function():
    with pytest.raises(SymbolError, match="callable"):
        operator("f", 1, numpy="sin")


def test_importing_expressions_loads_no_heavy_library():
    code = """
import sys
import edhie.expr
from edhie.expr import Forest, parse, standard_libraries, to_infix
expr = parse("3*x0^2 + min(x1, 2)/c")
forest = Forest.from_exprs([expr])
assert forest[0] == parse(to_infix(expr), expr.library)
heavy = {"numba", "sympy", "matplotlib", "pandas", "torch", "scipy", "sklearn"} & sys.modules.keys()
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)
