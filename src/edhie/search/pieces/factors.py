"""exp(a + b·x) written as a factor times exp(b·x), which says more to a reader and is no longer."""

from __future__ import annotations

import math

import numpy as np

from edhie.expr import Expr, Forest
from edhie.expr.symbols import Opcode

LARGEST = 300.0  # summand that becomes a factor


def with_factors(forest: Forest) -> Forest:
    """Constants that are added inside of exp become factors, where the expression gets no longer by it."""
    library = forest.library
    opcodes = library.opcodes[forest.tokens]
    exp_over_sum = np.flatnonzero(
        (opcodes[:-1] == Opcode.EXP) & ((opcodes[1:] == Opcode.ADD) | (opcodes[1:] == Opcode.SUB))
    )
    if len(exp_over_sum) == 0 or library.constant is None or "*" not in library:
        return forest
    changed = dict.fromkeys(forest.owners[exp_over_sum].tolist())
    exprs = {k: _with_factor(forest[k]) for k in changed}
    rewritten = Forest.from_exprs(list(exprs.values()), library)
    places = np.arange(len(forest))
    places[list(exprs)] = len(forest) + np.arange(len(exprs))
    return Forest.concatenate([forest, rewritten]).take(places)


def _with_factor(expr: Expr) -> Expr:
    """One expression so rewritten, as often as it can be."""
    library, constant = expr.library, expr.library.constant
    tokens, values = list(expr.tokens), list(expr.constants)
    at = 0
    while at + 2 < len(tokens):
        is_sum = tokens[at] == "exp" and tokens[at + 1] in ("+", "-") and tokens[at + 2] == constant
        slot = sum(token == constant for token in tokens[: at + 2])
        if not is_sum or (value := values[slot]) is None or abs(value) > LARGEST:
            at += 1
            continue
        if tokens[at + 1] == "-" and not _negate(tokens, values, at + 3, slot + 1, constant):
            at += 1
            continue
        tokens[at : at + 3] = ["*", constant or "", "exp"]
        values[slot] = math.exp(value)
        at += 3
    return Expr.trusted(library, tuple(tokens), tuple(values))


def _negate(tokens: list[str], values: list[float | None], at: int, slot: int, constant: str | None) -> bool:
    """Turn the sign of the operand that begins here, if that takes no more symbols; whether it did."""
    while tokens[at] in ("*", "/"):  # to the first factor
        at += 1
    value = values[slot] if tokens[at] == constant else None
    if value is None:
        return False
    values[slot] = -value
    return True
