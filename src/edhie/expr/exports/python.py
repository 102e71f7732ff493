"""Python functions of numbers, by `math` alone, of arrays (NumPy, PyTorch, JAX), and text that builds SymPy's.

Where `math` raises, edhie gives NaN or infinity, and so do the helpers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from edhie.expr.exports import code
from edhie.expr.expression import Expr
from edhie.expr.numerals import numeral
from edhie.expr.symbols import FUNCTIONS, OPERATORS, Precedence, Symbol
from edhie.expr.writer import Syntax, Template, number_piece, write


@dataclass(frozen=True)
class PythonLibrary:
    """A library that exported Python functions compute with."""

    name: str
    imports: str
    syntax: Syntax
    words: frozenset[str]
    """Names that the text itself uses."""
    convert: str
    """Text that converts an argument {0} to the type of the formula."""
    context: str = ""
    """A `with` line around the computation."""

    def write(self, expr: Expr, *, name: str, target: str) -> str:
        """Return a module of one function: imports, helpers, a docstring with the equation, the formula."""
        code.check_computable(expr, self.name)
        rules = code.NameRules(code.PYTHON_WORDS | self.words | self.syntax.helpers.keys())
        code.check_function_name(name, rules, self.name)
        names = code.renamed(expr.variables, rules, taken={name})
        written = write(expr, self.syntax, names=names)
        conversions = [f"{each} = {self.convert.format(each)}" for each in names.values()]
        computation = [*written.statements, f"return {written.text}"]
        if self.context:
            computation = [self.context, *(f"    {line}" for line in computation)]
        function = [
            f"def {name}({', '.join(names.values())}):",
            *_docstring(expr, target, names),
            *(f"    {line}" for line in (*conversions, *computation)),
        ]
        return "\n\n\n".join([self.imports, *written.helpers, "\n".join(function)]) + "\n"


def _docstring(expr: Expr, target: str, names: dict[str, str]) -> list[str]:
    lines = code.equation_lines(expr, target)
    notes = code.renaming_notes(names)
    if len(lines) == 1 and not notes:
        return [f'    """{lines[0]}"""']
    below = ["", *(f"    {line}" for line in notes)] if notes else []
    return [f'    """{lines[0]}', *(f"    {line}" for line in lines[1:]), *below, '    """']


POWERS = {symbol: f"_{name}" for symbol, name in code.POWERS.items()}
POWER_HELPERS = {f"_{name}": f"def _{name}(a):\n    return {text}" for name, text in code.PRODUCTS.items()}
ARITHMETIC = code.arithmetic(one="1.0", stays_plain=True)
BY_NUMBER = {name: replace(ARITHMETIC[name], stays_plain=True) for name in ("/", "inv")}  # other than 0


def python_syntax(module: str, operators: dict[str, Template], helpers: dict[str, str], wrap: str = "") -> Syntax:
    """Return the syntax of a library, given the operators and helpers that differ from those of all."""
    return Syntax(
        ARITHMETIC | code.calls(POWERS) | operators,
        variants=((lambda operands, library: bool(operands[-1].number), BY_NUMBER), code.PRODUCTS_FOR_POWERS),
        literal={"pi": f"{module}.pi", "e": f"{module}.e"}.get,
        wrap=wrap,
        assign="{0} = {1}",
        helpers=POWER_HELPERS | helpers,
    )


CONDITIONS = {"non-negative": "a >= 0", "positive": "a > 0", "unit": "-1 <= a <= 1"}


def _helper(symbol: Symbol) -> str:
    """Return the definition of a function that gives NaN or infinity where `math` raises; empty where it never does."""
    name = symbol.name
    condition = "math.isfinite(a)" if symbol.period else CONDITIONS.get(symbol.domain)
    if condition:
        otherwise = "-math.inf if a == 0 else math.nan" if symbol.domain == "positive" else "math.nan"
        return f"def _{name}(a):\n    return math.{name}(a) if {condition} else {otherwise}"
    if not symbol.overflows:
        return ""
    beyond = "math.copysign(math.inf, a)" if symbol.parity == "odd" else "math.inf"
    return f"""\
def _{name}(a):
    try:
        return math.{name}(a)
    except OverflowError:
        return {beyond}"""


DIVIDE = """\
def _divide(a, b):
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)"""

POWER = """\
def _power(a, b):
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError):
        if a < 0 and b % 1 != 0:
            return math.nan
        return math.copysign(math.inf, a) if b % 2 == 1 else math.inf"""

HELPERS = {
    "_divide": DIVIDE,
    "_power": POWER,
    **{f"_{name}": text for name in code.COMMON if (text := _helper(OPERATORS[name]))},
    "_min": "def _min(a, b):\n    return a if a <= b or math.isnan(a) else b",
    "_max": "def _max(a, b):\n    return a if a >= b or math.isnan(a) else b",
    "_sign": "def _sign(a):\n    return a if a == 0 or math.isnan(a) else math.copysign(1.0, a)",
}
# math.cbrt needs Python 3.11, all else runs anywhere
CALLED = {name: f"math.{name}" for name in (*code.COMMON, "cbrt")}
CALLED |= {name[1:]: name for name in HELPERS if name[1:] in OPERATORS} | {"/": "_divide", "^": "_power", "abs": "abs"}

PYTHON = PythonLibrary(
    "Python",
    "import math",
    python_syntax("math", code.calls(CALLED) | {"inv": Template("_divide(1.0, {0})")}, HELPERS),
    words=frozenset({"math", "float", "abs"}),
    convert="float({0})",
)

NUMPY_FUNCTIONS = {name: str(OPERATORS[name].numpy) for name in (*FUNCTIONS, "^2", "^")}
TORCH_FUNCTIONS = code.COMMON | {"abs": "abs", "^2": "square", "^": "pow"}
TORCH_HELPERS = {
    "_cbrt": "def _cbrt(a):\n    return torch.copysign(torch.abs(a) ** (1 / 3), a)",
    "_sign": "def _sign(a):\n    return torch.where(torch.isnan(a), a, torch.sign(a))",
}
# torch computes 2.5 / x as 2.5 * (1 / x), which is rounded twice, and has no minimum of a tensor and a number
TORCH_OF_TENSORS = {"/": ARITHMETIC["/"]} | code.calls({"min": "minimum", "max": "maximum"}, "torch.")

NUMPY = PythonLibrary(
    "NumPy",
    "import numpy as np",
    python_syntax("np", code.calls(NUMPY_FUNCTIONS, "np."), {}, wrap="np.float64({0})"),
    words=frozenset({"np", "float"}),
    convert="np.asarray({0}, dtype=float)",
    context='with np.errstate(all="ignore"):',
)
JAX = PythonLibrary(
    "JAX",
    "import jax.numpy as jnp",
    python_syntax("jnp", code.calls(NUMPY_FUNCTIONS, "jnp."), {}, wrap="jnp.asarray({0})"),
    words=frozenset({"jax", "jnp"}),
    convert="jnp.asarray({0})",
)
TORCH = PythonLibrary(
    "PyTorch",
    "import torch",
    python_syntax(
        "torch",
        {
            **code.calls(TORCH_FUNCTIONS, "torch."),
            **{name: replace(template, wraps_numbers=True) for name, template in TORCH_OF_TENSORS.items()},
            **code.calls({"cbrt": "_cbrt", "sign": "_sign"}),
        },
        TORCH_HELPERS,
        # a tensor without dimensions takes on the precision of those with some
        wrap="torch.tensor({0}, dtype=torch.float64)",
    ),
    words=frozenset({"torch"}),
    convert="torch.as_tensor({0})",
)


# -- SymPy -------------------------------------------------------------------------------

SYMPY_HELPERS = {"_cbrt": "def _cbrt(a):\n    return sympy.sign(a) * sympy.Abs(a) ** sympy.Rational(1, 3)"}
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
    helpers=SYMPY_HELPERS,
)


def to_sympy_code(expr: Expr, *, name: str, target: str) -> str:
    """Return Python code after which `target` is the SymPy expression; constants without values are symbols."""
    code.check_built_in(expr, "SymPy text")
    from edhie.expr.sympy_bridge import constant_names, to_sympy

    to_sympy(expr)  # raises where SymPy would never end, or has no value
    constants = constant_names(expr.library, len(expr.constants))
    unfitted = [each for each, value in zip(constants, expr.constants, strict=True) if value is None]
    rules = code.NameRules(code.PYTHON_WORDS | {"sympy", *SYMPY_HELPERS})
    symbols = code.renamed([*expr.variables, *unfitted], rules)
    result = code.renamed([target], rules, taken=set(symbols.values()))
    written = write(expr, SYMPY, names=symbols, constants=[symbols.get(each, each) for each in constants])
    lines = [f'{own} = sympy.Symbol("{each}", real=True)' for each, own in symbols.items()]
    comment = [f"# {line}" for line in (*code.equation_lines(expr, target), *code.renaming_notes(result))]
    body = [*lines, *comment, *written.statements, f"{result[target]} = {written.text}"]
    spaced = "\n\n\n" if written.helpers else "\n\n"
    return spaced.join(["import sympy", *written.helpers, "\n".join(body)]) + "\n"
