"""For mathematicians: LaTeX, and Python text that builds a SymPy expression."""

from __future__ import annotations

from edhie.expr.exports.names import PYTHON_WORDS, NameRules, renamed, told
from edhie.expr.exports.python_text import equation_lines
from edhie.expr.exports.writer import Dialect, Spelling, call, check_built_in, helped, infix, write
from edhie.expr.expression import Expr
from edhie.expr.latex import to_latex as formula_in_latex
from edhie.expr.symbols import Precedence, latex_name

CUBE_ROOT = """\
def _cbrt(a):
    return sympy.sign(a) * sympy.Abs(a) ** sympy.Rational(1, 3)"""
POWER_BOUNDS = (Precedence.ATOM, Precedence.ATOM)

FUNCTIONS = {
    **{name: name for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: name for name in ("sinh", "cosh", "tanh", "sign")},
    "abs": "Abs",
}

OPERATORS: dict[str, Spelling] = {
    "+": infix(" + ", Precedence.SUM),
    "-": infix(" - ", Precedence.SUM),
    "*": infix(" * ", Precedence.PRODUCT),
    "/": infix(" / ", Precedence.PRODUCT),
    "^": Spelling("{0} ** {1}", Precedence.POWER, POWER_BOUNDS),
    "neg": Spelling("-{0}", Precedence.NEGATION, (Precedence.NEGATION,)),
    **{f"^{n}": Spelling(f"{{0}} ** {n}", Precedence.POWER, POWER_BOUNDS) for n in (2, 3, 4, 5)},
    "inv": Spelling("1 / {0}", Precedence.PRODUCT, (Precedence.PRODUCT + 1,)),
    **{name: call(f"sympy.{function}") for name, function in FUNCTIONS.items()},
    "cbrt": helped("_cbrt"),
    "log10": Spelling("sympy.log({0}) / sympy.log(10)", Precedence.PRODUCT),
    "min": call("sympy.Min", arity=2),
    "max": call("sympy.Max", arity=2),
}

# two floats are divided at once by SymPy's /, but edhie multiplies by the inverse, which may be rounded otherwise
KNOWN_QUOTIENT = Spelling("{0} * {1} ** -1", Precedence.PRODUCT, (Precedence.PRODUCT, Precedence.ATOM), wraps_all=True)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(value)


DIALECT = Dialect(
    OPERATORS,
    literals={"pi": "sympy.pi", "e": "sympy.E"},
    number=_number,
    of_known={"/": KNOWN_QUOTIENT},
    wrap="sympy.S({0})",
    has_plain_literals=False,
    assign="{0} = {1}",
    helpers={"_cbrt": CUBE_ROOT},
)


def to_latex(expr: Expr, *, name: str, target: str) -> str:
    """The equation in LaTeX's mathematics."""
    return f"{latex_name(target)} = {formula_in_latex(expr)}"


def to_sympy_text(expr: Expr, *, name: str, target: str) -> str:
    """Python text after which `target` is the SymPy expression; constants without values are symbols."""
    check_built_in(expr, "SymPy text")
    from edhie.expr.sympy_bridge import constant_names, to_sympy

    to_sympy(expr)  # raises where SymPy would never end, or has no value
    free = constant_names(expr.library, len(expr.constants))
    free = [each for each, value in zip(free, expr.constants, strict=True) if value is None]
    rules = NameRules(PYTHON_WORDS | {"sympy", *DIALECT.helpers})
    symbols = renamed([*expr.variables, *free], rules)
    result = renamed([target], rules, taken=set(symbols.values()))
    names = {each: symbols[each] for each in expr.variables}
    written = write(expr, DIALECT, names, tuple(symbols[each] for each in free))
    lines = [f'{own} = sympy.Symbol("{each}", real=True)' for each, own in symbols.items()]
    comment = [f"# {line}" for line in (*equation_lines(expr, target), *told(result))]
    body = [*lines, *comment, *written.statements, f"{result[target]} = {written.value}"]
    spaced = "\n\n\n" if written.helpers else "\n\n"
    return spaced.join(["import sympy", *written.helpers, "\n".join(body)]) + "\n"
