"""Patterns of textbook formulas by which subtrees are edited: s is the subtree, c a constant, x and y variables."""

from __future__ import annotations

from functools import cache
from itertools import permutations

from edhie.expr import Expr, Symbol, SymbolLibrary, parse
from edhie.expr.standard_libraries import everything

PART, CONSTANT, VARIABLES = "s", "c", ("x", "y")
MOST_VARIABLES = 4  # up to which patterns with two variables are used

OF_ANY_PART = (
    "c*s", "s + c", "c - s", "c/s", "s^2", "sqrt(s)", "s^c", "exp(s)", "exp(-s)", "log(s)", "sin(s)", "cos(s)",
    "s/(s + c)", "s/(c*s + c)", "c/(s + c)", "s + c*s^2", "s + c*s^3", "sqrt(s^2 + c)", "log(s + c)",
    "s*x", "s/x", "s + x", "s - x", "s + c*x", "s + c*x^2", "s + c*x^3", "s + c/x", "s + c*x^c", "s + c*exp(c*x)",
    "s*x^2", "s/x^2", "s*x^c", "s*sqrt(x)", "s/sqrt(x)", "s*exp(c*x)", "s*exp(c/x)", "s*(x + c)", "s/(x + c)",
    "s*(x^2 + c)", "s/(x^2 + c)", "s*x/(x + c)", "s*sin(c*x)", "s*cos(c*x)", "s + c*sin(c*x)", "s + c*cos(c*x)",
    "sqrt(s^2 + x^2)", "s + c*x*y", "s + c*x/y", "s + c*x^2/y^2", "s*x/y",
)  # fmt: skip
"""Patterns that replace any subtree, the most usual first."""
OF_A_CONSTANT = ("x", "c*x", "c*x + c", "c*x^2 + c", "c/x", "c*x^c", "c*exp(c*x)")
"""Patterns that replace a constant: functions of a variable that it may depend on."""
OF_A_VARIABLE = ("x", "x - y", "x/y", "x*y", "c*x + y")
"""Patterns that replace a variable."""
BESIDE = (
    "c*x", "x^2", "c*x^2", "c/x", "sqrt(x)", "c*sqrt(x)", "log(x)", "c*log(x)", "exp(c*x)", "c*exp(c*x)", "sin(c*x)",
    "c*sin(c*x)", "cos(c*x)", "c*cos(c*x)", "x^c", "c*x^c", "c + x", "c + c*x", "c + c*x^2", "c/x^2", "x/(c + x)",
    "x*y", "x/y", "c*x*y", "c*x/y", "x + c*y", "c*(x/y)^2",
)  # fmt: skip
"""Small pieces that are joined with a subtree, or replace it."""


Pattern = tuple[str | None, ...]
"""A pattern over one library: its symbols in prefix order, None for the subtree."""


def patterns(texts: tuple[str, ...], library: SymbolLibrary) -> list[Pattern]:
    """Return the patterns that a library can write, one for each choice of variables, in order."""
    found: dict[Pattern, None] = {}
    for written in map(_parsed, texts):
        if not all(_is_in(library, symbol) for _, _, symbol in written.walk()):
            continue
        used = [name for name in VARIABLES if name in written.tokens]
        if len(used) > 1 and len(library.variables) > MOST_VARIABLES:
            continue
        for chosen in permutations(library.variables, len(used)):
            names = {CONSTANT: str(library.constant), **dict(zip(used, chosen, strict=True))}
            found[tuple(None if token == PART else names.get(token, token) for token in written.tokens)] = None
    return list(found)


@cache
def _parsed(text: str) -> Expr:
    return parse(text, everything([PART, *VARIABLES]))


def _is_in(library: SymbolLibrary, symbol: Symbol) -> bool:
    """Return whether a library has a symbol of a pattern; its role is compared, since variables may have any name."""
    if symbol.kind == "constant":
        return library.constant is not None
    return symbol.kind == "variable" or (symbol.name in library and library[symbol.name].role == symbol.role)
