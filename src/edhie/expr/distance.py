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

from edhie.arrays import Indices
from edhie.errors import ExpressionError
from edhie.expr.expression import Expr
from edhie.expr.forest import Forest
from edhie.expr.numerals import is_numeral
from edhie.expr.symbols import Symbol

Labels = NDArray[np.int32]
MAX_LABEL = 0x10FFFF  # labels are compared as characters


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
    if len(a) > 1 and max(in_a.max(initial=0), in_b.max(initial=0)) > MAX_LABEL:  # too many numbers
        halves = slice(len(a) // 2), slice(len(a) // 2, None)
        return np.concatenate([edit_distances(a[half], b[half]) for half in halves])
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


def _labels(a: Forest, b: Forest) -> tuple[Labels, Labels]:
    """Return an integer for each node of `a` and `b`; equal tokens have equal integers."""
    if len(a) != len(b):
        raise ExpressionError(
            f"distances are taken pair by pair, but the forests have {len(a)} and {len(b)} expressions; "
            "repeat or take() one of them to the other's length"
        )
    codes: dict[Hashable, int] = {}
    labels, values = [], []
    for forest in (a, b):
        library, tokens = forest.library, forest.tokens
        own = [codes.setdefault(_key(symbol), len(codes)) for symbol in library.symbols]
        labels.append(np.array(own, np.int32)[tokens])
        values.append(library.literal_values[tokens])
        values[-1][library.has_slot[tokens]] = forest.values
    joined, numbers = np.concatenate(labels), np.concatenate(values)
    is_number = joined == codes.get("number", -1)
    joined[is_number] = len(codes) + np.unique(numbers[is_number], return_inverse=True)[1]
    return joined[: len(a.tokens)], joined[len(a.tokens) :]


def _key(symbol: Symbol) -> Hashable:
    """Return a key that is equal for equal symbols; all numbers share one, and so do all fitted constants."""
    if symbol.kind == "number" or (symbol.kind == "literal" and is_numeral(symbol.name)):
        return "number"
    return "constant" if symbol.kind == "constant" else (symbol.kind, symbol.name, symbol.arity)


def _texts(labels: Labels, offsets: Indices) -> list[str]:
    """Return the labels of each expression as a string, which rapidfuzz reads fastest."""
    text = labels.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:end] for start, end in pairwise(offsets.tolist())]
