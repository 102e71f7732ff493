"""Equal factors as powers: x*x*x is x^3 where the library has that."""

from __future__ import annotations

from edhie.expr.library import SymbolLibrary
from edhie.expr.plain.nodes import Node, is_built_in, size, walk

POWERS = (5, 4, 3, 2)
LARGEST = 25


def merged_powers(library: SymbolLibrary, given: list[Node]) -> list[Node]:
    """Factors of which equal ones, and powers of equal ones, are one power where that is shorter."""
    bases: dict[Node, list[tuple[int, Node]]] = {}
    for k, each in enumerate(given):
        base, exponent = raised(library, each)
        whole = (base, exponent) if _is_known(library, base) else (each, 1)
        # constants that are yet to be fitted are not equal, whatever they look like
        key = whole[0] if _is_known(library, base) else Node("", (each, Node(str(k))))
        bases.setdefault(key, []).append((whole[1], each))
    found: list[Node] = []
    for base, members in bases.items():
        originals = [each for _, each in members]
        written = power(library, base, sum(exponent for exponent, _ in members)) if base.token else None
        # n factors take n - 1 signs of multiplication
        is_short = written is not None and _length(written) <= _length(originals)
        found += written if written is not None and is_short else originals
    return found


def raised(library: SymbolLibrary, node: Node) -> tuple[Node, int]:
    """What stands below whole powers, and their product."""
    exponent = 1
    while node.token[:1] == "^" and len(node.operands) == 1 and is_built_in(library, node.token):
        exponent, node = exponent * int(node.token[1:]), node.operands[0]
    return node, exponent


def power(library: SymbolLibrary, base: Node, exponent: int) -> list[Node] | None:
    """Few factors that are together a whole power of the base; None where the library has no powers for it."""
    if exponent == 1:
        return [base]
    known = [p for p in POWERS if is_built_in(library, f"^{p}")]
    if exponent in known:
        return [Node(f"^{exponent}", (base,))]
    if not known or exponent > LARGEST:
        return None
    for p in known:
        if exponent % p == 0 and (inner := power(library, base, exponent // p)) is not None and len(inner) == 1:
            return [Node(f"^{p}", (inner[0],))]
    for p in known:
        if p < exponent and (rest := power(library, base, exponent - p)) is not None:
            return [Node(f"^{p}", (base,)), *rest]
    return None


def _length(nodes: list[Node]) -> int:
    return sum(map(size, nodes)) + len(nodes)


def _is_known(library: SymbolLibrary, node: Node) -> bool:
    return all(each.value is not None for each in walk(node) if each.token == library.constant)
