"""The edits that lead from one expression to another, in words and by node, and their number as a distance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from edhie.errors import shortened
from edhie.expr.difference.matching import Edit, Matching
from edhie.expr.difference.shapes import CHAINS, COMMUTATIVE, Shape, shape_of
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import OPERATORS, constant

__all__ = ["Difference", "Matching", "Shape", "difference", "distance", "shape_of"]
NO_CHANGE = "nothing but constants"
NEEDED = ("+", "-", "*", "/", "neg", "inv")
LONGEST_NAME = 40  # letters of a part that is named in a sentence
SHORT = 14  # letters of a part that is better shown whole, before and after


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
        if each.parts:
            # the deepest first: the others join it to what it hangs from
            likely = (*sorted({part.joint for part in each.parts}, reverse=True), *each.operators)
            free = [token for token in dict.fromkeys(likely) if token not in taken | found]
            found.update(free[: len(each.operands) - 1])
    return found


def _walk(shape: Shape) -> list[Shape]:
    return [shape, *(found for each in shape.operands for found in _walk(each))]


# -- edits in words ----------------------------------------------------------------------


class EditWriter:
    """Writes parts of two expressions, over a library that has the symbols of both."""

    def __init__(self, before: Expr, after: Expr) -> None:
        both = before.library.extended(*(symbol for symbol in after.library.symbols if symbol.kind != "constant"))
        both = both.extended(*(OPERATORS[name] for name in NEEDED))
        if both.constant is None:
            name = SymbolLibrary.of([], list(both.variables), constant=True).constant
            both = both.extended(constant(name or "c"))
        self._library = both

    def text(self, shape: Shape) -> str:
        """Return a shape in infix notation, its constants without values."""
        return self._infix(*self._tokens(shape))

    def _infix(self, *tokens: str) -> str:
        return str(Expr.trusted(self._library, tokens))  # a column may be called neg, so nothing is checked

    def _tokens(self, shape: Shape) -> Iterator[str]:
        if shape.kind == "constant":
            yield str(self._library.constant)
        elif shape.parts:
            yield from self._chain(shape)
        else:
            yield shape.label
            for each in shape.operands:
                yield from self._tokens(each)

    def _chain(self, shape: Shape) -> Iterator[str]:
        """Yield tokens in the order of writing, but positive operands before negative ones."""
        parts = sorted(shape.parts, key=lambda part: -part.sign)
        taken, given = ("-", "+") if shape.kind == "sum" else ("/", "*")
        yield from (given if part.sign > 0 else taken for part in reversed(parts[1:]))
        for part in parts:
            yield from self._tokens(part.shape)

    def all_words(self, edits: Sequence[Edit], top: Shape) -> Iterator[str]:
        """Yield edits of `top` in words; those of one short part become one, from its old to its new form."""
        waiting = list(edits)
        while waiting:
            edit = waiting.pop(0)
            is_top = edit is edits[0] and edit.before is top and edit.act != "replaced"
            old, new = edit.before.all_tokens, edit.after.all_tokens
            followers = takewhile(lambda e: e.before.all_tokens <= old and e.after.all_tokens <= new, waiting)  # noqa: B023
            inside = len(list(followers))
            before, after = self.text(edit.before), self.text(edit.after)
            if inside and not is_top and len(before) <= SHORT and len(after) <= LONGEST_NAME:
                del waiting[:inside]
                yield f"{before} replaced by {after}"
            else:
                yield self.words(edit, is_top=is_top)

    def words(self, edit: Edit, *, is_top: bool) -> str:
        """Return an edit in words, such as `+ c inserted at the top`."""
        if edit.act == "replaced":
            if not edit.before.operands:
                return f"{self.text(edit.before)} replaced by {self.text(edit.after)}"
            return f"{edit.operator} replaced by {edit.other} in {_named(self.text(edit.before))}"
        inner = edit.before if edit.act == "inserted" else edit.after
        small, large = self.text(inner), self._over(edit, inner)
        if not is_top and len(large) <= SHORT:
            one, other = (small, large) if edit.act == "inserted" else (large, small)
            return f"{one} replaced by {other}"
        what = edit.operator if edit.part is None else self._with_part(edit, edit.part)
        place = "at the top" if is_top else f"{'around' if edit.part is None else 'beside'} {_named(small)}"
        return f"{what} {edit.act} {place}"

    def _with_part(self, edit: Edit, part: Shape) -> str:
        text = _named(self.text(part))
        if edit.operator not in CHAINS:  # a power, a function of two: the part may be either operand
            return f"{edit.operator} with {text}"
        is_weaker = part.kind == "sum" or (part.kind == "product" and edit.operator == "/")
        text = f"({text})" if is_weaker else text
        is_second = edit.is_second or edit.operator in COMMUTATIVE
        return f"{edit.operator} {text}" if is_second else f"{text} {edit.operator}"

    def _over(self, edit: Edit, inner: Shape) -> str:
        """Return the operator of an edit over `inner`, and over the part that comes or goes with it."""
        operands = (inner,) if edit.part is None else (inner, edit.part)
        ordered = operands if edit.is_second else reversed(operands)
        tokens = (token for each in ordered for token in self._tokens(each))
        return self._infix(edit.operator, *tokens)


def _named(text: str) -> str:
    return shortened(text, LONGEST_NAME)
