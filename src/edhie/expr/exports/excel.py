"""A formula for a spreadsheet: the data's columns are A, B, … in order, the first row of numbers is the second.

Excel goes its own ways: -A2^2 is (-A2)^2 there, a^b^c is (a^b)^c, LOG is the decimal logarithm, a number has 15
digits. What is NaN or infinite in edhie is an error there (#NUM!, #DIV/0!). It has no 0^0, no sine beyond 2^27, takes
(-8)^(1/3) for -2, and sets to 0 what is nearly so at the end of a subtraction.
"""

from __future__ import annotations

from edhie.errors import ExpressionError
from edhie.expr.exports.writer import Dialect, Spelling, check_computable, infix, write
from edhie.expr.expression import Expr
from edhie.expr.symbols import Precedence

ROW = 2  # below the names of the columns
MAX_COLUMNS = 16_384
MAX_LENGTH = 8192
MAX_NESTING = 64
SMALLEST, LARGEST = 2.2250738585072014e-308, 9.99999999999999e307
DIGITS = 15

FUNCTIONS = {
    **{name: name.upper() for name in ("sqrt", "exp", "log10", "abs", "sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: name.upper() for name in ("sinh", "cosh", "tanh", "sign")},
    "log": "LN",
}
ATOMS = (Precedence.ATOM, Precedence.ATOM)


def _power(exponent: str) -> Spelling:
    return Spelling(f"{{0}}^{exponent}", Precedence.POWER, ATOMS)


OPERATORS: dict[str, Spelling] = {
    "+": infix("+", Precedence.SUM),
    "-": infix("-", Precedence.SUM),
    "*": infix("*", Precedence.PRODUCT),
    "/": infix("/", Precedence.PRODUCT),
    "neg": Spelling("-{0}", Precedence.NEGATION, ATOMS),
    "inv": Spelling("1/{0}", Precedence.PRODUCT, (Precedence.PRODUCT + 1,)),
    "^": _power("{1}"),
    **{f"^{n}": _power(str(n)) for n in (2, 3, 4, 5)},
    **{name: Spelling(f"{function}({{0}})") for name, function in FUNCTIONS.items()},
    # the operand is written twice: there is nothing to give it a name with
    "cbrt": Spelling("SIGN({0})*ABS({0})^(1/3)", Precedence.PRODUCT),
    "min": Spelling("MIN({0},{1})"),
    "max": Spelling("MAX({0},{1})"),
}


def _number(value: float) -> str:
    if value and not SMALLEST <= abs(value) <= LARGEST:
        raise ExpressionError(f"Excel has no number {value!r}, only 0 and those from 2.3E-308 to 9.9E+307; rescale it")
    return format(value, f".{DIGITS}G") if value else "0"


DIALECT = Dialect(OPERATORS, literals={"pi": "PI()", "e": "EXP(1)"}, number=_number, max_length=MAX_LENGTH - 1)


def to_excel(expr: Expr, *, name: str, target: str) -> str:
    """A formula for the second row; a variable stands in the column that the library has it in."""
    check_computable(expr, "an Excel formula")
    written = write(expr, DIALECT, {each: f"{column}{ROW}" for each, column in columns(expr).items()})
    nesting = _nesting(written.value)
    if nesting > MAX_NESTING:
        raise ExpressionError(
            f"the formula nests {nesting} parentheses, Excel allows {MAX_NESTING}; "
            "split the expression by subtree(), or choose another format"
        )
    return f"={written.value}"


def columns(expr: Expr) -> dict[str, str]:
    """The column of each variable of the expression's library."""
    variables = expr.library.variables
    if len(variables) > MAX_COLUMNS:
        raise ExpressionError(f"the library has {len(variables)} variables, a sheet of Excel {MAX_COLUMNS} columns")
    return {variable: column_name(i) for i, variable in enumerate(variables)}


def column_name(index: int) -> str:
    """A for 0, B for 1, and so on: AA comes after Z.

    >>> column_name(0), column_name(25), column_name(26), column_name(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _nesting(formula: str) -> int:
    depth = deepest = 0
    for letter in formula:
        depth += (letter == "(") - (letter == ")")
        deepest = max(deepest, depth)
    return deepest
