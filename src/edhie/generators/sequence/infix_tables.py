"""How the symbols of a library are written in infix, as the arrays that compiled loops take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edhie.expr.infix import LEFT_ASSOCIATIVE
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import Precedence, Symbol
from edhie.generators.sequence import infix_kernels as kernels

STYLES = {"leaf": kernels.LEAF, "function": kernels.FUNCTION, "prefix": kernels.PREFIX, "postfix": kernels.POSTFIX}
MARKS = {"(": kernels.OPEN, ")": kernels.CLOSE, ",": kernels.COMMA, "": kernels.PADDING}


def symbols_of(library: SymbolLibrary, vocabulary: Sequence[str]) -> kernels.Symbols:
    """The tables of a library, whose symbols open the vocabulary; marks follow."""
    rows = library.symbols
    marks = list(vocabulary[len(rows) :])
    is_number = [_is_number(symbol) for symbol in rows]
    return kernels.Symbols(
        styles=np.array([_style(symbol) for symbol in rows], np.int64),
        arities=library.arities.astype(np.int64),
        precedences=np.array([_precedence(symbol) for symbol in rows], np.int64),
        is_number=np.array(is_number, np.bool_),
        has_value=np.array([symbol.kind == "number" for symbol in rows], np.bool_),
        names=np.array([*range(len(rows)), *(MARKS[mark] for mark in marks)], np.int64),
        marks=np.array([len(rows) + marks.index(mark) if mark in marks else -1 for mark in MARKS], np.int64),
    )


def _style(symbol: Symbol) -> int:
    if symbol.style == "infix":
        return kernels.LEFT if symbol.name in LEFT_ASSOCIATIVE else kernels.RIGHT
    return STYLES[symbol.style]


def _is_number(symbol: Symbol) -> bool:
    return symbol.kind == "literal" and symbol.name[-1].isdigit()


def _precedence(symbol: Symbol) -> int:
    """How tightly what is written binds; a negative number binds like a negation: (-3)^2."""
    is_negative = _is_number(symbol) and symbol.name.startswith("-")
    return Precedence.NEGATION if is_negative else symbol.precedence
