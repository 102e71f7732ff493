"""Shared parts of exports to programming languages: templates, checks, names, the equation as a comment."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from edhie.errors import ExpressionError, shortened
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.notation import to_infix
from edhie.expr.symbols import FUNCTIONS, OPERATORS, Precedence
from edhie.expr.writer import Piece, Template, Variant

WIDTH = 100
PYTHON_WORDS = frozenset((*keyword.kwlist, "__debug__"))
RESERVED_IN_C = re.compile(r"_[A-Z_]")
COMMON = {name: name for name, symbol in FUNCTIONS.items() if symbol.is_common}
"""Functions that have the same name in most languages."""
POWERS = {"^2": "square", "^3": "cube", "^4": "fourth", "^5": "fifth"}
PRODUCTS = {"square": "a * a", "cube": "a * a * a", "fourth": "(a * a) * (a * a)", "fifth": "(a * a) * (a * a) * a"}
"""What helpers for powers compute."""


def arithmetic(space: str = " ", one: str = "1", *, stays_plain: bool = False) -> dict[str, Template]:
    """Return templates of sums, products and signs; with `stays_plain` only quotients wrap plain numbers."""
    negation, product = Precedence.NEGATION, Precedence.PRODUCT
    infix = {"+": Precedence.SUM, "-": Precedence.SUM, "*": product, "/": product}
    templates = {
        # a right operand of equal precedence keeps its parentheses
        **{name: Template(f"{{0}}{space}{name}{space}{{1}}", own, (own, own + 1)) for name, own in infix.items()},
        "neg": Template("-{0}", negation, (negation,)),
        "inv": Template(f"{one}{space}/{space}{{0}}", product, (product + 1,)),
    }
    plain = {name: replace(templates[name], stays_plain=True) for name in ("+", "-", "*", "neg") if stays_plain}
    return templates | plain


def calls(functions: Mapping[str, str], module: str = "", comma: str = ", ") -> dict[str, Template]:
    """Return templates that call functions, given by the names of operators."""
    operands = {1: "{0}", 2: f"{{0}}{comma}{{1}}"}
    return {
        name: Template(f"{module}{called}({operands[OPERATORS[name].arity]})") for name, called in functions.items()
    }


def by_number(operands: Sequence[Piece], library: SymbolLibrary) -> bool:
    """Return True where the last operand is a number other than 0."""
    return operands[-1].number is not None and operands[-1].number != 0


# in edhie powers are products: a general power is rounded differently, and in plain Python raises where it overflows
PRODUCTS_FOR_POWERS: Variant = (
    lambda operands, library: operands[-1].is_variable,
    {"^2": Template("{0} * {0}", Precedence.PRODUCT), "^3": Template("{0} * {0} * {0}", Precedence.PRODUCT)},
)


def equation_lines(expr: Expr, target: str) -> list[str]:
    """Return the equation in infix notation, wrapped to lines of `WIDTH` characters."""
    return wrap(f"{target} = {to_infix(expr)}", WIDTH, break_long_words=False, break_on_hyphens=False)


def check_computable(expr: Expr, language: str) -> None:
    """Raise for operators added by the user, and for constants without values."""
    check_built_in(expr, language)
    missing = sum(value is None for value in expr.constants)
    if missing:
        plural = "s have no values" if missing > 1 else " has no value"
        raise ExpressionError(
            f"{missing} constant{plural} in {shortened(str(expr))!r}: fit them, or give values by with_constants(), "
            f"before writing it as {language}"
        )


def check_built_in(expr: Expr, language: str) -> None:
    """Raise for operators added by the user, which are Python functions."""
    custom = [token for token in dict.fromkeys(expr.tokens) if expr.library[token].is_custom]
    if custom:
        raise ExpressionError(
            f"the operator {custom[0]!r} in {shortened(str(expr))!r} is a Python function of your own, which cannot be "
            f"written as {language}; write it out in built-in operators, or export to 'latex' or 'json'"
        )


# -- names ----------------------------------------------------------------------------


@dataclass(frozen=True)
class NameRules:
    """Rules of a language for names."""

    words: frozenset[str]
    """Names with another meaning in the language."""
    is_ascii: bool = False
    """True to refuse letters beyond ASCII and the underscores that C reserves."""

    def fits(self, name: str) -> bool:
        """Return True for a valid name; letters that Python normalises to others are not."""
        if not name.isidentifier() or name in self.words or unicodedata.normalize("NFKC", name) != name:
            return False
        return not self.is_ascii or (name.isascii() and not RESERVED_IN_C.match(name))

    def nearest(self, name: str) -> str:
        """Return a valid name that is close to the given one."""
        letters = [_in_ascii(letter) if self.is_ascii else letter for letter in unicodedata.normalize("NFKC", name)]
        spelled = "".join(letter if f"_{letter}".isidentifier() else "_" for letter in letters)
        if self.is_ascii:
            spelled = spelled.lstrip("_")
        if not spelled.isidentifier():
            spelled = f"x{spelled}"
        return spelled if self.fits(spelled) else f"{spelled}_"


def renamed(variables: Sequence[str], rules: NameRules, *, taken: Collection[str] = ()) -> dict[str, str]:
    """Return a distinct name for each variable: its own where the language allows it, otherwise one close to it.

    >>> renamed(["x", "lambda", "lambda_"], NameRules(PYTHON_WORDS))
    {'x': 'x', 'lambda': 'lambda__', 'lambda_': 'lambda_'}
    """
    kept = {name for name in variables if rules.fits(name) and name not in taken}
    used = {*kept, *taken}
    names = {}
    for variable in variables:
        name = variable if variable in kept else rules.nearest(variable)
        while variable not in kept and name in used:
            name += "_"
        used.add(name)
        names[variable] = name
    return names


def renaming_notes(names: dict[str, str]) -> list[str]:
    """Return a line for each variable that goes by another name."""
    return [f"{name} stands for {variable}" for variable, name in names.items() if name != variable]


def check_function_name(name: str, rules: NameRules, language: str) -> None:
    """Raise for a name that no function of the language can have."""
    if not rules.fits(name):
        raise ExpressionError(f"a function in {language} cannot be called {name!r}; try name={rules.nearest(name)!r}")


def _in_ascii(letter: str) -> str:
    """Return the name of a Greek letter, another letter without accents, or an underscore."""
    words = unicodedata.name(letter, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        spelled = words[words.index("LETTER") + 1].lower()
        return spelled.capitalize() if "CAPITAL" in words else spelled
    plain = unicodedata.normalize("NFKD", letter)[:1]
    return plain if plain.isascii() else "_"
