"""A Python function of plain numbers, that needs nothing but `math`.

Where `math` raises, edhie has NaN or infinity: the helpers see to it.
"""

from __future__ import annotations

from edhie.expr.exports.python_text import (
    BY_NUMBER,
    POWER_HELPERS,
    POWERS,
    POWERS_OF_VARIABLES,
    SUMS_AND_PRODUCTS,
    Frame,
    python_function,
)
from edhie.expr.exports.writer import Dialect, Spelling, call, helped
from edhie.expr.expression import Expr


def _guarded(name: str, condition: str) -> str:
    return f"def _{name}(a):\n    return math.{name}(a) if {condition} else math.nan"


def _logarithm(name: str) -> str:
    return f"def _{name}(a):\n    return math.{name}(a) if a > 0 else -math.inf if a == 0 else math.nan"


def _growing(name: str, beyond: str) -> str:
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

LEAST = "def _min(a, b):\n    return a if a <= b or math.isnan(a) else b"
GREATEST = "def _max(a, b):\n    return a if a >= b or math.isnan(a) else b"
SIGN = "def _sign(a):\n    return a if a == 0 or math.isnan(a) else math.copysign(1.0, a)"

OPERATORS: dict[str, Spelling] = {
    **SUMS_AND_PRODUCTS,
    **POWERS,
    "/": helped("_divide", arity=2),
    "inv": Spelling("_divide(1.0, {0})", helper="_divide"),
    "^": helped("_power", arity=2),
    **{name: helped(f"_{name}") for name in ("sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos")},
    **{name: helped(f"_{name}") for name in ("sinh", "cosh", "sign")},
    **{name: call(f"math.{name}") for name in ("cbrt", "atan", "tanh")},
    "abs": call("abs"),
    "min": helped("_min", arity=2),
    "max": helped("_max", arity=2),
}

DIALECT = Dialect(
    OPERATORS,
    literals={"pi": "math.pi", "e": "math.e"},
    of_variable=POWERS_OF_VARIABLES,
    by_number=BY_NUMBER,
    assign="{0} = {1}",
    helpers={
        **POWER_HELPERS,
        "_divide": DIVIDE,
        "_power": POWER,
        "_sqrt": _guarded("sqrt", "a >= 0"),
        "_exp": _growing("exp", "math.inf"),
        "_log": _logarithm("log"),
        "_log10": _logarithm("log10"),
        **{f"_{name}": _guarded(name, "math.isfinite(a)") for name in ("sin", "cos", "tan")},
        **{f"_{name}": _guarded(name, "-1 <= a <= 1") for name in ("asin", "acos")},
        "_sinh": _growing("sinh", "math.copysign(math.inf, a)"),
        "_cosh": _growing("cosh", "math.inf"),
        "_min": LEAST,
        "_max": GREATEST,
        "_sign": SIGN,
    },
)

FRAME = Frame("Python", "import math", frozenset({"math", "float", "abs"}), convert="float({0})")


def to_python(expr: Expr, *, name: str, target: str) -> str:
    """A Python function of numbers; `math.cbrt` needs Python 3.11, all else runs anywhere."""
    return python_function(expr, DIALECT, FRAME, name=name, target=target)
