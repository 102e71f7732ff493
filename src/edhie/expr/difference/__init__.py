"""The edits that lead from one expression to another, in words and by node, and their number as a distance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from edhie.expr.difference.matching import Edit, Matching
from edhie.expr.difference.shapes import Shape, shape_of
from edhie.expr.difference.writing import EditWriter
from edhie.expr.expression import Expr

__all__ = ["Difference", "Matching", "Shape", "difference", "distance", "shape_of"]
NO_CHANGE = "nothing but constants"


@dataclass(frozen=True)
class Difference:
    """The fewest changes that lead from one expression to another; values of constants do not count.

    Nodes are places in prefix order. Constants that stand together count as one, so `distance` may be less than the
    number of nodes.
    """

    before: Expr
    after: Expr
    changes: tuple[str, ...]
    """Each change in words, from the top down."""
    distance: int
    """Number of symbols that are replaced, inserted or deleted."""
    replaced: tuple[tuple[int, int], ...]
    """Nodes of `before`, each with the node of `after` in its place."""
    inserted: frozenset[int]
    """Nodes of `after` that have no counterpart."""
    deleted: frozenset[int]
    """Nodes of `before` that have no counterpart."""

    @property
    def kept(self) -> tuple[frozenset[int], frozenset[int]]:
        """Nodes of either expression that the other has too."""
        old = self.deleted.union(one for one, _ in self.replaced)
        new = self.inserted.union(other for _, other in self.replaced)
        return frozenset(range(self.before.size)) - old, frozenset(range(self.after.size)) - new

    def __str__(self) -> str:
        return "; ".join(self.changes) or NO_CHANGE


def difference(before: Expr, after: Expr, *, matching: Matching | None = None) -> Difference:
    """Return the changes from one expression to another.

    Pass one `matching` to compare many with the same expression: it remembers distances of parts.

    >>> from edhie.expr import parse
    >>> print(difference(parse("c*x0*exp(-c*x1)"), parse("2.1*x0^2*exp(-0.5*x1) + 1.3")))
    + c inserted at the top; x0 replaced by x0^2
    """
    one, other = shape_of(before), shape_of(after)
    found = (matching or Matching()).edits(one, other)
    words = tuple(EditWriter(before, after).all_words(found, one))
    return Difference(before, after, words, sum(edit.cost for edit in found), *_changed_nodes(found))


def distance(before: Expr, after: Expr) -> int:
    """Return the fewest symbols to change; values of constants and the order of operands do not count.

    >>> from edhie.expr import parse
    >>> distance(parse("2*x + y"), parse("y - c*x")), distance(parse("x"), parse("x + 1"))
    (0, 2)
    """
    return Matching().distance(shape_of(before), shape_of(after))


def _changed_nodes(edits: Iterable[Edit]) -> tuple[tuple[tuple[int, int], ...], frozenset[int], frozenset[int]]:
    """Return the nodes that edits replace, insert and delete; of the operators of a chain the first that is free."""
    replaced: list[tuple[int, int]] = []
    new: set[int] = set()
    old: set[int] = set()
    for edit in edits:
        if edit.act == "replaced":
            one = _free(edit.places, old | {one for one, _ in replaced})
            other = _free(edit.other_places, new | {other for _, other in replaced})
            replaced.append((one, other))
            continue
        changed = new if edit.act == "inserted" else old
        taken = changed | {pair[edit.act == "inserted"] for pair in replaced}
        part = set() if edit.part is None else _own_tokens(edit.part, taken)
        changed |= part | {_free(edit.places, taken | part)}
    return tuple(replaced), frozenset(new), frozenset(old)


def _free(places: tuple[int, ...], taken: set[int]) -> int:
    return next((place for place in places if place not in taken), places[0])


def _own_tokens(part: Shape, taken: set[int]) -> set[int]:
    """Return the nodes of a part; of operators that it may share with the chain above it, those that are free."""
    shapes = _walk(part)
    found = {token for each in shapes for token in each.tokens}
    for each in shapes:
        if each.signs:
            # the deepest first: the others join it to what it hangs from
            likely = (*sorted(set(each.joints), reverse=True), *each.operators)
            free = [token for token in dict.fromkeys(likely) if token not in taken | found]
            found.update(free[: len(each.operands) - 1])
    return found


def _walk(shape: Shape) -> list[Shape]:
    return [shape, *(found for each in shape.operands for found in _walk(each))]
