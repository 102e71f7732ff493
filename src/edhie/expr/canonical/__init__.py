"""The canonical form, in which expressions that differ only in writing are equal; fast enough for every candidate."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from edhie.expr.expression import Expr
from edhie.expr.forest import Forest
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import NUMBER, OPERATORS

NEEDED = ("+", "-", "*", "/", "^", "neg")


@lru_cache(maxsize=64)
def canonical_library(library: SymbolLibrary) -> SymbolLibrary:
    """Return the library of canonical forms over `library`: extended by arithmetic and any number."""
    return library.extended(*(OPERATORS[name] for name in NEEDED), NUMBER)


def canonical(forest: Forest) -> Forest:
    """Return each expression in canonical form: constants folded and merged, like terms collected, sorted.

    Sums and products are flattened, sorted and their like parts collected (x - x is 0, x*x is x^2, x/x is 1); signs
    move outwards (cos(-x) is cos(x)); numbers are folded. Unfitted constants absorb numbers and one another (c*c, c + 2
    and c/3 are c); each `c` may be any number, limits included. Constants that have values count as numbers.

    Wherever the input is defined the result has the same value, up to rounding; it may be defined in more places. What
    cannot be folded to finite numbers is left as it is.
    """
    from edhie.expr.canonical.tokens import canonical_arrays

    library = canonical_library(forest.library)
    names = (*NEEDED, NUMBER.name, library.constant, "^2", "^3", "^4", "^5")
    ids = np.array([library.ids.get(name, -1) if name else -1 for name in names], dtype=np.int64)
    if library["neg"].arity == 0:  # a variable has that name
        ids[NEEDED.index("neg")] = -1
    given = forest.tokens, forest.offsets, forest.values, forest.value_offsets
    table = library.arities, library.opcodes, library.literal_values, library.has_slot
    return Forest(library, *canonical_arrays(*given, *table, ids))


def canonical_expr(expr: Expr) -> Expr:
    """Return the canonical form of one expression.

    >>> from edhie.expr import parse
    >>> str(canonical_expr(parse("x1*2 + (x0 - x0) - (-x1)*x1/x1 + c*c")))
    '3*x1 + c'
    """
    return canonical(Forest.from_exprs([expr]))[0]
