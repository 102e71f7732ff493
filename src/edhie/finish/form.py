"""The normal form of an expression: signs and constants where people put them, and no longer than rules allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from edhie.expr.expression import Expr
from edhie.expr.interpret import numpy_function
from edhie.expr.library import SymbolLibrary
from edhie.expr.nodes import PRODUCT, SIGN, SUM, MissingSymbolError, Node, expr_of, operation, rebuilt, tree_of, walk
from edhie.expr.numerals import numeral
from edhie.expr.symbols import EVEN, NAMED_LITERALS, NUMBER, OPERATORS
from edhie.finish import arithmetic
from edhie.finish.numbers import named, unnamed
from edhie.finish.polynomials import ONE, Effort, Ring, TooLargeError, exponent_of, flat, folded, written_power
from edhie.finish.polynomials import exact as exact_exponent
from edhie.finish.regrouping import writings
from edhie.finish.rules import rewritings

TIDY_PASSES, PASSES = 6, 12
DEEPEST = 150  # a higher tree is left as it is: nobody reads it
LONGEST = 90  # symbols of a larger expression are put in order only
MOST_VALUES = 2000  # parts whose values are kept
POWERS = (1, 2, 3, 4)  # of a polynomial that is written as a sum
WAVES = ("sin", "cos", "tan")  # of theta/2, not 0.5*theta
MOST_RULES = 8  # rules that are applied to one node in turn
NOTATION = ("+", "-", "*", "/", "neg", "^", "^2", "^3", "^4", "^5", "sqrt", "abs")
"""Operators that may be printed in any equation."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of the variables: those that are positive, and their values."""

    positive: frozenset[str] = frozenset()
    columns: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    cheapest: dict[Node, Node] = field(default_factory=dict)
    """The cheapest forms of nodes, as far as known."""
    _values: dict[Node, NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Iterable[str], columns: NDArray[np.float64]) -> Facts:
        """Return what the rows of a table say."""
        known = dict(zip(names, columns, strict=True))
        return cls(frozenset(name for name, column in known.items() if (column > 0).all()), known)

    def sign(self, node: Node) -> int:
        """Return the sign of a part in all rows: 1, -1, or 0 where it has both or is unknown."""
        found = self._of(node)
        if not found.size or not np.isfinite(found).all():
            return 0
        return 1 if (found >= 0).all() else -1 if (found <= 0).all() else 0

    def _of(self, node: Node) -> NDArray[np.float64]:
        if node not in self._values:
            if len(self._values) > MOST_VALUES:
                self._values.clear()
            if node.operands:
                operands = [self._of(each) for each in node.operands]
                known = all(each.size for each in operands) and node.op
                with np.errstate(all="ignore"):
                    found = np.asarray(numpy_function(node.symbol)(*operands)) if known else np.empty(0)
            elif node.kind == "variable":
                found = self.columns.get(node.token, np.empty(0))
            else:
                value = node.symbol.value if node.kind == "literal" else node.number
                found = np.empty(0) if value is None else np.asarray([value])
            self._values[node] = found
        return self._values[node]


def opened(library: SymbolLibrary) -> SymbolLibrary:
    """Return a library with any number and the operators that may be printed in any equation."""
    return library.extended(NUMBER, *NAMED_LITERALS.values(), *(OPERATORS[name] for name in NOTATION))


def tidied(expr: Expr) -> Expr:
    """Return the expression with signs, numbers and powers where people put them, over the same library.

    >>> from edhie.expr import parse
    >>> str(tidied(parse("x0*(x0*c) + c*x1 - c").with_constants([0.5, -2.0, -3.0])))
    '0.5*x0^2 - 2*x1 + 3'
    """
    return expr if expr.height > DEEPEST else expr_of(tidy(tree_of(expr)), expr.library)


@lru_cache(4_000)
def tidy(tree: Node) -> Node:
    """Return a tree with signs, numbers and powers where people put them."""
    found = tree
    for _ in range(TIDY_PASSES):
        before, found = found, rebuilt(found, _tidy_node)
        if found == before:
            break
    return found


@lru_cache(40_000)
def _tidy_node(node: Node) -> Node:
    if not node.op:
        return node
    try:
        found = _tidied(node)
    except (MissingSymbolError, TooLargeError):
        return node
    return found if found.cost <= node.cost + SIGN else node


def _tidied(node: Node) -> Node:
    if all(each.number is not None for each in node.operands) and not _is_fraction(node):
        return folded(node)
    if node.op in PRODUCT:
        is_negative, above, below = arithmetic.factors(node)
        bare = arithmetic.quotient(above, below)
        return arithmetic.negative(bare, node.cost) if is_negative else bare
    if node.op in SUM:
        return arithmetic.added(arithmetic.summands(node), room=node.cost)
    if node.op in WAVES and node.operands[0].op in PRODUCT:
        is_negative, above, below = arithmetic.factors(node.operands[0])
        halves = [each for each in above if each.kind == "number" and each.number == 0.5]
        if len(halves) == 1 and len(above) > 1 and not is_negative:
            rest = [each for each in above if each is not halves[0]]
            node = node.over(arithmetic.quotient(rest, [Node(node.library, numeral(2.0)), *below]))
    if node.op in EVEN:
        node = node.over(_turned(arithmetic.split(node.operands[0])[1]))
    exponent = exponent_of(node)
    if node.op[:1] == "^" and node.operands[0].op in PRODUCT and exponent is not None:
        if exponent != int(exponent) or any(each.op in SUM for each in node.operands[0].operands):
            node = _power_of_ratio(node)
        if exponent != int(exponent):
            return node
    if exponent is not None and exponent > 0 and (node.op != "^" or node.operands[1].kind == "number"):
        base, whole = arithmetic.power_of(node)
        if whole == 1:
            written = written_power(node.operands[0], exact_exponent(float(exponent)))
        else:
            written = written_power(base, whole)
        return written[0] if len(written) == 1 else node
    return node


def _power_of_ratio(node: Node) -> Node:
    """Return a power of a ratio as people write it: `(x/k)^p` with a positive exponent, and a scale in units of x."""
    base, *exponents = node.operands
    if base.op == "*":
        scale, rest = base.operands
        if scale.kind == "constant" and scale.number and scale.number > 0 and not rest.is_coefficient:
            base = operation("/", rest, Node(scale.library, scale.token, (), 1.0 / scale.number))
    negative = exponents[0] if exponents and (exponents[0].number or 0.0) < 0 else None
    if base.op == "/" and negative is not None and (positive := arithmetic.opposite(negative)) is not None:
        above, below = base.operands
        base, exponents = below if above.number == 1 else arithmetic.quotient([below], [above]), [positive]
    return node.over(base, *exponents)


def _turned(node: Node) -> Node:
    """Return `x - 3` for `3 - x`, and `2*(x - 3)` for `2*(3 - x)`."""
    if node.op == "*" and node.operands[0].is_coefficient:
        return node.over(node.operands[0], _turned(node.operands[1]))
    is_turned = node.op == "-" and node.operands[0].is_coefficient and not node.operands[1].is_coefficient
    return node.over(*reversed(node.operands)) if is_turned else node


def _is_fraction(node: Node) -> bool:
    """Return True for a number that has a name as it stands, such as 1/3."""
    return all(each.kind == "number" for each in node.operands) and named(folded(node)).operands != ()


def normal_form(expr: Expr, facts: Facts | None = None) -> Expr:
    """Return the expression in the form that rules and algebra make easiest to read, over the same library.

    Values are the same, but for rounding, wherever `facts` hold and the expression has a value. There are no powers
    of powers, no functions of their inverse and no neutral numbers, and numbers have names.

    >>> from edhie.expr import parse
    >>> str(normal_form(parse("sqrt(x^2 + y^2 - 2*x*y + z)")))
    'sqrt((x - y)^2 + z)'
    >>> str(normal_form(parse("x*sqrt(x) + (2*x*y - x^2*y - x*y^2)/x")))
    'x^1.5 + y*(2 - x - y)'
    """
    if expr.height > DEEPEST:
        return expr
    tree = tree_of(expr)
    if expr.size > LONGEST or None in expr.constants:
        return expr_of(tidy(tree), expr.library)
    return expr_of(tidy(named(_shortest(tidy(unnamed(tree)), facts or Facts()))), expr.library)


def plainly(expr: Expr, facts: Facts) -> Expr:
    """Return the expression as it is, but for rules that always hold, over the same library."""
    return expr if expr.height > DEEPEST else expr_of(tidy(_ruled(tidy(tree_of(expr)), facts)), expr.library)


def expanded(expr: Expr) -> Expr:
    """Return the expression with polynomials of one variable written as sums of its powers.

    >>> from edhie.expr import parse
    >>> str(expanded(parse("1.5 + 3*exp(x*(0.3*x + 2))")))
    '1.5 + 3*exp(0.3*x^2 + 2*x)'
    """
    if expr.height > DEEPEST or expr.size > LONGEST or None in expr.constants:
        return expr
    tree = unnamed(tree_of(expr))
    found = _expanded(tree)
    return expr if found == tree else expr_of(tidy(named(found)), expr.library)


def _expanded(node: Node) -> Node:
    if node.op in SUM or node.op in PRODUCT:
        try:
            whole = Ring(node.library, expands=True).read(node)
            atoms = {atom for monomial in whole for atom, _ in monomial}
            exponents = sorted((exponent for monomial in whole for _, exponent in monomial), reverse=True)
            if len(whole) > 1 and len(atoms) == 1 and exponents[-1] in (1, 2) and exponents[0] in POWERS:
                (atom,) = atoms
                if atom.kind == "variable":
                    order = [((atom, each),) for each in exponents] + [ONE] * (ONE in whole)
                    return flat(node.library, {each: whole[each] for each in order})
        except (TooLargeError, MissingSymbolError):
            pass
    return node.over(*map(_expanded, node.operands)) if node.operands else node


def _shortest(tree: Node, facts: Facts) -> Node:
    effort = Effort()
    best = _ruled(tree, facts)
    for _ in range(PASSES):
        found = tidy(rebuilt(best, lambda node: _cheapest(node, facts, effort)))
        found = _ruled(found, facts)
        if found.cost >= best.cost:
            break
        best = found
    return best


def _ruled(tree: Node, facts: Facts) -> Node:
    """Apply the rules that always hold."""

    def changed(node: Node) -> Node:
        for _ in range(MOST_RULES):
            found = next((each for holds, each in rewritings(node, facts.positive, facts.sign) if holds), None)
            if found is None:
                break
            node = tidy(found)
        return node

    for _ in range(TIDY_PASSES):
        found = tidy(rebuilt(tree, changed))
        if found == tree:
            break
        tree = found
    return tree


def _cheapest(node: Node, facts: Facts, effort: Effort) -> Node:
    """Return the cheapest form of a node over operands that are short already."""
    if not node.op:
        return node
    if node not in facts.cheapest:
        facts.cheapest[node] = _best_of(node, facts, effort)
    return facts.cheapest[node]


def _best_of(node: Node, facts: Facts, effort: Effort) -> Node:
    best = node
    for _, found in rewritings(node, facts.positive, facts.sign):
        if (other := tidy(found)).cost < best.cost:
            best = other
    for other in _regrouped(node, facts, effort):
        # of one length, more sums are no better: large numbers may cancel in them
        if other.cost < best.cost and (other.cost < best.cost - 1 or _sums(other) <= _sums(node)):
            best = other
    return best


def _regrouped(node: Node, facts: Facts, effort: Effort) -> Iterator[Node]:
    if node.op not in SUM and node.op not in PRODUCT and exponent_of(node) is None:
        return
    for expands in (False, True):
        ring = Ring(node.library, expands=expands, positive=facts.positive, sign=facts.sign, effort=effort)
        try:
            yield from writings(ring, ring.read(node))
        except (TooLargeError, MissingSymbolError):
            continue


def _sums(node: Node) -> int:
    return sum(each.op in SUM for each in walk(node))
