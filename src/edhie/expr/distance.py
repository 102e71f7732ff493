"""Distances of two expressions: by their postfix tokens or by their trees.

The edit distance of postfix tokens is the paper's reconstruction error. Both distances count the tokens (or nodes) to
insert, delete or replace. Tokens are equal if they are the same symbol, in whatever library, or numbers of the same
value. All fitted constants are equal: structure is compared, not the fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from itertools import count

import numpy as np

from edhie.arrays import Indices
from edhie.errors import ExpressionError
from edhie.expr.expression import Expr
from edhie.expr.forest import Forest


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

    if len(a) != len(b):
        raise ExpressionError(
            f"distances are taken pair by pair, but the forests have {len(a)} and {len(b)} expressions; "
            "repeat or take() one of them to the other's length"
        )
    codes = defaultdict[Hashable, int](count().__next__)
    pairs = ((_postfix(one, codes)[0], _postfix(other, codes)[0]) for one, other in zip(a, b, strict=True))
    return np.fromiter((Levenshtein.distance(*pair) for pair in pairs), np.int64, len(a))


def tree_distance(a: Expr, b: Expr) -> int:
    """Return the ordered tree edit distance: the fewest nodes to insert, delete or relabel.

    By the algorithm of Zhang and Shasha (SIAM J. Comput. 18, 1989); the published Python packages are no longer kept.

    >>> from edhie.expr import parse
    >>> tree_distance(parse("x + sin(y)"), parse("x - y"))
    2
    """
    codes = defaultdict[Hashable, int](count().__next__)
    (labels_a, first_a), (labels_b, first_b) = _postfix(a, codes), _postfix(b, codes)
    trees = np.zeros((a.size, b.size), np.int64)  # of the subtrees that end at two nodes
    # a keyroot is the highest of the nodes that share a first leaf
    for root_a in sorted({first: i for i, first in enumerate(first_a)}.values()):
        for root_b in sorted({first: j for j, first in enumerate(first_b)}.values()):
            start_a, start_b = first_a[root_a], first_b[root_b]
            # forests[r][c]: of the first r nodes from one start on to the first c from the other
            forests = [[*range(root_b - start_b + 2)]]
            for i in range(start_a, root_a + 1):
                above, row = forests[-1], [len(forests)]
                beside = forests[first_a[i] - start_a]
                for j in range(start_b, root_b + 1):
                    least = min(above[j - start_b + 1], row[-1]) + 1
                    if first_a[i] == start_a and first_b[j] == start_b:  # two whole trees: their roots can be matched
                        least = min(least, above[j - start_b] + (labels_a[i] != labels_b[j]))
                        trees[i, j] = least
                    else:
                        least = min(least, beside[first_b[j] - start_b] + int(trees[i, j]))
                    row.append(least)
                forests.append(row)
    return int(trees[-1, -1])


def _postfix(expr: Expr, codes: defaultdict[Hashable, int]) -> tuple[list[int], list[int]]:
    """Return a code of each token in postfix order, the same for equal tokens; and the place of its first leaf."""
    labels, first = [0] * expr.size, [0] * expr.size
    for (i, depth, symbol), token in zip(expr.walk(), expr.tokens, strict=True):
        place = expr.ends[i] - depth  # behind its descendants, before its ancestors
        labels[place], first[place] = codes[symbol.key(token)], place + 1 - (expr.ends[i] - i)
    return labels, first
