"""The one table of symbols: what each is called, takes, prints as and computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

from edhie.errors import SymbolError, shortened
from edhie.expr.numerals import is_numeral, numeral

Kind = Literal["operator", "variable", "constant", "literal", "number"]
Style = Literal["infix", "prefix", "postfix", "function", "leaf"]

NOT_IN_NAMES = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹\u00b7\u0387")  # to Python they are letters; people mean x^2 and, by a dot, x*y
MAX_ARITY = 2  # expression trees are binary, as in the paper


class Precedence(IntEnum):
    """Precedence of an operator in infix notation; a higher one binds tighter."""

    SUM = 10
    PRODUCT = 20
    NEGATION = 30
    POWER = 40
    ATOM = 100


class Opcode(IntEnum):
    """Codes that compiled kernels switch on. Values are part of cached machine code: append, never renumber."""

    VARIABLE = 0
    CONSTANT = 1
    NUMBER = 2
    CUSTOM = 3
    ADD = 10
    SUB = 11
    MUL = 12
    DIV = 13
    POW = 14
    NEG = 15
    POW2 = 16
    POW3 = 17
    POW4 = 18
    POW5 = 19
    INV = 20
    SQRT = 21
    CBRT = 22
    EXP = 23
    LOG = 24
    LOG10 = 25
    ABS = 26
    SIN = 27
    COS = 28
    TAN = 29
    ASIN = 30
    ACOS = 31
    ATAN = 32
    SINH = 33
    COSH = 34
    TANH = 35
    MIN = 36
    MAX = 37
    SIGN = 38


@dataclass(frozen=True)
class Symbol:
    """One symbol of an expression: an operator, a variable, the fitted constant, a literal, any number."""

    name: str
    kind: Kind
    arity: int = 0
    style: Style = "leaf"
    precedence: int = Precedence.ATOM
    opcode: int = Opcode.CUSTOM
    numpy: str | Callable[..., Any] = ""
    """A name in `edhie.expr.functions` or NumPy, or the user's function."""
    sympy: str | Callable[..., Any] = ""
    """A name in `edhie.expr.sympy_functions` or SymPy, or the user's function."""
    latex: str = ""
    """LaTeX with {0} and {1} for the operands."""
    value: float = field(default=math.nan, compare=False)
    """Value of a literal; not compared, as the name determines it and NaN differs from itself."""

    @property
    def is_custom(self) -> bool:
        """True for an operator added by the user."""
        return self.kind == "operator" and self.opcode == Opcode.CUSTOM


def _infix(name: str, precedence: Precedence, opcode: Opcode, numpy: str, sympy: str, latex: str) -> Symbol:
    return Symbol(name, "operator", 2, "infix", precedence, opcode, numpy, sympy, latex)


def _power(exponent: int, opcode: Opcode, numpy: str) -> Symbol:
    name = f"^{exponent}"
    latex = f"{{0}}^{{{{{exponent}}}}}"
    return Symbol(name, "operator", 1, "postfix", Precedence.POWER, opcode, numpy, f"power{exponent}", latex)


def _function(name: str, opcode: Opcode, numpy: str, sympy: str, latex: str, arity: int = 1) -> Symbol:
    return Symbol(name, "operator", arity, "function", Precedence.ATOM, opcode, numpy, sympy, latex)


OPERATORS: dict[str, Symbol] = {
    symbol.name: symbol
    for symbol in (
        _infix("+", Precedence.SUM, Opcode.ADD, "add", "Add", r"{0} + {1}"),
        _infix("-", Precedence.SUM, Opcode.SUB, "subtract", "subtract", r"{0} - {1}"),
        _infix("*", Precedence.PRODUCT, Opcode.MUL, "multiply", "Mul", r"{0} \cdot {1}"),
        _infix("/", Precedence.PRODUCT, Opcode.DIV, "divide", "divide", r"\frac{{{0}}}{{{1}}}"),
        _infix("^", Precedence.POWER, Opcode.POW, "power", "Pow", r"{0}^{{{1}}}"),
        Symbol("neg", "operator", 1, "prefix", Precedence.NEGATION, Opcode.NEG, "negative", "negate", r"-{0}"),
        _power(2, Opcode.POW2, "square"),
        _power(3, Opcode.POW3, "power3"),
        _power(4, Opcode.POW4, "power4"),
        _power(5, Opcode.POW5, "power5"),
        _function("inv", Opcode.INV, "reciprocal", "invert", r"\frac{{1}}{{{0}}}"),
        _function("sqrt", Opcode.SQRT, "sqrt", "sqrt", r"\sqrt{{{0}}}"),
        _function("cbrt", Opcode.CBRT, "cbrt", "real_cube_root", r"\sqrt[3]{{{0}}}"),
        _function("exp", Opcode.EXP, "exp", "exp", r"e^{{{0}}}"),
        _function("log", Opcode.LOG, "log", "log", r"\ln\left({0}\right)"),
        _function("log10", Opcode.LOG10, "log10", "log10", r"\log_{{10}}\left({0}\right)"),
        _function("abs", Opcode.ABS, "abs", "Abs", r"\left|{0}\right|"),
        _function("sin", Opcode.SIN, "sin", "sin", r"\sin\left({0}\right)"),
        _function("cos", Opcode.COS, "cos", "cos", r"\cos\left({0}\right)"),
        _function("tan", Opcode.TAN, "tan", "tan", r"\tan\left({0}\right)"),
        _function("asin", Opcode.ASIN, "arcsin", "asin", r"\arcsin\left({0}\right)"),
        _function("acos", Opcode.ACOS, "arccos", "acos", r"\arccos\left({0}\right)"),
        _function("atan", Opcode.ATAN, "arctan", "atan", r"\arctan\left({0}\right)"),
        _function("sinh", Opcode.SINH, "sinh", "sinh", r"\sinh\left({0}\right)"),
        _function("cosh", Opcode.COSH, "cosh", "cosh", r"\cosh\left({0}\right)"),
        _function("tanh", Opcode.TANH, "tanh", "tanh", r"\tanh\left({0}\right)"),
        _function("min", Opcode.MIN, "minimum", "Min", r"\min\left({0}, {1}\right)", arity=2),
        _function("max", Opcode.MAX, "maximum", "Max", r"\max\left({0}, {1}\right)", arity=2),
        _function("sign", Opcode.SIGN, "sign", "sign", r"\operatorname{{sgn}}\left({0}\right)"),
    )
}

NAMED_LITERALS: dict[str, Symbol] = {
    "pi": Symbol("pi", "literal", opcode=Opcode.NUMBER, sympy="pi", latex=r"\pi", value=math.pi),
    "e": Symbol("e", "literal", opcode=Opcode.NUMBER, sympy="E", latex="e", value=math.e),
}

NUMBER = Symbol("#", "number", opcode=Opcode.NUMBER)
"""Stands for any number; its value travels beside the token."""

ALIASES: dict[str, str] = {
    "**": "^",
    "ln": "log",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "Abs": "abs",
    "fabs": "abs",
    "minimum": "min",
    "maximum": "max",
    "Min": "min",
    "Max": "max",
    "sgn": "sign",
    "square": "^2",
    "sqr": "^2",
    "cube": "^3",
    "pow": "^",
    "reciprocal": "inv",
    "negative": "neg",
    "E": "e",
    "π": "pi",
}
"""Other spellings that people use, read but never printed."""


def is_name(text: object) -> bool:
    """Return True for a valid name of a variable or operator: letters of any script, digits and underscores."""
    return isinstance(text, str) and text[:1].isidentifier() and all(map(is_in_names, text))


def is_in_names(letter: str) -> bool:
    """Return True for a character that a name may have after its first."""
    return (letter.isalnum() or f"_{letter}".isidentifier()) and letter not in NOT_IN_NAMES


def _check_name(name: object, what: str) -> None:
    if not is_name(name):
        fitting = "".join(letter if is_in_names(letter) else "_" for letter in str(name)).strip("_")
        hint = f", such as {shortened(fitting)!r}" if is_name(fitting) else ""
        raise SymbolError(
            f"{name!r} cannot name {what}: use letters, digits and underscores, not starting with a digit{hint}"
        )


def variable(name: str) -> Symbol:
    """A variable, named as the data's column is."""
    _check_name(name, "a variable")
    return Symbol(name, "variable", opcode=Opcode.VARIABLE, latex=latex_name(name))


def constant(name: str = "c") -> Symbol:
    """The constant whose value is fitted to data."""
    _check_name(name, "the fitted constant")
    return Symbol(name, "constant", opcode=Opcode.CONSTANT, latex=latex_name(name))


def literal(text: str | float) -> Symbol:
    """A number that is a symbol of its own: 'pi', 'e', '1', 0.5."""
    if isinstance(text, str) and text in NAMED_LITERALS:
        return NAMED_LITERALS[text]
    if isinstance(text, str) and not is_numeral(text):
        raise SymbolError(f"{text!r} is not a literal: use a number, 'pi' or 'e'")
    name = numeral(float(text) if isinstance(text, str) else text)
    return Symbol(name, "literal", opcode=Opcode.NUMBER, latex=name, value=float(name))


def operator(
    name: str,
    arity: int,
    *,
    numpy: Callable[..., Any],
    sympy: Callable[..., Any] | None = None,
    latex: str = "",
) -> Symbol:
    """An operator of the user's: a name, one or two operands, a NumPy and perhaps a SymPy function.

    Without a SymPy function it becomes an undefined function there: it prints and
    substitutes, but does not simplify.
    """
    _check_name(name, "an operator")
    if name in OPERATORS or name in NAMED_LITERALS or name in ALIASES:
        raise SymbolError(f"{name!r} is the name of a built-in symbol; choose another")
    if arity not in (1, MAX_ARITY):
        raise SymbolError(f"the operator {name!r} takes {arity} operands; trees are binary, so 1 or 2 are allowed")
    if not callable(numpy):
        raise SymbolError(f"the operator {name!r} needs a callable for numpy=, not {numpy!r}")
    slots = ", ".join(f"{{{i}}}" for i in range(arity))
    spelled = name.replace("_", r"\_")
    default = rf"\operatorname{{{{{spelled}}}}}\left({slots}\right)"
    return Symbol(name, "operator", int(arity), "function", numpy=numpy, sympy=sympy or "", latex=latex or default)


GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split()
)


def name_and_subscript(name: str) -> tuple[str, str]:
    """Split a name into a letter and its subscript, after `_` or before trailing digits; a word has none.

    >>> name_and_subscript("theta_max"), name_and_subscript("x0"), name_and_subscript("speed_2")
    (('theta', 'max'), ('x', '0'), ('speed_2', ''))
    """
    head, underscore, tail = name.partition("_")
    if not underscore:
        head = name.rstrip("0123456789")
        tail = name[len(head) :]
    is_letter = len(head) == 1 or head in GREEK
    return (head, tail) if is_letter and (tail or not underscore) else (name, "")


def latex_name(name: str) -> str:
    r"""Return a variable's name in LaTeX: Greek letters, subscripts as `name_and_subscript` finds them.

    >>> latex_name("x0"), latex_name("theta_max"), latex_name("speed")
    ('x_{0}', '\\theta_{max}', '\\mathrm{speed}')
    """
    letter, subscript = name_and_subscript(name)
    if letter in GREEK:
        letter = f"\\{letter}"
    elif len(letter) != 1 or letter == "_":
        letter = rf"\mathrm{{{letter}}}"
    letter, subscript = (each.replace("_", r"\_") for each in (letter, subscript))
    return f"{letter}_{{{subscript}}}" if subscript else letter
