"""Compiled: the operators on a block of rows, as loops that become vector instructions.

Division by zero, roots and logarithms of negative numbers give inf or NaN, as IEEE 754 says:
nothing is protected. `out` never overlaps an operand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate import elementary
from edhie.expr.jit import jit, jit_inline
from edhie.expr.symbols import Opcode

Block = NDArray[np.float64]

ADD, SUB, MUL, DIV, POW = map(int, (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.DIV, Opcode.POW))
NEG, INV, SQRT, CBRT, ABS = map(int, (Opcode.NEG, Opcode.INV, Opcode.SQRT, Opcode.CBRT, Opcode.ABS))
POW2, POW3, POW4, POW5 = map(int, (Opcode.POW2, Opcode.POW3, Opcode.POW4, Opcode.POW5))
EXP, LOG, LOG10 = map(int, (Opcode.EXP, Opcode.LOG, Opcode.LOG10))
SIN, COS, TAN = map(int, (Opcode.SIN, Opcode.COS, Opcode.TAN))
ASIN, ACOS, ATAN = map(int, (Opcode.ASIN, Opcode.ACOS, Opcode.ATAN))
SINH, COSH, TANH = map(int, (Opcode.SINH, Opcode.COSH, Opcode.TANH))
MIN, MAX, SIGN = map(int, (Opcode.MIN, Opcode.MAX, Opcode.SIGN))


@jit
def _add(a: Block, b: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = a[i] + b[i]


@jit
def _subtract(a: Block, b: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = a[i] - b[i]


@jit
def _multiply(a: Block, b: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = a[i] * b[i]


@jit
def _divide(a: Block, b: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = a[i] / b[i]


@jit
def _negate(a: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = -a[i]


@jit
def _square(a: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = a[i] * a[i]


@jit
def _cube(a: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = a[i] * a[i] * a[i]


@jit
def _fourth(a: Block, out: Block) -> None:
    for i in range(len(out)):
        squared = a[i] * a[i]
        out[i] = squared * squared


@jit
def _fifth(a: Block, out: Block) -> None:
    for i in range(len(out)):
        squared = a[i] * a[i]
        out[i] = squared * squared * a[i]


@jit
def _invert(a: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = 1.0 / a[i]


@jit
def _root(a: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = np.sqrt(a[i])


@jit
def _magnitude(a: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = abs(a[i])


@jit
def _least(a: Block, b: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = a[i] if a[i] <= b[i] or a[i] != a[i] else b[i]


@jit
def _greatest(a: Block, b: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = a[i] if a[i] >= b[i] or a[i] != a[i] else b[i]


@jit
def _signs(a: Block, out: Block) -> None:
    for i in range(len(out)):
        out[i] = a[i] if a[i] == 0 or a[i] != a[i] else np.copysign(1.0, a[i])


@jit_inline
def apply(opcode: int, a: Block, b: Block, out: Block) -> None:
    """Put the operator's result into `out`; operators of one operand look at `a` alone."""
    if opcode == ADD:
        _add(a, b, out)
    elif opcode == SUB:
        _subtract(a, b, out)
    elif opcode == MUL:
        _multiply(a, b, out)
    elif opcode == DIV:
        _divide(a, b, out)
    elif opcode == POW:
        elementary.power(a, b, out)
    elif opcode == NEG:
        _negate(a, out)
    elif opcode == POW2:
        _square(a, out)
    elif opcode == POW3:
        _cube(a, out)
    elif opcode == POW4:
        _fourth(a, out)
    elif opcode == POW5:
        _fifth(a, out)
    elif opcode == INV:
        _invert(a, out)
    elif opcode == SQRT:
        _root(a, out)
    elif opcode == CBRT:
        elementary.cbrt(a, out)
    elif opcode == EXP:
        elementary.exp(a, out)
    elif opcode == LOG:
        elementary.log(a, out)
    elif opcode == LOG10:
        elementary.log10(a, out)
    elif opcode == ABS:
        _magnitude(a, out)
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
        _least(a, b, out)
    elif opcode == MAX:
        _greatest(a, b, out)
    elif opcode == SIGN:
        _signs(a, out)
    else:
        out[:] = np.nan
