"""Python code that builds a SymPy expression."""

from __future__ import annotations

from edhie.expr.exports.code import (
    PYTHON_WORDS,
    NameRules,
    arithmetic,
    calls,
    check_built_in,
    equation_lines,
    renamed,
    renaming_notes,
)
from edhie.expr.expression import Expr
from edhie.expr.numerals import numeral
from edhie.expr.symbols import FUNCTIONS, Precedence
from edhie.expr.writer import Syntax, Template, number_piece, write

HELPERS = {"_cbrt": "def _cbrt(a):\n    return sympy.sign(a) * sympy.Abs(a) ** sympy.Rational(1, 3)"}
ATOMS = (Precedence.ATOM, Precedence.ATOM)

# SymPy's / divides two floats at once, but edhie multiplies by the inverse, which may be rounded differently
QUOTIENT = Template("{0} * {1} ** -1", Precedence.PRODUCT, (Precedence.PRODUCT, Precedence.ATOM), wraps_numbers=True)


SYMPY = Syntax(
    {
        **arithmetic(),
        "^": Template("{0} ** {1}", Precedence.POWER, ATOMS),
        **{f"^{n}": Template(f"{{0}} ** {n}", Precedence.POWER, ATOMS) for n in (2, 3, 4, 5)},
        **calls({name: str(symbol.sympy) for name, symbol in FUNCTIONS.items()}, "sympy."),
        **calls({"cbrt": "_cbrt"}),
        "log10": Template("sympy.log({0}) / sympy.log(10)", Precedence.PRODUCT),
    },
    variants=((lambda operands, library: all(piece.is_known for piece in operands), {"/": QUOTIENT}),),
    literal={"pi": "sympy.pi", "e": "sympy.E"}.get,
    number=lambda value, number_format: number_piece(numeral(value), value),
    wrap="sympy.S({0})",
    has_plain_literals=False,
    assign="{0} = {1}",
    helpers=HELPERS,
)


def to_sympy_code(expr: Expr, *, name: str, target: str) -> str:
    """Return Python code after which `target` is the SymPy expression; constants without values are symbols."""
    check_built_in(expr, "SymPy text")
    from edhie.expr.sympy_bridge import constant_names, to_sympy

    to_sympy(expr)  # raises where SymPy would never end, or has no value
    constants = constant_names(expr.library, len(expr.constants))
    unfitted = [each for each, value in zip(constants, expr.constants, strict=True) if value is None]
    rules = NameRules(PYTHON_WORDS | {"sympy", *HELPERS})
    symbols = renamed([*expr.variables, *unfitted], rules)
    result = renamed([target], rules, taken=set(symbols.values()))
    written = write(expr, SYMPY, names=symbols, constants=[symbols.get(each, each) for each in constants])
    lines = [f'{own} = sympy.Symbol("{each}", real=True)' for each, own in symbols.items()]
    comment = [f"# {line}" for line in (*equation_lines(expr, target), *renaming_notes(result))]
    body = [*lines, *comment, *written.statements, f"{result[target]} = {written.text}"]
    spaced = "\n\n\n" if written.helpers else "\n\n"
    return spaced.join(["import sympy", *written.helpers, "\n".join(body)]) + "\n"
