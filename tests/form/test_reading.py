from __future__ import annotations

import pytest

from edhie.errors import ParseError
from edhie.expr import SymbolLibrary
from edhie.form import Form

LIBRARY = SymbolLibrary.of(
    ["+", "-", "*", "/", "^", "^2", "neg", "exp", "sin", "log"], 2, constant=True, literals=("2",)
)


def read(text: str) -> Form:
    return Form.parse(text, LIBRARY)


def test_parts_are_names_that_are_called_and_are_no_functions() -> None:
    template = read("f(x0)*exp(-c*x1) + g(x1)")
    assert template.tokens == ("+", "*", "", "exp", "*", "neg", "c", "x1", "")
    assert template.names == ("f", "g")
    assert [template.variables(part) for part in (0, 1)] == [("x0",), ("x1",)]
    assert not template.is_tied


def test_a_part_may_be_called_again_and_have_any_number_of_variables() -> None:
    template = read("2*f( x0, x1 ) + f(x1,x0) - k() * part_2(x1)^2")
    assert template.names == ("f", "k", "part_2")
    assert template.part_of == (0, 0, 1, 2)
    assert [call.arguments for call in template.calls] == [("x0", "x1"), ("x1", "x0"), (), ("x1",)]
    assert template.is_tied


@pytest.mark.parametrize(
    ("text", "at", "what"),
    [
        ("f(x0) + foo", 8, "unknown symbol 'foo'"),
        ("f(x2)", 2, "an argument of the part 'f' must be a variable, not 'x2'; the variables are x0, x1"),
        ("f(c)", 2, "must be a variable, not 'c'"),
        ("f(2)", 2, "must be a variable, not '2'"),
        ("f(sin(x0))", 2, "must be a variable, not 'sin'"),
        ("f(x0 + x1)", 5, "a part takes only variables"),
        ("1 + x0", 0, "has no unknown part"),
        ("", 0, "has no unknown part"),
        ("c + f(g(x0))", 6, "parts within parts are not supported"),
        ("f(x0", 1, "never closed"),
        ("f(x0,", 5, "the variables of the part 'f' are missing"),
        ("f(x0, x0)", 6, "'x0' is given to 'f' twice"),
        ("f(x0) + f(x0, x1)", 8, "the part 'f' is called with 1 variables before and with 2 here"),
        ("c*sinn(x0)", 2, "unknown function 'sinn'; did you mean 'sin'?"),
        ("f(x0) + tanh(x1)", 8, "the function 'tanh' is not in the library"),
        ("x0(x1) + f(x0)", 0, "'x0' is no function"),
        ("f(x0) + 7", 8, "the number 7 is not in the library"),
        ("f(x0) g(x1)", 6, "an operator is missing before 'g(x1)'"),
        ("f(x0) * ", 8, "the expression ends where an operand should be"),
    ],
)
def test_errors_point_at_the_place(text: str, at: int, what: str) -> None:
    with pytest.raises(ParseError) as raised:
        read(text)
    assert what in str(raised.value)
    assert raised.value.position == at
    assert raised.value.text == text
    assert str(raised.value).splitlines()[-1] == "  " + " " * at + "^"


def test_an_unknown_constant_needs_constants() -> None:
    with pytest.raises(ParseError, match=r"f\(\) is an unknown constant, and the library has no constants"):
        Form.parse("x0*f()", SymbolLibrary.of(["*"], 1))


def test_names_that_could_be_mistaken_for_those_in_its_place() -> None:
    library = SymbolLibrary.of(["+"], ["___", "__", "hole0", "x"], constant=True)
    template = Form.parse("f() + ___ + hole0", library)
    assert template.tokens == ("+", "+", "", "___", "hole0")
    assert len(set(template.hole_library.names)) == len(template.hole_library)


def test_thousands_of_parts_are_refused_at_once() -> None:
    with pytest.raises(ParseError, match="a template has at most 100 unknown parts") as raised:
        read("f(x0) + " * 20_000)
    assert raised.value.position == 800
