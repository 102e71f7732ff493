"""Compiled: the operators and their derivatives on a block of rows, as loops that become vector instructions.

Division by zero, roots and logarithms of negative numbers give inf or NaN, as IEEE 754 says: nothing is protected.
Where a derivative does not exist (abs at 0, min of equals), it is one of the one-sided derivatives. `out` never
overlaps an operand. A new operator is one line of `FORMULAS`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.machine import elementary  # noqa: F401 -- called by formulas
from edhie.expr.jit import jit_inline, jit_inner
from edhie.expr.symbols import Opcode

Block = NDArray[np.float64]
LOG_10 = float(np.log(10.0))
ADD, SUB, MUL, DIV, POW, NEG = map(int, (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.DIV, Opcode.POW, Opcode.NEG))

FORMULAS: dict[str, tuple[str, ...]] = {
    "ADD": ("a + b", "back", "back"),
    "SUB": ("a - b", "back", "-back"),
    "MUL": ("a * b", "back * b", "back * a"),
    "DIV": ("a / b", "back / b", "-back * value / b"),
    "POW": (
        "elementary.power(a, b, out)",
        "base_gradient(a, b, value, back, out)",
        "elementary.log(a, out); 0.0 if a == 0.0 and b > 0.0 else back * value * out",  # 0^b stays 0 around a b > 0
    ),
    "MIN": ("a if a <= b or a != a else b", "back if value == a else 0.0", "back if value != a else 0.0"),
    "MAX": ("a if a >= b or a != a else b", "back if value == a else 0.0", "back if value != a else 0.0"),
    "NEG": ("-a", "-back"),
    "POW2": ("a * a", "back * (2.0 * a)"),
    "POW3": ("a * a * a", "back * (3.0 * a * a)"),
    "POW4": ("(a * a) * (a * a)", "back * (4.0 * a * a * a)"),
    "POW5": ("(a * a) * (a * a) * a", "back * (5.0 * (a * a) * (a * a))"),
    "INV": ("1.0 / a", "-back * value * value"),
    "SQRT": ("np.sqrt(a)", "0.5 * back / value"),
    "CBRT": ("elementary.cbrt(a, out)", "back / (3.0 * value * value)"),
    "EXP": ("elementary.exp(a, out)", "back * value"),
    "LOG": ("elementary.log(a, out)", "back / a"),
    "LOG10": ("elementary.log10(a, out)", "back / (LOG_10 * a)"),
    "ABS": ("abs(a)", "np.copysign(1.0, a) * back"),
    "SIN": ("elementary.sin(a, out)", "elementary.cos(a, out); out * back"),
    "COS": ("elementary.cos(a, out)", "elementary.sin(a, out); out * -back"),
    "TAN": ("elementary.tan(a, out)", "back * (1.0 + value * value)"),
    "ASIN": ("elementary.asin(a, out)", "back / np.sqrt((1.0 - a) * (1.0 + a))"),
    "ACOS": ("elementary.acos(a, out)", "-back / np.sqrt((1.0 - a) * (1.0 + a))"),
    "ATAN": ("elementary.atan(a, out)", "back / (1.0 + a * a)"),
    "SINH": ("elementary.sinh(a, out)", "elementary.cosh(a, out); out * back"),
    "COSH": ("elementary.cosh(a, out)", "elementary.sinh(a, out); out * back"),
    "TANH": ("elementary.tanh(a, out)", "back * (1.0 - value) * (1.0 + value)"),
    "SIGN": ("a if a == 0 or a != a else np.copysign(1.0, a)", "0.0"),
}
"""By opcode: its value, the gradient of its first operand, and that of its second; `back` is that of its value.

Each is a formula for one row, a call that computes the whole block `out`, or such a call and then a formula.
"""


@jit_inner
def base_gradient(a: Block, b: Block, value: Block, back: Block, out: Block) -> None:
    """Put the gradient of a power's base, b·a^(b - 1), into `out`; at a = 0 it is not b·a^b/a."""
    for i in range(len(out)):
        out[i] = back[i] * b[i] * value[i] / a[i]
    for i in range(len(out)):
        if a[i] == 0.0:
            out[i] = 0.0 if b[i] == 0.0 else back[i] * b[i] * a[i] ** (b[i] - 1.0)


def _switch(name: str, place: int, blocks: str) -> Any:
    """Return a function of an opcode and blocks that computes its formula at `place`; NaN for another opcode."""
    cases = []
    for opcode, formulas in FORMULAS.items():
        for each in formulas[place : place + 1]:
            steps = [step if step.endswith("out)") else _loop(step) for step in each.split("; ")]
            cases.append("\n        ".join([f"if opcode == {int(Opcode[opcode])}:", *steps]))
    source = f"def {name}(opcode, {blocks}, out):\n    " + "\n    el".join(cases) + "\n    else: out[:] = np.nan"
    names = dict(globals())
    exec(compile(source, __file__, "exec"), names)
    return jit_inline(names[name])


def _loop(formula: str) -> str:
    in_row = re.sub(r"\b(a|b|value|back|out)\b", r"\1[i]", formula)
    return f"for i in range(len(out)): out[i] = {in_row}"


apply = _switch("apply", 0, "a, b")
left_gradient = _switch("left_gradient", 1, "a, b, value, back")
right_gradient = _switch("right_gradient", 2, "a, b, value, back")
