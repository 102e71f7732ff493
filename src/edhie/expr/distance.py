"""Distances of two expressions: by their postfix tokens or by their trees.

The edit distance of postfix tokens is the paper's reconstruction error. Both distances count the tokens (or nodes) to
insert, delete or replace. Tokens are equal if they are the same symbol, in whatever library, or numbers of the same
value. All fitted constants are equal: structure is compared, not the fit.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from edhie.errors import ExpressionError
from edhie.expr.expression import Expr
from edhie.expr.forest import Forest, Indices
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import is_numeral
from edhie.expr.symbols import NUMBER, Symbol

Labels = NDArray[np.int32]


def edit_distance(a: Expr, b: Expr) -> int:
    """Return the Levenshtein distance of two expressions' postfix tokens.

    >>> from edhie.expr import parse
    >>> edit_distance(parse("x + sin(y)"), parse("x - y"))  # x y sin + and x y -
    2
    """
    return int(edit_distances(Forest.from_exprs([a]), Forest.from_exprs([b]))[0])


def edit_distances(a: Forest, b: Forest) -> Indices:
    """Return the edit distance of each expression of `a` to the one at the same place in `b`."""
    from rapidfuzz.distance import Levenshtein

    in_a, in_b = _labels(a, b)
    pairs = map(Levenshtein.distance, _texts(in_a[a.postorder], a.offsets), _texts(in_b[b.postorder], b.offsets))
    return np.fromiter(pairs, np.int64, len(a))


def tree_distance(a: Expr, b: Expr) -> int:
    """Return the ordered tree edit distance: the fewest nodes to insert, delete or relabel.

    >>> from edhie.expr import parse
    >>> tree_distance(parse("x + sin(y)"), parse("x - y"))
    2
    """
    return int(tree_distances(Forest.from_exprs([a]), Forest.from_exprs([b]))[0])


def tree_distances(a: Forest, b: Forest) -> Indices:
    """Return the tree edit distance of each expression of `a` to the one at the same place in `b`."""
    from edhie.expr import tree_distance_kernels as kernels

    sides = (
        kernels.Trees(labels[forest.postorder], forest.subtree_sizes[forest.postorder], forest.offsets)
        for forest, labels in zip((a, b), _labels(a, b), strict=True)
    )
    return kernels.zhang_shasha(*sides)


# -- one label for every token --------------------------------------------------------


def _key(symbol: Symbol) -> Hashable:
    """Return a key that is equal for equal symbols; for a numeric literal it is the value."""
    if symbol.kind == "literal" and is_numeral(symbol.name):
        return symbol.value
    return "constant" if symbol.kind == "constant" else (symbol.kind, symbol.name, symbol.arity)


def _labels(a: Forest, b: Forest) -> tuple[Labels, Labels]:
    """Return for each node of `a` and `b` an integer that is equal where, within a pair, the tokens are the same."""
    from edhie.expr import tree_distance_kernels as kernels

    if len(a) != len(b):
        raise ExpressionError(
            f"distances are taken pair by pair, but the forests have {len(a)} and {len(b)} expressions; "
            "repeat or take() one of them to the other's length"
        )
    codes_a, codes_b, known, first_number = _codes(a.library, b.library)
    return kernels.label_pairs(
        kernels.Side(a.tokens, a.offsets, a.values, a.value_offsets, codes_a, a.library.has_slot),
        kernels.Side(b.tokens, b.offsets, b.values, b.value_offsets, codes_b, b.library.has_slot),
        known,
        first_number,
    )


def _codes(a: SymbolLibrary, b: SymbolLibrary) -> tuple[Labels, Labels, NDArray[np.float64], int]:
    """Return the codes of both libraries' tokens (-1 for `#`), the numbers that have codes, and the first such code."""
    keys_a, keys_b = ([_key(symbol) for symbol in library.symbols] for library in (a, b))
    # numeric literals come last, and the codes of the other numbers of a pair follow them
    keys = sorted(dict.fromkeys(keys_a + keys_b), key=lambda key: isinstance(key, float))
    code = {key: i for i, key in enumerate(keys)} | {_key(NUMBER): -1}
    known = np.array([key for key in keys if isinstance(key, float)], np.float64)
    codes_a, codes_b = (np.array([code[key] for key in part], np.int32) for part in (keys_a, keys_b))
    return codes_a, codes_b, known, len(keys) - len(known)


def _texts(labels: Labels, offsets: Indices) -> list[str]:
    """Return the labels of each expression as a string, which rapidfuzz reads fastest."""
    # labels count from 0 anew for each pair, so they stay far below the end of Unicode
    text = labels.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:end] for start, end in pairwise(offsets.tolist())]
