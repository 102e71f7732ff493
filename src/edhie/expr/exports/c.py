"""A C99 function of doubles, that needs nothing but <math.h>."""

from __future__ import annotations

from edhie.expr.exports import code
from edhie.expr.expression import Expr
from edhie.expr.writer import Syntax, write

# fmin and fmax pass over NaN, edhie does not
HELPERS = {
    **{name: f"static double {name}(double a)\n{{\n    return {text};\n}}" for name, text in code.PRODUCTS.items()},
    "least": "static double least(double a, double b)\n{\n    return a <= b || isnan(a) ? a : b;\n}",
    "greatest": "static double greatest(double a, double b)\n{\n    return a >= b || isnan(a) ? a : b;\n}",
    "sign": "static double sign(double a)\n{\n    return a == 0.0 || isnan(a) ? a : copysign(1.0, a);\n}",
}

OTHERS = {"cbrt": "cbrt", "abs": "fabs", "^": "pow", "min": "least", "max": "greatest", "sign": "sign"}
FUNCTIONS = code.COMMON | code.POWERS | OTHERS

C = Syntax(
    code.arithmetic(one="1.0") | code.calls(FUNCTIONS),  # C99 itself has no names for pi and e
    variants=(code.PRODUCTS_FOR_POWERS,),
    assign="const double {0} = {1};",
    helpers=HELPERS,
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
OWN_WORDS = frozenset({*FUNCTIONS.values(), "isnan", "copysign"})
# a variable may be called so, but a function would be taken for the library's
LIBRARY_FUNCTIONS = frozenset(
    "main abs labs div exit abort atan2 hypot fmod modf frexp ldexp ceil floor round trunc rint nearbyint lrint llrint "
    "lround llround logb ilogb log2 log1p expm1 exp2 erf erfc tgamma lgamma gamma fdim fmax fmin fma remainder remquo "
    "nan nextafter nexttoward scalbn scalbln scalb acosh asinh atanh significand drem pow10 exp10 j0 j1 jn y0 y1 yn "
    "isfinite isinf isnormal signbit fpclassify isgreater isless isunordered printf puts malloc free index".split()
)


def to_c(expr: Expr, *, name: str, target: str) -> str:
    """Return a C99 function, its helpers static; it gives NaN and infinity where edhie does."""
    code.check_computable(expr, "C")
    words = KEYWORDS | OWN_WORDS
    code.check_function_name(name, code.NameRules(words | LIBRARY_FUNCTIONS, is_ascii=True), "C")
    names = code.renamed(expr.variables, code.NameRules(words, is_ascii=True), taken={name})
    written = write(expr, C, names=names)
    parameters = ", ".join(f"double {each}" for each in names.values()) or "void"
    function = [
        *_comment([*code.equation_lines(expr, target), *code.renaming_notes(names)]),
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
