"""Exports to programming languages: templates, checks, names, the equation as a comment; and C."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from edhie.errors import ExpressionError, shortened
from edhie.expr.expression import Expr
from edhie.expr.notation import to_infix
from edhie.expr.symbols import FUNCTIONS, OPERATORS, Precedence
from edhie.expr.writer import Syntax, Template, Variant, write

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


# -- C99, which needs nothing but <math.h> -----------------------------------------------

# fmin and fmax pass over NaN, edhie does not
C_HELPERS = {
    **{name: f"static double {name}(double a)\n{{\n    return {text};\n}}" for name, text in PRODUCTS.items()},
    "least": "static double least(double a, double b)\n{\n    return a <= b || isnan(a) ? a : b;\n}",
    "greatest": "static double greatest(double a, double b)\n{\n    return a >= b || isnan(a) ? a : b;\n}",
    "sign": "static double sign(double a)\n{\n    return a == 0.0 || isnan(a) ? a : copysign(1.0, a);\n}",
}

OTHERS = {"cbrt": "cbrt", "abs": "fabs", "^": "pow", "min": "least", "max": "greatest", "sign": "sign"}
C_FUNCTIONS = COMMON | POWERS | OTHERS

C = Syntax(
    arithmetic(one="1.0") | calls(C_FUNCTIONS),  # C99 itself has no names for pi and e
    variants=(PRODUCTS_FOR_POWERS,),
    assign="const double {0} = {1};",
    helpers=C_HELPERS,
)

KEYWORDS = frozenset(
    # C99 and C11
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    # C23 and C++, as which the text may be compiled too
    "alignas alignof and and_eq asm bitand bitor bool catch class co_await co_return co_yield compl concept consteval "
    "constexpr constinit const_cast char8_t char16_t char32_t decltype delete dynamic_cast explicit export false "
    "friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid "
    "typename typeof using virtual wchar_t xor xor_eq "
    # macros of <math.h> and of compilers
    "NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL MATH_ERRNO "
    "MATH_ERREXCEPT M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 "
    "MAXFLOAT linux unix i386 near far".split()
)
OWN_WORDS = frozenset({*C_FUNCTIONS.values(), "isnan", "copysign"})
# a variable may be called so, but a function would be taken for the library's
LIBRARY_FUNCTIONS = frozenset(
    "main abs labs div exit abort atan2 hypot fmod modf frexp ldexp ceil floor round trunc rint nearbyint lrint llrint "
    "lround llround logb ilogb log2 log1p expm1 exp2 erf erfc tgamma lgamma gamma fdim fmax fmin fma remainder remquo "
    "nan nextafter nexttoward scalbn scalbln scalb acosh asinh atanh significand drem pow10 exp10 j0 j1 jn y0 y1 yn "
    "isfinite isinf isnormal signbit fpclassify isgreater isless isunordered printf puts malloc free index".split()
)


def to_c(expr: Expr, *, name: str, target: str) -> str:
    """Return a C99 function, its helpers static; it gives NaN and infinity where edhie does."""
    check_computable(expr, "C")
    words = KEYWORDS | OWN_WORDS
    check_function_name(name, NameRules(words | LIBRARY_FUNCTIONS, is_ascii=True), "C")
    names = renamed(expr.variables, NameRules(words, is_ascii=True), taken={name})
    written = write(expr, C, names=names)
    parameters = ", ".join(f"double {each}" for each in names.values()) or "void"
    function = [
        *_comment([*equation_lines(expr, target), *renaming_notes(names)]),
        f"double {name}({parameters})",
        "{",
        *(f"    {line}" for line in (*written.statements, f"return {written.text};")),
        "}",
    ]
    return "\n\n".join(["#include <math.h>", *written.helpers, "\n".join(function)]) + "\n"


def _comment(lines: list[str]) -> list[str]:
    if len(lines) == 1:
        return [f"/* {lines[0]} */"]
    return [f"/* {lines[0]}", *(f" * {line}" for line in lines[1:]), " */"]
