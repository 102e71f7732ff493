"""The fewest edits between two shapes, and which they are.

An edit replaces one symbol by another with as many operands, inserts an operator over a part (with a second operand
that is new as a whole), or deletes such an operator: after every edit there is an expression. Operands of sums and
products may be grouped and ordered in any way before an edit. This is the constrained edit distance of trees (Zhang
1996) up to the laws of arithmetic. It is exact as long as no sum or product has more than `LONGEST` operands; those
of longer ones are assigned to one another, each as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from edhie.expr.difference.shapes import COMMUTATIVE, Shape, Split

Act = Literal["replaced", "inserted", "deleted"]


@dataclass(frozen=True, eq=False)
class Edit:
    """One symbol replaced, or an operator inserted or deleted with one of its operands."""

    act: Act
    before: Shape
    """The old part, or the part that the operator is inserted over."""
    after: Shape
    """The new part, or the part that is left without the operator."""
    operator: str
    """The symbol that is inserted, deleted or replaced."""
    other: str = ""
    """The symbol that replaces it."""
    part: Shape | None = None
    """The operand that is inserted or deleted with the operator."""
    places: tuple[int, ...] = ()
    """Tokens that the operator may be: of `before` where it is deleted or replaced, of `after` where it is inserted."""
    other_places: tuple[int, ...] = ()
    """Tokens of `after` that a replaced symbol may be."""
    is_second: bool = True
    """True where the part is the operator's second operand."""

    @property
    def cost(self) -> int:
        """Number of symbols that change."""
        return 1 + (0 if self.part is None else self.part.size)


@dataclass(frozen=True, eq=False)
class Option:
    """A first step: an edit or none, and the pairs of parts that are left to compare."""

    edit: Edit | None
    pairs: tuple[tuple[Shape, Shape], ...]

    @property
    def cost(self) -> int:
        """Cost of the edit."""
        return 0 if self.edit is None else self.edit.cost

    @property
    def least(self) -> int:
        """Lower bound of the whole cost: parts of different sizes differ by as many symbols."""
        return self.cost + sum(abs(a.size - b.size) for a, b in self.pairs)


class Matching:
    """Distances between shapes, each computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        """Return the number of distances that are remembered."""
        return len(self._known)

    def distance(self, a: Shape, b: Shape) -> int:
        """Return the fewest symbols that have to change."""
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
            yield from self._assigned(a, b)
        else:
            yield from options(a, b)

    def _assigned(self, a: Shape, b: Shape) -> Iterator[Option]:
        """Yield the first step for two long chains: an operand without a counterpart, or a pair of operands."""
        pairs = self._pairs(a, b)
        alone_a, alone_b = (
            [k for k in range(len(shape.operands)) if k not in matched]
            for shape, matched in zip((a, b), map(set, zip(*pairs, strict=True)), strict=True)
        )
        if alone_a and (not alone_b or a.key < b.key):
            yield _changed("deleted", a, b, *_without(a, alone_a[0]))
        elif alone_b:
            yield _changed("inserted", a, b, *_without(b, alone_b[0]))
        else:
            yield from both(a, b, a.split((pairs[0][0],)), b.split((pairs[0][1],)))

    def _pairs(self, a: Shape, b: Shape) -> list[tuple[int, int]]:
        """Return pairs of operands of two chains that are cheaper to change than to write anew; at least one.

        Chains in the other order give the same pairs.
        """
        from scipy.optimize import linear_sum_assignment

        if a.key > b.key:
            return [(j, i) for i, j in self._pairs(b, a)]
        same = _same_operands(a, b)
        rest_a, rest_b = (
            [(k, sign, each) for k, (sign, each, _) in enumerate(shape.parts) if k not in taken]
            for shape, taken in zip((a, b), ({i for i, _ in same}, {j for _, j in same}), strict=True)
        )
        gains = np.array(
            [
                [x.size + y.size + 2 - self.distance(x, y) - (sign != other_sign) for _, other_sign, y in rest_b]
                for _, sign, x in rest_a
            ]
        ).reshape(len(rest_a), len(rest_b))
        rows, columns = linear_sum_assignment(gains, maximize=True)
        found = {(rest_a[i][0], rest_b[j][0]): int(gains[i, j]) for i, j in zip(rows, columns, strict=True)}
        worth = [*same, *(pair for pair, gain in found.items() if gain > 0)] or [
            max(found, key=lambda pair: found[pair])
        ]
        return sorted(worth, key=lambda pair: (a.operands[pair[0]].key, b.operands[pair[1]].key))

    def _cost(self, option: Option, limit: int) -> int:
        """Return the whole cost of an option, or a number that is at least `limit` if the cost is."""
        bounds = [lower_bound(*pair) for pair in option.pairs]
        total = option.cost + sum(bounds)
        for (a, b), bound in zip(option.pairs, bounds, strict=True):
            if total >= limit:
                break
            total += self.distance(a, b) - bound
        return total

    def edits(self, a: Shape, b: Shape) -> list[Edit]:
        """Return the edits that lead from one to the other, from the top down."""
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
    """Prefer, of as many edits, those that end at once, that leave the top as it is, or change much of it at once."""
    is_last = all(a.key == b.key for a, b in option.pairs)
    return is_last, option.edit is None, option.edit is not None and option.edit.act == "replaced", option.cost


def lower_bound(a: Shape, b: Shape) -> int:
    """Return a lower bound of the distance: the symbols that have no counterpart."""
    if a.key == b.key:
        return 0
    few, many = (a.census, b.census) if len(a.census) <= len(b.census) else (b.census, a.census)
    shared = sum(min(count, many[label]) for label, count in few.items() if label in many)
    return max(a.size, b.size) - shared


def options(a: Shape, b: Shape) -> Iterator[Option]:
    """Yield every first step for two shapes that are not the same, the likelier first."""
    if not a.operands and not b.operands:
        yield Option(Edit("replaced", a, b, a.label, b.label, places=a.tokens, other_places=b.tokens), ())
        return
    if a.kind == b.kind == "unary":
        edit = Edit("replaced", a, b, a.label, b.label, places=a.tokens, other_places=b.tokens)
        yield Option(edit if a.label != b.label else None, ((a.operands[0], b.operands[0]),))
    if not (a.is_long or b.is_long):
        for left, right in product(a.splits, b.splits):
            yield from both(a, b, left, right)
    acts: tuple[tuple[Act, Shape], ...] = (("inserted", b), ("deleted", a))
    for act, shape in acts:
        if shape.kind == "unary":
            pair = (a, b.operands[0]) if act == "inserted" else (a.operands[0], b)
            yield Option(Edit(act, a, b, shape.label, places=shape.tokens), (pair,))
        for way in _ways(shape):
            yield _changed(act, a, b, *way)


def _changed(act: Act, a: Shape, b: Shape, split: Split, kept: Shape, part: Shape, is_second: bool) -> Option:
    edit = Edit(act, a, b, split.operator, part=part, places=split.tokens, is_second=is_second)
    return Option(edit, ((a, kept) if act == "inserted" else (kept, b),))


def _without(chain: Shape, k: int) -> tuple[Split, Shape, Shape, bool]:
    """Split one operand off a chain; the result is as that of `_ways`."""
    split, part = chain.split((k,)), chain.operands[k]
    is_second = split.second is part
    return split, split.first if is_second else split.second, part, is_second


def both(a: Shape, b: Shape, left: Split, right: Split) -> Iterator[Option]:
    """Yield the replacement of one operator of two operands by another."""
    edit = None
    if left.operator != right.operator:
        places, other_places = left.tokens, right.tokens
        edit = Edit("replaced", a, b, left.operator, right.operator, places=places, other_places=other_places)
    yield Option(edit, ((left.first, right.first), (left.second, right.second)))
    if left.operator in COMMUTATIVE or right.operator in COMMUTATIVE:
        yield Option(edit, ((left.first, right.second), (left.second, right.first)))


def _ways(shape: Shape) -> Iterator[tuple[Split, Shape, Shape, bool]]:
    """Yield every operator of two operands: the operand that stays, the other one, and whether that is the second."""
    for split in shape.splits:
        for kept, part, is_second in ((split.first, split.second, True), (split.second, split.first, False)):
            if not (shape.is_long and kept.kind == shape.kind and kept.size > part.size):  # there are too many of these
                yield split, kept, part, is_second


def _same_operands(a: Shape, b: Shape) -> list[tuple[int, int]]:
    """Return operands that both have: nothing is nearer to them, so most of two long chains need no comparison."""
    waiting: dict[tuple[int, str], list[int]] = {}
    for j, (sign, operand, _) in enumerate(b.parts):
        waiting.setdefault((sign, operand.key), []).append(j)
    return [
        (i, waiting[sign, operand.key].pop(0))
        for i, (sign, operand, _) in enumerate(a.parts)
        if waiting.get((sign, operand.key))
    ]
