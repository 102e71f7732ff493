"""The fewest edits between two shapes, and which they are.

An edit replaces one symbol by another of as many operands, puts an operator over a part (with a second operand that
is new as a whole), or takes such an operator out: after every edit there is an expression. Operands of sums and
products may be grouped and ordered in any way before an edit. This is the constrained edit distance of trees (Zhang
1996) up to the laws of arithmetic, and is exact as long as no sum or product has more than `LONGEST` operands; those
of longer ones are assigned to one another, each as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

from edhie.expr.difference.assignment import assigned_operands
from edhie.expr.difference.shapes import COMMUTATIVE, Shape, Split

Act = Literal["replaced", "inserted", "deleted"]


@dataclass(frozen=True, eq=False)
class Edit:
    """One symbol replaced, or an operator put in or taken out, with the operand that comes or goes with it."""

    act: Act
    before: Shape
    """What stood there, or what the operator is put over."""
    after: Shape
    """What stands there now, or what is left when the operator is gone."""
    operator: str
    """The symbol that comes or goes; of a replaced one, what it was."""
    other: str = ""
    """What it is replaced by."""
    part: Shape | None = None
    """The operand that comes or goes with the operator."""
    places: tuple[int, ...] = ()
    """Tokens that the operator may be: of `before` where it is deleted or replaced, of `after` where it is inserted."""
    other_places: tuple[int, ...] = ()
    """Of a replaced one: tokens of `after`."""
    is_second: bool = True
    """Whether the part is the operator's second operand."""

    @property
    def cost(self) -> int:
        """How many symbols it changes."""
        return 1 + (0 if self.part is None else self.part.size)


@dataclass(frozen=True, eq=False)
class Option:
    """One way to begin: an edit or none, and the pairs of parts that are left to compare."""

    edit: Edit | None
    pairs: tuple[tuple[Shape, Shape], ...]

    @property
    def cost(self) -> int:
        """Of the edit."""
        return 0 if self.edit is None else self.edit.cost

    @property
    def least(self) -> int:
        """What it comes to at least, at a glance: parts of different sizes differ by as many symbols."""
        return self.cost + sum(abs(a.size - b.size) for a, b in self.pairs)


class Matching:
    """Distances between shapes, each computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        """How many distances are remembered."""
        return len(self._known)

    def distance(self, a: Shape, b: Shape) -> int:
        """How many symbols have to change."""
        if a.key == b.key:
            return 0
        key = (a.key, b.key)
        found = self._known.get(key)
        if found is None:
            found, least = a.size + b.size, lower_bound(a, b)
            for option in self._options(a, b):
                if option.least < found:
                    found = min(found, self._cost(option, found))
                if found == least:
                    break
            self._known[key] = found
        return found

    def _options(self, a: Shape, b: Shape) -> Iterator[Option]:
        if (a.is_long or b.is_long) and a.kind == b.kind:
            yield from assigned(a, b, self.distance)
        else:
            yield from options(a, b)

    def _cost(self, option: Option, limit: int) -> int:
        """What an option comes to; anything from `limit` on where it is no better."""
        bounds = [lower_bound(*pair) for pair in option.pairs]
        total = option.cost + sum(bounds)
        for (a, b), bound in zip(option.pairs, bounds, strict=True):
            if total >= limit:
                break
            total += self.distance(a, b) - bound
        return total

    def edits(self, a: Shape, b: Shape) -> list[Edit]:
        """The edits that lead from one to the other, from the top down."""
        waiting, found = [(a, b)], []
        while waiting:
            a, b = waiting.pop()
            if a.key == b.key:
                continue
            distance = self.distance(a, b)
            least = [each for each in self._options(a, b) if each.least <= distance]
            best = max((each for each in least if self._cost(each, distance + 1) == distance), key=_clarity)
            found += [] if best.edit is None else [best.edit]
            waiting += reversed(best.pairs)
        return found


def _clarity(option: Option) -> tuple[bool, bool, bool, int]:
    """Of as many edits, those are clear that end at once, that leave the top as it is, or change much of it at once."""
    is_last = all(a.key == b.key for a, b in option.pairs)
    return is_last, option.edit is None, option.edit is not None and option.edit.act == "replaced", option.cost


def lower_bound(a: Shape, b: Shape) -> int:
    """So many symbols have to change at least: those that the other has no counterpart of."""
    if a.key == b.key:
        return 0
    few, many = (a.census, b.census) if len(a.census) <= len(b.census) else (b.census, a.census)
    shared = sum(min(count, many[label]) for label, count in few.items() if label in many)
    return max(a.size, b.size) - shared


def options(a: Shape, b: Shape) -> Iterator[Option]:
    """Every way to begin with two shapes that are not the same; the likelier first."""
    is_leaf = not a.operands and not b.operands
    if is_leaf:
        yield Option(Edit("replaced", a, b, a.label, b.label, places=a.tokens, other_places=b.tokens), ())
        return
    if a.kind == b.kind == "unary":
        edit = Edit("replaced", a, b, a.label, b.label, places=a.tokens, other_places=b.tokens)
        yield Option(edit if a.label != b.label else None, ((a.operands[0], b.operands[0]),))
    if not (a.is_long or b.is_long):
        for left, right in product(a.splits, b.splits):
            yield from both(a, b, left, right)
    yield from _inserted(a, b)
    yield from _deleted(a, b)


def assigned(a: Shape, b: Shape, distance: Callable[[Shape, Shape], int]) -> Iterator[Option]:
    """The one way to begin with two long chains: an operand that has no counterpart, or a pair that has."""
    pairs = assigned_operands(a, b, distance)
    alone_a, alone_b = (
        [k for k in range(len(shape.operands)) if k not in matched]
        for shape, matched in zip((a, b), map(set, zip(*pairs, strict=True)), strict=True)
    )
    if alone_a and (not alone_b or a.key < b.key):
        split, kept, part, is_second = _without(a, alone_a[0])
        edit = Edit("deleted", a, b, split.operator, part=part, places=split.tokens, is_second=is_second)
        yield Option(edit, ((kept, b),))
    elif alone_b:
        split, kept, part, is_second = _without(b, alone_b[0])
        edit = Edit("inserted", a, b, split.operator, part=part, places=split.tokens, is_second=is_second)
        yield Option(edit, ((a, kept),))
    else:
        yield from both(a, b, a.split((pairs[0][0],)), b.split((pairs[0][1],)))


def _without(chain: Shape, k: int) -> tuple[Split, Shape, Shape, bool]:
    """A chain split into one operand, which goes, and the others: as `_ways` has it."""
    split, part = chain.split((k,)), chain.operands[k]
    is_second = split.second is part
    return split, split.first if is_second else split.second, part, is_second


def both(a: Shape, b: Shape, left: Split, right: Split) -> Iterator[Option]:
    """Two operators of two operands, one for the other."""
    edit = None
    if left.operator != right.operator:
        places, other_places = left.tokens, right.tokens
        edit = Edit("replaced", a, b, left.operator, right.operator, places=places, other_places=other_places)
    yield Option(edit, ((left.first, right.first), (left.second, right.second)))
    if left.operator in COMMUTATIVE or right.operator in COMMUTATIVE:
        yield Option(edit, ((left.first, right.second), (left.second, right.first)))


def _inserted(a: Shape, b: Shape) -> Iterator[Option]:
    if b.kind == "unary":
        yield Option(Edit("inserted", a, b, b.label, places=b.tokens), ((a, b.operands[0]),))
    for split, kept, part, is_second in _ways(b):
        edit = Edit("inserted", a, b, split.operator, part=part, places=split.tokens, is_second=is_second)
        yield Option(edit, ((a, kept),))


def _deleted(a: Shape, b: Shape) -> Iterator[Option]:
    if a.kind == "unary":
        yield Option(Edit("deleted", a, b, a.label, places=a.tokens), ((a.operands[0], b),))
    for split, kept, part, is_second in _ways(a):
        edit = Edit("deleted", a, b, split.operator, part=part, places=split.tokens, is_second=is_second)
        yield Option(edit, ((kept, b),))


def _ways(shape: Shape) -> Iterator[tuple[Split, Shape, Shape, bool]]:
    """Every operator of two operands that it has: the operand that stays, the one that goes, and if that is second."""
    for split in shape.splits:
        for kept, part, is_second in ((split.first, split.second, True), (split.second, split.first, False)):
            if not (shape.is_long and kept.kind == shape.kind and kept.size > part.size):  # there are too many of these
                yield split, kept, part, is_second
