"""The table of symbols: names, operands, notations and mathematical facts of each."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

from edhie.errors import SymbolError, shortened
from edhie.expr.numerals import is_numeral, numeral

Kind = Literal["operator", "variable", "constant", "literal", "number"]
Style = Literal["infix", "prefix", "postfix", "function", "leaf"]

NOT_IN_NAMES = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹\u00b7\u0387")  # letters to Python, but x² means x^2 and x·y means x*y
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

    VARIABLE, CONSTANT, NUMBER, CUSTOM = range(4)
    ADD, SUB, MUL, DIV, POW, NEG = range(10, 16)
    POW2, POW3, POW4, POW5, INV, SQRT, CBRT = range(16, 23)
    EXP, LOG, LOG10, ABS = range(23, 27)
    SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH = range(27, 36)
    MIN, MAX, SIGN = range(36, 39)


@dataclass(frozen=True)
class Symbol:
    """One symbol of an expression: an operator, a variable, the fitted constant, a literal, or any number."""

    name: str
    kind: Kind
    arity: int = 0
    style: Style = "leaf"
    precedence: int = Precedence.ATOM
    opcode: int = Opcode.CUSTOM
    numpy: str | Callable[..., Any] = ""
    """A name in NumPy or `interpret.POWERS`, or the user's function."""
    sympy: str | Callable[..., Any] = ""
    """A name in SymPy or `sympy_bridge.FUNCTIONS`, or the user's function."""
    latex: str = ""
    """LaTeX with {0} and {1} for the operands."""
    is_common: bool = False
    """True for a function that has this name in C, Python's math, mpmath, PyTorch and spreadsheets."""
    parity: Literal["", "even", "odd"] = ""
    sign: Literal["", "non-negative", "kept"] = ""
    """Sign of its values: never below 0, or not below 0 where no operand is."""
    domain: Literal["all", "non-negative", "positive", "unit", "pieces"] = "all"
    """Operands at which it is defined; "unit" is from -1 to 1, "pieces" are intervals between poles or jumps."""
    period: int = 0
    """Period in units of pi."""
    overflows: bool = False
    """True for a function that overflows at moderate operands."""
    is_onto: bool = False
    """True for a function of one operand that takes all real values."""
    undoes: str = ""
    """The operator g with f(g(u)) = u wherever g(u) is defined."""
    value: float = field(default=math.nan, compare=False)
    """Value of a literal; not compared, as the name determines it and NaN differs from itself."""

    @property
    def is_custom(self) -> bool:
        """True for an operator added by the user."""
        return self.kind == "operator" and self.opcode == Opcode.CUSTOM

    @property
    def role(self) -> tuple[str, int]:
        """Kind and arity; a literal is a number like any other."""
        return "number" if self.kind == "literal" else self.kind, self.arity

    def key(self, text: str) -> tuple[str, int, str]:
        """Return what tells a token apart in any library, by its text; constants are alike."""
        return *self.role, "" if self.kind == "constant" else text

    @property
    def printed_name(self) -> str:
        """Name of a function in books, such as arcsin, ln or sgn; empty for one that is not printed as a call."""
        match = re.match(r"\\(?:operatorname\{\{)?(\w+)(?:\}\})?\\left\(", self.latex)
        return match[1] if match else ""


def _infix(name: str, precedence: Precedence, opcode: Opcode, **facts: Any) -> Symbol:
    return Symbol(name, "operator", 2, "infix", precedence, opcode, **facts)


def _power(exponent: int, *, numpy: str, **facts: Any) -> Symbol:
    power, opcode = Precedence.POWER, Opcode[f"POW{exponent}"]
    latex = f"{{0}}^{{{{{exponent}}}}}"
    return Symbol(
        f"^{exponent}", "operator", 1, "postfix", power, opcode, numpy, "Pow", latex,
        parity="even" if exponent % 2 == 0 else "odd", sign="non-negative" if exponent % 2 == 0 else "kept", **facts,
    )  # fmt: skip


def _function(name: str, *, arity: int = 1, is_common: bool = True, **facts: Any) -> Symbol:
    usual = {"numpy": name, "sympy": name, "latex": rf"\{name}\left({{0}}\right)"}
    opcode = Opcode[name.upper()]
    return Symbol(name, "operator", arity, "function", opcode=opcode, is_common=is_common, **(usual | facts))


OPERATORS: dict[str, Symbol] = {
    symbol.name: symbol
    for symbol in (
        _infix("+", Precedence.SUM, Opcode.ADD, numpy="add", sympy="Add", latex=r"{0} + {1}", sign="kept"),
        _infix("-", Precedence.SUM, Opcode.SUB, numpy="subtract", sympy="subtract", latex=r"{0} - {1}"),
        _infix("*", Precedence.PRODUCT, Opcode.MUL, numpy="multiply", sympy="Mul", latex=r"{0} \cdot {1}", sign="kept"),
        _infix("/", Precedence.PRODUCT, Opcode.DIV, numpy="divide", sympy="divide", latex=r"\frac{{{0}}}{{{1}}}",
               sign="kept"),
        _infix("^", Precedence.POWER, Opcode.POW, numpy="power", sympy="Pow", latex=r"{0}^{{{1}}}", sign="kept"),
        Symbol("neg", "operator", 1, "prefix", Precedence.NEGATION, Opcode.NEG, "negative", "negate", r"-{0}"),
        _power(2, numpy="square"),
        _power(3, numpy="power3", undoes="cbrt"),
        _power(4, numpy="power4"),
        _power(5, numpy="power5"),
        _function("inv", numpy="reciprocal", sympy="invert", latex=r"\frac{{1}}{{{0}}}", is_common=False, parity="odd",
                  sign="kept", domain="pieces"),
        _function("sqrt", latex=r"\sqrt{{{0}}}", sign="non-negative", domain="non-negative"),
        _function("cbrt", sympy="real_cube_root", latex=r"\sqrt[3]{{{0}}}", is_common=False, parity="odd", sign="kept",
                  is_onto=True, undoes="^3"),
        _function("exp", latex=r"e^{{{0}}}", sign="non-negative", overflows=True, undoes="log"),
        _function("log", latex=r"\ln\left({0}\right)", domain="positive", is_onto=True, undoes="exp"),
        _function("log10", latex=r"\log_{{10}}\left({0}\right)", domain="positive", is_onto=True),
        _function("abs", sympy="Abs", latex=r"\left|{0}\right|", is_common=False, parity="even", sign="non-negative"),
        _function("sin", parity="odd", period=2, undoes="asin"),
        _function("cos", parity="even", period=2, undoes="acos"),
        _function("tan", parity="odd", domain="pieces", period=1, is_onto=True, undoes="atan"),
        _function("asin", numpy="arcsin", latex=r"\arcsin\left({0}\right)", parity="odd", sign="kept", domain="unit"),
        _function("acos", numpy="arccos", latex=r"\arccos\left({0}\right)", sign="non-negative", domain="unit"),
        _function("atan", numpy="arctan", latex=r"\arctan\left({0}\right)", parity="odd", sign="kept"),
        _function("sinh", parity="odd", sign="kept", overflows=True, is_onto=True),
        _function("cosh", parity="even", sign="non-negative", overflows=True),
        _function("tanh", parity="odd", sign="kept"),
        _function("min", numpy="minimum", sympy="Min", latex=r"\min\left({0}, {1}\right)", arity=2, is_common=False,
                  sign="kept"),
        _function("max", numpy="maximum", sympy="Max", latex=r"\max\left({0}, {1}\right)", arity=2, is_common=False),
        _function("sign", latex=r"\operatorname{{sgn}}\left({0}\right)", is_common=False, parity="odd",
                  domain="pieces"),
    )
}  # fmt: skip
"""Every built-in operator, by name. A new one is an entry here, an opcode, and a line of `machine/operators.py`."""

FUNCTIONS: dict[str, Symbol] = {
    name: symbol for name, symbol in OPERATORS.items() if symbol.style == "function" and name != "inv"
}
"""Operators that most notations write as a call."""
EVEN = frozenset(name for name, symbol in OPERATORS.items() if symbol.parity == "even")
ODD = frozenset(name for name, symbol in OPERATORS.items() if symbol.parity == "odd")

NAMED_LITERALS: dict[str, Symbol] = {
    "pi": Symbol("pi", "literal", opcode=Opcode.NUMBER, sympy="pi", latex=r"\pi", value=math.pi),
    "e": Symbol("e", "literal", opcode=Opcode.NUMBER, sympy="E", latex="e", value=math.e),
}

NUMBER = Symbol("#", "number", opcode=Opcode.NUMBER)
"""The symbol of all other numbers, whose values are kept beside the tokens."""

ALIASES: dict[str, str] = {
    "**": "^", "ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "Abs": "abs", "fabs": "abs",
    "minimum": "min", "maximum": "max", "Min": "min", "Max": "max", "sgn": "sign", "square": "^2", "sqr": "^2",
    "cube": "^3", "pow": "^", "reciprocal": "inv", "negative": "neg", "E": "e", "π": "pi",
}  # fmt: skip
"""Other spellings, which are read but never printed."""


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
    """Return a variable, named as the column of the data."""
    _check_name(name, "a variable")
    return Symbol(name, "variable", opcode=Opcode.VARIABLE, latex=latex_name(name))


def constant(name: str = "c") -> Symbol:
    """Return the constant whose value is fitted to data."""
    _check_name(name, "the fitted constant")
    return Symbol(name, "constant", opcode=Opcode.CONSTANT, latex=latex_name(name))


def literal(text: str | float) -> Symbol:
    """Return the symbol of one number: 'pi', 'e', '1', 0.5."""
    if isinstance(text, str) and text in NAMED_LITERALS:
        return NAMED_LITERALS[text]
    if isinstance(text, str) and not is_numeral(text):
        raise SymbolError(f"{text!r} is not a literal: use a number, 'pi' or 'e'")
    name = numeral(float(text) if isinstance(text, str) else text)
    return Symbol(name, "literal", opcode=Opcode.NUMBER, latex=name, value=float(name))


def operator(
    name: str, arity: int, *, numpy: Callable[..., Any], sympy: Callable[..., Any] | None = None, latex: str = ""
) -> Symbol:
    """Return a user-defined operator of one or two operands, computed by a NumPy function.

    Without a function for SymPy it is an undefined function there, which can be printed but not simplified.
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
