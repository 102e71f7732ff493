"""Python code that builds a SymPy expression."""

from __future__ import annotations

from edhie.expr.exports import code
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
        **code.arithmetic(),
        "^": Template("{0} ** {1}", Precedence.POWER, ATOMS),
        **{f"^{n}": Template(f"{{0}} ** {n}", Precedence.POWER, ATOMS) for n in (2, 3, 4, 5)},
        **code.calls({name: str(symbol.sympy) for name, symbol in FUNCTIONS.items()}, "sympy."),
        **code.calls({"cbrt": "_cbrt"}),
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
    code.check_built_in(expr, "SymPy text")
    from edhie.expr.sympy_bridge import constant_names, to_sympy

    to_sympy(expr)  # raises where SymPy would never end, or has no value
    constants = constant_names(expr.library, len(expr.constants))
    unfitted = [each for each, value in zip(constants, expr.constants, strict=True) if value is None]
    rules = code.NameRules(code.PYTHON_WORDS | {"sympy", *HELPERS})
    symbols = code.renamed([*expr.variables, *unfitted], rules)
    result = code.renamed([target], rules, taken=set(symbols.values()))
    written = write(expr, SYMPY, names=symbols, constants=[symbols.get(each, each) for each in constants])
    lines = [f'{own} = sympy.Symbol("{each}", real=True)' for each, own in symbols.items()]
    comment = [f"# {line}" for line in (*code.equation_lines(expr, target), *code.renaming_notes(result))]
    body = [*lines, *comment, *written.statements, f"{result[target]} = {written.text}"]
    spaced = "\n\n\n" if written.helpers else "\n\n"
    return spaced.join(["import sympy", *written.helpers, "\n".join(body)]) + "\n"
