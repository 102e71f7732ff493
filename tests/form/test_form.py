from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import ExpressionError, SearchError
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.form import Form
from strategies import exprs

LIBRARY = SymbolLibrary.of(["+", "-", "*", "/", "^2", "exp", "sin"], 3, constant=True, numbers=True)
TEMPLATES = (
    "f(x0) + g(x1)",
    "f(x0)*exp(c*x1) + 2*g(x1, x2)",
    "f(x0) - c*f(x1)/f(x2)",
    "sin(f(x0, x1)) + f(x1, x0)*g(x2) + f(x2, x1)",
    "f()*x0 + f()*g(x1)^2",
    "f(x0)",
)
VALUES = st.none() | st.floats(-10, 10)


def filled_by_hand(template: Form, parts: list[Expr]) -> Expr:
    """The same by substitution: slow, and another way."""
    library = template.library
    tokens: list[str] = []
    constants: list[float | None] = []
    calls = iter(zip(template.calls, template.part_of, strict=True))
    for token in template.tokens:
        if token:
            tokens.append(token)
            constants += [None] * (token == library.constant)
            continue
        call, part = next(calls)
        names = dict(zip(template.variables(part), call.arguments, strict=True))
        tokens += [names.get(each, each) for each in parts[part].tokens]
        constants += parts[part].constants
    return Expr(library, tokens, constants)


@st.composite
def filled_templates(draw: st.DrawFn) -> tuple[Form, list[list[Expr]]]:
    template = Form.parse(draw(st.sampled_from(TEMPLATES)), LIBRARY)
    n = draw(st.integers(0, 4))
    operators = [symbol.name for symbol in LIBRARY.symbols if symbol.kind == "operator"]
    parts = []
    for part in range(len(template.names)):
        names = [*operators, *template.variables(part), "c"]
        contents = exprs(LIBRARY, names=names, values=VALUES, numbers=("2", "0.5"), max_symbols=8)
        parts.append([draw(contents) for _ in range(n)])
    return template, parts


@given(filled_templates())
def test_filled_and_taken_apart_again(made: tuple[Form, list[list[Expr]]]) -> None:
    template, parts = made
    forests = [Forest.from_exprs(part, LIBRARY) for part in parts]
    whole = template.filled(forests)
    by_hand = [filled_by_hand(template, list(each)) for each in zip(*parts, strict=True)]
    assert [(e.tokens, e.constants) for e in whole] == [(e.tokens, e.constants) for e in by_hand]
    Forest.checked(LIBRARY, whole.tokens, whole.offsets, whole.values)
    again = template.parts_of(whole)
    for one, other in zip(forests, again, strict=True):
        np.testing.assert_array_equal(one.tokens, other.tokens)
        np.testing.assert_array_equal(one.values, other.values)
    frames = template.emptied(whole)
    assert (frames.sizes == len(template.tokens)).all()
    refilled = template.filled(again, frames)
    np.testing.assert_array_equal(refilled.tokens, whole.tokens)
    np.testing.assert_array_equal(refilled.values, whole.values)
    for k, expr in enumerate(whole):
        found = template.parts(expr)
        assert [found[name].tokens for name in template.names] == [part[k].tokens for part in parts]


def test_the_template_s_own_constants_are_kept() -> None:
    template = Form.parse("c*f(x0) + c", LIBRARY)
    whole = Forest.from_exprs([parse("c*sin(c*x0) + c", LIBRARY).with_constants([1.0, 2.0, 3.0])])
    other = Forest.from_exprs([parse("exp(x0)", LIBRARY)])
    made = template.filled([other], template.emptied(whole))[0]
    assert (str(made.free()), made.constants) == ("c*exp(x0) + c", (1.0, 3.0))


def test_what_is_not_of_the_form() -> None:
    template = Form.parse("f(x0) + f(x1)", LIBRARY)
    for text in ("x0", "sin(x0)*sin(x1)", "sin(x0) + exp(x1)", "sin(x0) + sin(x0)", "x2 + x2", "sin(x1) + sin(x0)"):
        with pytest.raises(SearchError, match="is not of the form"):
            template.parts(parse(text, LIBRARY))
    with pytest.raises(SearchError, match="'f' differs between its calls"):
        template.parts(parse("sin(c*x0) + sin(c*x1)", LIBRARY).with_constants([1.0, 2.0]))


def test_parts_must_be_as_many() -> None:
    template = Form.parse("f(x0) + g(x1)", LIBRARY)
    one, two = (Forest.from_exprs([parse("x0", LIBRARY)] * n) for n in (1, 2))
    for parts in ([one], [one, two]):
        with pytest.raises(ExpressionError, match="give one forest for each of f, g"):
            template.filled(parts)
