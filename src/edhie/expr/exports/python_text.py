"""The frame of a Python function, whatever library it computes with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import wrap

from edhie.expr.exports.names import PYTHON_WORDS, NameRules, check_function_name, renamed, told
from edhie.expr.exports.writer import Dialect, Spelling, check_computable, helped, infix, write
from edhie.expr.expression import Expr
from edhie.expr.infix import to_infix
from edhie.expr.symbols import Precedence

WIDTH = 100

SUMS_AND_PRODUCTS: dict[str, Spelling] = {
    "+": infix(" + ", Precedence.SUM, stays_plain=True),
    "-": infix(" - ", Precedence.SUM, stays_plain=True),
    "*": infix(" * ", Precedence.PRODUCT, stays_plain=True),
    "/": infix(" / ", Precedence.PRODUCT),
    "neg": Spelling("-{0}", Precedence.NEGATION, (Precedence.NEGATION,), stays_plain=True),
    "inv": Spelling("1.0 / {0}", Precedence.PRODUCT, (Precedence.PRODUCT + 1,)),
}
BY_NUMBER = {name: replace(SUMS_AND_PRODUCTS[name], stays_plain=True) for name in ("/", "inv")}  # which is not 0

# in edhie powers are products: a general power is rounded otherwise, and in plain Python fails where it overflows
POWERS = {"^2": helped("_square"), "^3": helped("_cube"), "^4": helped("_fourth"), "^5": helped("_fifth")}
POWERS_OF_VARIABLES = {
    "^2": Spelling("{0} * {0}", Precedence.PRODUCT),
    "^3": Spelling("{0} * {0} * {0}", Precedence.PRODUCT),
}
POWER_HELPERS = {
    "_square": "def _square(a):\n    return a * a",
    "_cube": "def _cube(a):\n    return a * a * a",
    "_fourth": "def _fourth(a):\n    return (a * a) * (a * a)",
    "_fifth": "def _fifth(a):\n    return (a * a) * (a * a) * a",
}


@dataclass(frozen=True)
class Frame:
    """What stands around the formula."""

    language: str
    imports: str
    words: frozenset[str]
    """Names that the text itself uses."""
    convert: str
    """Makes an argument {0} what the formula needs."""
    context: str = ""
    """A line that all of the computation stands under."""


def python_function(expr: Expr, dialect: Dialect, frame: Frame, *, name: str, target: str) -> str:
    """A module of one function: imports, helpers, a docstring with the equation, the formula."""
    check_computable(expr, frame.language)
    rules = NameRules(PYTHON_WORDS | frame.words | dialect.helpers.keys())
    check_function_name(name, rules, frame.language)
    names = renamed(expr.variables, rules, taken={name})
    written = write(expr, dialect, names)
    conversions = [f"{each} = {frame.convert.format(each)}" for each in names.values()]
    computation = [*written.statements, f"return {written.value}"]
    if frame.context:
        computation = [frame.context, *(f"    {line}" for line in computation)]
    function = [
        f"def {name}({', '.join(names.values())}):",
        *_docstring(expr, target, names),
        *(f"    {line}" for line in (*conversions, *computation)),
    ]
    return "\n\n\n".join([frame.imports, *written.helpers, "\n".join(function)]) + "\n"


def equation_lines(expr: Expr, target: str) -> list[str]:
    """The equation as a person reads it, in lines that are not too long."""
    return wrap(f"{target} = {to_infix(expr)}", WIDTH, break_long_words=False, break_on_hyphens=False)


def _docstring(expr: Expr, target: str, names: dict[str, str]) -> list[str]:
    lines = equation_lines(expr, target)
    renamings = told(names)
    if len(lines) == 1 and not renamings:
        return [f'    """{lines[0]}"""']
    below = ["", *(f"    {line}" for line in renamings)] if renamings else []
    return [f'    """{lines[0]}', *(f"    {line}" for line in lines[1:]), *below, '    """']
