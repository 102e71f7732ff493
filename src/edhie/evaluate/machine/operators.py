"""Compiled: the operators and their derivatives on a block of rows, as loops that become vector instructions.

Division by zero, roots and logarithms of negative numbers give inf or NaN, as IEEE 754 says: nothing is protected.
Where a derivative does not exist (abs at 0, min of equals), it is one of the one-sided derivatives. `out` never
overlaps an operand. A new operator needs one branch in `apply` and one in `left_gradient` (and `right_gradient`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.machine import elementary
from edhie.expr.jit import jit_inline, jit_inner
from edhie.expr.symbols import Opcode

Block = NDArray[np.float64]
LOG_10 = float(np.log(10.0))

ADD, SUB, MUL, DIV, POW = map(int, (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.DIV, Opcode.POW))
NEG, INV, SQRT, CBRT, ABS = map(int, (Opcode.NEG, Opcode.INV, Opcode.SQRT, Opcode.CBRT, Opcode.ABS))
POW2, POW3, POW4, POW5 = map(int, (Opcode.POW2, Opcode.POW3, Opcode.POW4, Opcode.POW5))
EXP, LOG, LOG10 = map(int, (Opcode.EXP, Opcode.LOG, Opcode.LOG10))
SIN, COS, TAN = map(int, (Opcode.SIN, Opcode.COS, Opcode.TAN))
ASIN, ACOS, ATAN = map(int, (Opcode.ASIN, Opcode.ACOS, Opcode.ATAN))
SINH, COSH, TANH = map(int, (Opcode.SINH, Opcode.COSH, Opcode.TANH))
MIN, MAX, SIGN = map(int, (Opcode.MIN, Opcode.MAX, Opcode.SIGN))


@jit_inline
def apply(opcode: int, a: Block, b: Block, out: Block) -> None:
    """Put the operator's result into `out`; operators of one operand look at `a` alone."""
    n = len(out)
    if opcode == ADD:
        for i in range(n):
            out[i] = a[i] + b[i]
    elif opcode == SUB:
        for i in range(n):
            out[i] = a[i] - b[i]
    elif opcode == MUL:
        for i in range(n):
            out[i] = a[i] * b[i]
    elif opcode == DIV:
        for i in range(n):
            out[i] = a[i] / b[i]
    elif opcode == POW:
        elementary.power(a, b, out)
    elif opcode == NEG:
        for i in range(n):
            out[i] = -a[i]
    elif opcode == POW2:
        for i in range(n):
            out[i] = a[i] * a[i]
    elif opcode == POW3:
        for i in range(n):
            out[i] = a[i] * a[i] * a[i]
    elif opcode == POW4:
        for i in range(n):
            out[i] = (a[i] * a[i]) * (a[i] * a[i])
    elif opcode == POW5:
        for i in range(n):
            out[i] = (a[i] * a[i]) * (a[i] * a[i]) * a[i]
    elif opcode == INV:
        for i in range(n):
            out[i] = 1.0 / a[i]
    elif opcode == SQRT:
        for i in range(n):
            out[i] = np.sqrt(a[i])
    elif opcode == CBRT:
        elementary.cbrt(a, out)
    elif opcode == EXP:
        elementary.exp(a, out)
    elif opcode == LOG:
        elementary.log(a, out)
    elif opcode == LOG10:
        elementary.log10(a, out)
    elif opcode == ABS:
        for i in range(n):
            out[i] = abs(a[i])
    elif opcode == SIN:
        elementary.sin(a, out)
    elif opcode == COS:
        elementary.cos(a, out)
    elif opcode == TAN:
        elementary.tan(a, out)
    elif opcode == ASIN:
        elementary.asin(a, out)
    elif opcode == ACOS:
        elementary.acos(a, out)
    elif opcode == ATAN:
        elementary.atan(a, out)
    elif opcode == SINH:
        elementary.sinh(a, out)
    elif opcode == COSH:
        elementary.cosh(a, out)
    elif opcode == TANH:
        elementary.tanh(a, out)
    elif opcode == MIN:
        for i in range(n):
            out[i] = a[i] if a[i] <= b[i] or a[i] != a[i] else b[i]
    elif opcode == MAX:
        for i in range(n):
            out[i] = a[i] if a[i] >= b[i] or a[i] != a[i] else b[i]
    elif opcode == SIGN:
        for i in range(n):
            out[i] = a[i] if a[i] == 0 or a[i] != a[i] else np.copysign(1.0, a[i])
    else:
        out[:] = np.nan


@jit_inline
def left_gradient(opcode: int, a: Block, b: Block, value: Block, back: Block, out: Block) -> None:
    """Put the gradient of the first operand into `out`; `back` is that of the operator's `value`."""
    n = len(out)
    if opcode in (ADD, SUB):
        for i in range(n):
            out[i] = back[i]
    elif opcode == MUL:
        for i in range(n):
            out[i] = back[i] * b[i]
    elif opcode == DIV:
        for i in range(n):
            out[i] = back[i] / b[i]
    elif opcode == POW:
        base_gradient(a, b, value, back, out)
    elif opcode == NEG:
        for i in range(n):
            out[i] = -back[i]
    elif opcode == POW2:
        for i in range(n):
            out[i] = back[i] * (2.0 * a[i])
    elif opcode == POW3:
        for i in range(n):
            out[i] = back[i] * (3.0 * a[i] * a[i])
    elif opcode == POW4:
        for i in range(n):
            out[i] = back[i] * (4.0 * a[i] * a[i] * a[i])
    elif opcode == POW5:
        for i in range(n):
            out[i] = back[i] * (5.0 * (a[i] * a[i]) * (a[i] * a[i]))
    elif opcode == INV:
        for i in range(n):
            out[i] = -back[i] * value[i] * value[i]
    elif opcode == SQRT:
        for i in range(n):
            out[i] = 0.5 * back[i] / value[i]
    elif opcode == CBRT:
        for i in range(n):
            out[i] = back[i] / (3.0 * value[i] * value[i])
    elif opcode == EXP:
        for i in range(n):
            out[i] = back[i] * value[i]
    elif opcode == LOG:
        for i in range(n):
            out[i] = back[i] / a[i]
    elif opcode == LOG10:
        for i in range(n):
            out[i] = back[i] / (LOG_10 * a[i])
    elif opcode == ABS:
        for i in range(n):
            out[i] = np.copysign(1.0, a[i]) * back[i]
    elif opcode == SIN:
        elementary.cos(a, out)
        for i in range(n):
            out[i] *= back[i]
    elif opcode == COS:
        elementary.sin(a, out)
        for i in range(n):
            out[i] *= -back[i]
    elif opcode == TAN:
        for i in range(n):
            out[i] = back[i] * (1.0 + value[i] * value[i])
    elif opcode == ASIN:
        for i in range(n):
            out[i] = back[i] / np.sqrt((1.0 - a[i]) * (1.0 + a[i]))
    elif opcode == ACOS:
        for i in range(n):
            out[i] = -back[i] / np.sqrt((1.0 - a[i]) * (1.0 + a[i]))
    elif opcode == ATAN:
        for i in range(n):
            out[i] = back[i] / (1.0 + a[i] * a[i])
    elif opcode == SINH:
        elementary.cosh(a, out)
        for i in range(n):
            out[i] *= back[i]
    elif opcode == COSH:
        elementary.sinh(a, out)
        for i in range(n):
            out[i] *= back[i]
    elif opcode == TANH:
        for i in range(n):
            out[i] = back[i] * (1.0 - value[i]) * (1.0 + value[i])
    elif opcode in (MIN, MAX):
        for i in range(n):
            out[i] = back[i] if value[i] == a[i] else 0.0
    elif opcode == SIGN:
        out[:] = 0.0
    else:
        out[:] = np.nan


@jit_inline
def right_gradient(opcode: int, a: Block, b: Block, value: Block, back: Block, out: Block) -> None:
    """Put the gradient of the second operand into `out`."""
    n = len(out)
    if opcode == ADD:
        for i in range(n):
            out[i] = back[i]
    elif opcode == SUB:
        for i in range(n):
            out[i] = -back[i]
    elif opcode == MUL:
        for i in range(n):
            out[i] = back[i] * a[i]
    elif opcode == DIV:
        for i in range(n):
            out[i] = -back[i] * value[i] / b[i]
    elif opcode == POW:
        elementary.log(a, out)
        for i in range(n):  # 0^b stays 0 around a b > 0
            out[i] = 0.0 if a[i] == 0.0 and b[i] > 0.0 else back[i] * value[i] * out[i]
    else:  # MIN, MAX
        for i in range(n):
            out[i] = back[i] if value[i] != a[i] else 0.0


@jit_inner
def base_gradient(a: Block, b: Block, value: Block, back: Block, out: Block) -> None:
    """Put the gradient of a power's base, b·a^(b - 1), into `out`; at a = 0 it is not b·a^b/a."""
    for i in range(len(out)):
        out[i] = back[i] * b[i] * value[i] / a[i]
    for i in range(len(out)):
        if a[i] == 0.0:
            out[i] = 0.0 if b[i] == 0.0 else back[i] * b[i] * a[i] ** (b[i] - 1.0)
