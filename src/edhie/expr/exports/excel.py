"""A formula for a spreadsheet: for row 2, with the variables in the columns A, B, …, unless their cells are given.

Excel differs from other languages: -A2^2 is (-A2)^2, a^b^c is (a^b)^c, LOG is the decimal logarithm, and a number has
15 digits. NaN and infinity are errors (#NUM!, #DIV/0!). 0^0 and sines beyond 2^27 are undefined, (-8)^(1/3) is -2, and
a last subtraction with a result close to 0 gives 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from edhie.errors import ExpressionError
from edhie.expr.exports.code import COMMON, arithmetic, calls, check_computable
from edhie.expr.expression import Expr
from edhie.expr.symbols import Precedence
from edhie.expr.writer import Piece, Syntax, Template, number_piece, write

ROW = 2  # below the names of the columns
MAX_COLUMNS = 16_384
MAX_LENGTH = 8192
MAX_NESTING = 64
SMALLEST, LARGEST = 2.2250738585072014e-308, 9.99999999999999e307
DIGITS = 15

FUNCTIONS = [*COMMON, "abs", "sign", "min", "max"]
ATOMS = (Precedence.ATOM, Precedence.ATOM)


def _number(value: float, number_format: str) -> Piece:
    if value and not SMALLEST <= abs(value) <= LARGEST:
        raise ExpressionError(f"Excel has no number {value!r}, only 0 and those from 2.3E-308 to 9.9E+307; rescale it")
    return number_piece(format(value, f".{DIGITS}G") if value else "0", value)


EXCEL = Syntax(
    {
        **arithmetic(space=""),
        "neg": Template("-{0}", Precedence.NEGATION, ATOMS),
        "^": Template("{0}^{1}", Precedence.POWER, ATOMS),
        **{f"^{n}": Template(f"{{0}}^{n}", Precedence.POWER, ATOMS) for n in (2, 3, 4, 5)},
        **calls({name: name.upper() for name in FUNCTIONS} | {"log": "LN"}, comma=","),
        # the operand is written twice: a formula cannot name it
        "cbrt": Template("SIGN({0})*ABS({0})^(1/3)", Precedence.PRODUCT),
    },
    literal={"pi": "PI()", "e": "EXP(1)"}.get,
    number=_number,
    max_length=MAX_LENGTH - 1,
)


def to_excel(expr: Expr, *, name: str, target: str, cells: Mapping[str, str] | None = None) -> str:
    """Return a formula with the `cells` of variables; else for the second row, columns in the library's order."""
    check_computable(expr, "an Excel formula")
    variables = expr.library.variables
    if len(variables) > MAX_COLUMNS:
        raise ExpressionError(f"the library has {len(variables)} variables, a sheet of Excel {MAX_COLUMNS} columns")
    names = cells or {each: f"{column_name(i)}{ROW}" for i, each in enumerate(variables)}
    written = write(expr, EXCEL, names=names)
    nesting = max(accumulate((letter == "(") - (letter == ")") for letter in written.text))
    if nesting > MAX_NESTING:
        raise ExpressionError(
            f"the formula nests {nesting} parentheses, Excel allows {MAX_NESTING}; "
            "split the expression by subtree(), or choose another format"
        )
    return f"={written.text}"


def column_name(index: int) -> str:
    """Return A for 0, B for 1, and so on: AA comes after Z.

    >>> column_name(0), column_name(25), column_name(26), column_name(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
