"""Equations of a given form: the search for its unknown parts, and the parts of an equation."""

from __future__ import annotations

from edhie.evaluate.constants.uncertainty import TiedConstants
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.symbols import NUMBER, OPERATORS, constant
from edhie.finish import normal_form, without_redundant_constants
from edhie.form import Form
from edhie.search.forms import FormConfig, FormSearch


def template_library(text: str, library: SymbolLibrary) -> SymbolLibrary:
    """Return the library, extended by the operators, numbers and constants that the text of a template needs.

    >>> template_library("f(x0)/(1 + exp(-x1))", SymbolLibrary.of(["+", "*"], 2)).names
    ('+', '*', 'x0', 'x1', '/', 'neg', 'exp', '#')
    """
    further = [symbol for name, symbol in OPERATORS.items() if name not in library]
    wide = library.extended(*further).with_numbers()
    if wide.constant is None and "c" not in wide:
        wide = wide.extended(constant())
    template = Form.parse(text, wide)
    used = {wide[token].name for token in template.tokens if token}
    if any(not call.arguments for call in template.calls) and wide.constant is not None:
        used.add(wide.constant)
    numbers = [NUMBER] if NUMBER.name in used else []
    return library.extended(*(symbol for symbol in wide.symbols if symbol.name in used - {NUMBER.name}), *numbers)


def template_strategy(text: str, library: SymbolLibrary) -> FormSearch:
    """Return the search for the parts of a template, which use a library's operators; errors point into the text.

    The evaluator must use `template_library(text, library)`, which may have more symbols.
    """
    whole = template_library(text, library)
    Form.parse(text, whole)
    own = tuple(symbol.name for symbol in library.symbols if symbol.kind == "operator")
    all_of_it = tuple(symbol.name for symbol in whole.symbols if symbol.kind == "operator")
    return FormSearch(FormConfig(text, operators=None if own == all_of_it else own))


def with_short_parts(expr: Expr, template: str, *, lower: float, upper: float) -> Expr:
    """Return an instance of a template with its parts in short form; an expression of another form unchanged.

    >>> from edhie.expr import parse
    >>> expr = parse("x1*(c*(-x0))", variables=["x0", "x1"]).with_constants([-2.5])
    >>> str(with_short_parts(expr, "x1*f(x0)", lower=-10, upper=10))
    'x1*(2.5*x0)'
    """
    read = Form.parse(template, expr.library)
    if not read.matches(expr):
        return expr
    whole = Forest.from_exprs([expr], expr.library)
    short = [
        without_redundant_constants(normal_form(part[0]), lower=lower, upper=upper) for part in read.parts_of(whole)
    ]
    return read.filled([Forest.from_exprs([part], expr.library) for part in short], read.emptied(whole))[0]


def ties_of(expr: Expr, template: str) -> TiedConstants | None:
    """Return the parameter of each constant, if one occurs in several places; otherwise None.

    >>> from edhie.expr import parse
    >>> expr = parse("c*x0 + 2*(c*x1)", variables=["x0", "x1"]).with_constants([-3.0, -3.0])
    >>> ties_of(expr, "f(x0) + 2*f(x1)")
    TiedConstants(of=(0, 0))
    """
    read = Form.parse(template, expr.library)
    # the constants of an expression of another form were fitted alone
    return TiedConstants(read.ties(expr)) if read.is_tied and read.matches(expr) else None
