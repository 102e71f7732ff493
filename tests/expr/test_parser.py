"""The parser reads what people write, points at what it cannot read, and survives any text whatever."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.errors import EdhieError, ParseError, SymbolError
from edhie.expr import SymbolLibrary, parse, to_prefix
from edhie.expr.standard_libraries import ae, everything, nguyen
from strategies import GAUSS, HYPOT, exprs


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("3*x0^2 + sin(x1)/c", "+ * 3 ^2 x0 / sin x1 c"),
        ("x**2", "^2 x"),
        ("x ** y ** 2", "^ x ^2 y"),
        ("2^3^2", "^ 2 ^2 3"),
        ("x^2^3", "^ x ^3 2"),
        ("(x^2)^3", "^3 ^2 x"),
        ("x^(2)", "^ x 2"),
        ("x^2.0", "^2 x"),
        ("x^02", "^2 x"),
        ("x^2.5", "^ x 2.5"),
        ("x^-2", "^ x -2"),
        ("x^-y*z", "* ^ x neg y z"),
        ("x^-2^2", "^ x neg ^2 2"),
        ("-x^2", "neg ^2 x"),
        ("-2^2", "neg ^2 2"),
        ("(-2)^2", "^2 -2"),
        ("-2*x", "* -2 x"),
        ("-x*y", "* neg x y"),
        ("x - -y", "- x neg y"),
        ("x*-y", "* x neg y"),
        ("x - 2", "- x 2"),
        ("x -2", "- x 2"),
        ("--x", "neg neg x"),
        ("-(3)", "neg 3"),
        ("+x", "x"),
        ("x + +y", "+ x y"),
        ("+-+2", "neg 2"),
        ("x/y/z", "/ / x y z"),
        ("x/y*z", "* / x y z"),
        ("x - y - z", "- - x y z"),
        ("x - (y - z)", "- x - y z"),
        ("1e3 + 1.5E-2 + .5 + 5.", "+ + + 1000 0.015 0.5 5"),
        ("2e", None),
        ("2*e + E", "+ * 2 e e"),
        ("π*r^2", "* pi ^2 r"),
        ("ln(x) + log(x) + log10(x)", "+ + log x log x log10 x"),
        ("arcsin(x)*Abs(x)", "* asin x abs x"),
        ("square(x) + cube(x) + pow(x, 2)", "+ + ^2 x ^3 x ^ x 2"),
        ("reciprocal(x) + negative(x)", "+ inv x neg x"),
        ("min(x, y)", "min x y"),
        ("min(x, y, z)", "min min x y z"),
        ("max(x, y, z, 1)*2", "* max max max x y z 1 2"),
        ("max(min(a, b, d), -a, a + b)", "max max min min a b d neg a + a b"),
        ("Min(x, maximum(y, z))", "min x max y z"),
        ("sin((x))", "sin x"),
        ("sin (x)", "sin x"),
        ("((((x))))", "x"),
        ("\tx\n+\r\n y\u00a0", "+ x y"),
        ("lambda*2", "* lambda 2"),
        ("速度 + θ_1", "+ 速度 θ_1"),
        ("٣*x", "* 3 x"),
        ("1e308*x", "* 1e+308 x"),
        ("1e-400", "0"),
        ("-0.0", "0"),
    ],
)
def test_what_people_write(text, prefix):
    if prefix is None:
        with pytest.raises(ParseError):
            parse(text)
    else:
        assert to_prefix(parse(text)) == prefix


@pytest.mark.parametrize(
    ("text", "complaint", "position"),
    [
        ("", "an expression is missing", 0),
        ("   ", "an expression is missing", 3),
        ("x +", "the expression ends where an operand should be", 3),
        ("x + * y", "an operand is missing before '*'", 4),
        ("x + sinn(x)", "unknown function 'sinn'; did you mean 'sin'?", 4),
        ("foo(x)", "unknown function 'foo'; there are neg, inv", 0),
        ("sin x", "'sin' is a function; give it operands in parentheses", 0),
        ("sin()", "'sin' takes 1 operand, not 0", 0),
        ("x + sin(x, y)", "'sin' takes 1 operand, not 2", 4),
        ("min(x)", "'min' takes 2 operands, not 1", 0),
        ("ln(x, 2)", "'ln' takes 1 operand, not 2", 0),
        ("min(x,)", "an operand is missing before ')'", 6),
        ("(x", "this '(' is never closed", 0),
        ("sin(x + (y)", "this '(' is never closed", 3),
        ("x)", "this ')' closes nothing", 1),
        ("()", "an operand is missing before ')'", 1),
        ("(x, y)", "a comma belongs between the operands of a function", 2),
        ("sin((x, y))", "a comma belongs between the operands of a function", 6),
        ("x, y", "a comma belongs between the operands of a function", 1),
        ("2x", "an operator is missing before 'x'; did you mean '2*x'?", 1),
        ("x y", "an operator is missing before 'y'; did you mean 'x*y'?", 2),
        ("(x)(y)", "an operator is missing before '('; did you mean ')*('?", 3),
        ("x + x(y)", "'x' is no function; did you mean 'x*('?", 4),
        ("pi(x)", "'pi' is no function; did you mean 'pi*('?", 0),
        ("x²", "unexpected character '²'; did you mean '^2'?", 1),
        ("x·y", "unexpected character '·'; did you mean '*'?", 1),
        ("x − y", "unexpected character '−'; did you mean '-'?", 2),
        ("[x]", "unexpected character '['; did you mean '('?", 0),
        ("x = 2", "unexpected character '='", 2),
        ("x + 1e400", "the number 1e400 is too large for a double", 4),
        ("x^1e400", "the number 1e400 is too large for a double", 2),
    ],
)
def test_faults_are_pointed_at(text, complaint, position):
    with pytest.raises(ParseError, match=re.escape(complaint)) as caught:
        parse(text)
    assert caught.value.position == position
    assert str(caught.value).endswith("^")


@pytest.mark.parametrize(
    ("text", "library", "complaint", "position"),
    [
        ("x0 + tan(x0)", nguyen(), "the function 'tan' is not in the library (+ - * /", 5),
        ("x0 + ln(x0)", ae(), "the function 'ln' is not in the library", 5),
        ("x0 + 2", nguyen(), "the number 2 is not in the library", 5),
        ("x0 + pi", nguyen(), "unknown symbol 'pi'; there are x0", 5),
        ("x0 + c", nguyen(), "unknown symbol 'c'", 5),
        ("x0^6", nguyen(), "the operator '^' is not in the library", 2),
        ("x0^x0", nguyen(), "the operator '^' is not in the library", 2),
        ("e^2", nguyen(), "the number 2 is not in the library", 2),
        ("(e)^x0", nguyen(), "unknown symbol 'e'", 1),
        ("x0*(-x0)", nguyen(), "a minus sign needs 'neg' in the library", 4),
        ("x1 + x0", nguyen(), "unknown symbol 'x1'; there are x0", 0),
        ("temprature", everything(["temperature"]), "did you mean 'temperature'?", 0),
        ("x % 2", everything(["x"]), "unexpected character '%'", 2),
    ],
)
def test_what_a_library_lacks(text, library, complaint, position):
    with pytest.raises(ParseError, match=re.escape(complaint)) as caught:
        parse(text, library)
    assert caught.value.position == position


# -- what a library changes -----------------------------------------------------------

NO_NEG = SymbolLibrary.of(["-", "*", "^"], ["x"], numbers=True)


@pytest.mark.parametrize(
    ("text", "library", "prefix"),
    [
        ("-x", NO_NEG, "* -1 x"),
        ("-x^2", NO_NEG, "* -1 ^ x 2"),
        ("-x*x", NO_NEG, "* * -1 x x"),
        ("x - -x", NO_NEG, "- x * -1 x"),
        ("-x", SymbolLibrary.of(["-"], ["x"], literals=("0",)), "- 0 x"),
        ("-3*x", NO_NEG, "* -3 x"),
        ("x0^(2)", nguyen(), "^2 x0"),
        ("x0**3.0", nguyen(), "^3 x0"),
        ("e^x0", nguyen(), "exp x0"),
        ("e^x0^2*x0", nguyen(), "* exp ^2 x0 x0"),
        ("E**(x0 + x0)", nguyen(), "exp + x0 x0"),
        ("e^x", everything(["x"]), "^ e x"),
        ("e^x", SymbolLibrary.of(["exp", "^"], ["x"], numbers=True), "exp x"),
        ("e^2", SymbolLibrary.of(["exp", "^2"], ["e"]), "^2 e"),  # the variable e, not Euler's number
        ("exp(e)", SymbolLibrary.of(["exp"], ["e"]), "exp e"),
        ("2*pi", SymbolLibrary.of(["*"], ["x"], numbers=True), "* 2 3.141592653589793"),
        ("x^1", SymbolLibrary.of(["^"], ["x"], literals=("1",)), "^ x 1"),
        ("k + C", everything(["c", "k"]), "+ k C"),
        ("gauss(hypot(x, 1))", SymbolLibrary.of([GAUSS, HYPOT], ["x"], numbers=True), "gauss hypot x 1"),
        ("ln*ln(ln)", SymbolLibrary.of(["*", "log"], ["ln"]), "* ln log ln"),
        ("max + 1", everything(["max"]), "+ max 1"),
    ],
)
def test_a_library_decides_what_names_mean(text, library, prefix):
    assert to_prefix(parse(text, library)) == prefix


def test_variables_as_given_or_as_found():
    assert parse("b + a + x1 + c").library.variables == ("x0", "x1", "b", "a")
    assert parse("b + c", variables=["a", "b", "c"]).library.constant == "C"
    assert parse("x10").library.variables == tuple(f"x{i}" for i in range(11))
    assert parse("x1000").library.variables == ("x1000",)  # a name, not a thousand columns
    assert parse("3").library.variables == ()


def test_variables_and_a_library_exclude_each_other():
    with pytest.raises(TypeError, match="not both"):
        parse("x", nguyen(), variables=["x"])
    with pytest.raises(SymbolError, match=r"such as \['speed'\]"):
        parse("speed", variables="speed")


# -- hostile text ---------------------------------------------------------------------

GLYPHS = st.sampled_from([*"xyce012.+-*/^()[],; \n\t_eE²·−π∞\u0301\u200b\x00½٣", "sin", "min(", "**", "1e", "x0"])


def parses_or_complains(text: str) -> None:
    for library in (None, nguyen(), everything(["x", "y"])):
        try:
            expr = parse(text, library)
        except EdhieError as error:
            complaint = error
        else:
            assert parse(str(expr), expr.library) == expr
            continue
        assert isinstance(complaint, ParseError)
        assert 0 <= complaint.position <= len(text)
        assert len(str(complaint)) < 800


@given(st.text(max_size=40))
def test_any_text_is_an_expression_or_a_parse_error(text):
    parses_or_complains(text)


@settings(max_examples=200)
@given(st.lists(GLYPHS, max_size=14).map("".join))
def test_any_glyphs_are_an_expression_or_a_parse_error(text):
    parses_or_complains(text)


@settings(max_examples=200)
@given(exprs(everything(["x", "y"]), max_symbols=12), st.data())
def test_any_damaged_formula_is_an_expression_or_a_parse_error(expr, data):
    text = str(expr)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 4, len(text))))
    parses_or_complains(text[:start] + data.draw(st.text(max_size=2) | GLYPHS) + text[end:])


N, FEWER = 100_000, 20_000


@pytest.mark.parametrize(
    "text",
    [
        "(" * N + "x" + ")" * N,
        "sin(" * FEWER + "x" + ")" * FEWER,
        "x + " * N + "x",
        "x^" * FEWER + "x",
        "-" * FEWER + "x",
        "min(" + "x, " * FEWER + "x)",
        "x" * N,
    ],
    ids=["parentheses", "functions", "sum", "powers", "signs", "min", "name"],
)
def test_long_and_deep_formulas_are_read_in_linear_time(text):
    start = time.perf_counter()
    assert parse(text).size <= 2 * N + 1
    assert time.perf_counter() - start < 20  # a quadratic parser takes minutes


@pytest.mark.parametrize(
    "text",
    ["(" * N, "x" + ")" * N, "9" * N, "1e" + "9" * N, "y" * N + "(", "x " * N, "sin(" * FEWER, "+" * FEWER, "1." * N],
)
def test_long_faulty_texts_fail_at_once_and_briefly(text):
    start = time.perf_counter()
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert time.perf_counter() - start < 10
    assert len(str(caught.value)) < 800
