"""The table of rewrite rules, and how a node is matched with one.

A rule is written as `pattern = form`. Sums and products match in any order and with further terms or factors, which the
form keeps; inside a function they match as a whole. Letters stand for parts:

- `u`, `v`: any part; a number in front of a product, or of a term, is part of none of them
- `w`: all terms of a sum, or factors of a product, that the pattern does not name
- `k`: a positive number or fitted constant; `c`, `d`: fitted constants alone
- `p`: a part that is never negative; `a`: one that is not negative in any row, `b`: one that is not positive in any
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from edhie.expr.nodes import PRODUCT, SUM, MissingSymbolError, Node, operation, tree_of
from edhie.expr.parser import parse
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import EVEN
from edhie.finish import polynomials as poly
from edhie.finish.arithmetic import Terms, added, factors, quotient, summands

LETTERS = ("u", "v", "w", "k", "c", "d", "p", "a", "b")
COEFFICIENTS = ("k", "c")
TAKEN = ("w", *COEFFICIENTS)  # letters that are matched apart
Bindings = dict[str, Node]
Sign = Callable[[Node], int]
"""The sign of a part in all rows: 1, -1, or 0 where it has both or is unknown."""


class Rule(NamedTuple):
    """A pattern, and the form that replaces it."""

    pattern: Node
    form: Node


ALWAYS = (
    "c^u = exp(log(c)*u)", "abs(p) = p", "abs(a) = a", "abs(b) = -b", "inv(u) = 1/u",
    "exp(k*log(u)) = u^k", "exp(log(u)/k) = u^(1/k)", "exp(v*log(u)) = u^v", "exp(w*log(u)) = u^w",
    "exp(w + log(u)) = u*exp(w)", "exp(w - log(u)) = exp(w)/u", "exp(w + k*log(u)) = u^k*exp(w)",
    "exp(w + v*log(u)) = u^v*exp(w)",
    "log(p^k) = k*log(p)", "log(u^2) = 2*log(abs(u))", "log(u^3) = 3*log(u)", "log(u^4) = 4*log(abs(u))",
    "log(k*exp(u)) = u + log(k)", "log(exp(u)/v) = u - log(v)",
    "(u^2)^k = abs(u)^(2*k)", "(u^4)^k = abs(u)^(4*k)", "sqrt(c*w) = sqrt(c)*sqrt(w)", "sqrt(w/c) = sqrt(w)/sqrt(c)",
    "sin(acos(u)) = sqrt(1 - u^2)", "cos(asin(u)) = sqrt(1 - u^2)",
    "tan(asin(u)) = u/sqrt(1 - u^2)", "tan(acos(u)) = sqrt(1 - u^2)/u",
    "sin(atan(u)) = u/sqrt(1 + u^2)", "cos(atan(u)) = 1/sqrt(1 + u^2)",
    "sin(acos(u))^2 = 1 - u^2", "cos(asin(u))^2 = 1 - u^2",
    "sin(atan(u))^2 = u^2/(1 + u^2)", "cos(atan(u))^2 = 1/(1 + u^2)",
    "cos(2*atan(u)) = (1 - u^2)/(1 + u^2)", "sin(2*atan(u)) = 2*u/(1 + u^2)",
    "cos(2*asin(u)) = 1 - 2*u^2", "cos(2*acos(u)) = 2*u^2 - 1",
    "sin(2*asin(u)) = 2*u*sqrt(1 - u^2)", "sin(2*acos(u)) = 2*u*sqrt(1 - u^2)", "tan(2*atan(u)) = 2*u/(1 - u^2)",
    "exp(log(u)) = u", "log(exp(u)) = u", "cbrt(u^3) = u", "cbrt(u)^3 = u",
    "sin(asin(u)) = u", "cos(acos(u)) = u", "tan(atan(u)) = u",
    "u/(c*u + d) = (1/c)*u/(u + d/c)", "u/(c*u - d) = (1/c)*u/(u - d/c)", "u/(d - c*u) = (1/c)*u/(d/c - u)",
)  # fmt: skip
"""Rules that hold whatever the length of the form: no function of its inverse, no logarithm of a power, saturation with
its limit in front."""
SHORTER = (
    *(f"{f}(abs(u)) = {f}(u)" for f in sorted(EVEN) if f[0] != "^"), "abs(u)^2 = u^2", "abs(u)^4 = u^4",
    "abs(u)*abs(v) = abs(u*v)", "abs(u)/abs(v) = abs(u/v)",
    "log(u) + log(v) = log(u*v)", "log(u) - log(v) = log(u/v)", "log(1/u) = -log(u)",
    "exp(u)*exp(v) = exp(u + v)", "exp(u)/exp(v) = exp(u - v)", "exp(u)^k = exp(k*u)", "1/exp(u) = exp(-u)",
    "sin(u)^2 + cos(u)^2 = 1", "k*sin(u)^2 + k*cos(u)^2 = k", "cosh(u)^2 - sinh(u)^2 = 1",
    "1 - cos(u)^2 = sin(u)^2", "1 - sin(u)^2 = cos(u)^2", "k - k*cos(u)^2 = k*sin(u)^2", "k - k*sin(u)^2 = k*cos(u)^2",
    "sin(u)/cos(u) = tan(u)", "sinh(u)/cosh(u) = tanh(u)", "sin(u)*cos(u) = sin(2*u)/2",
    "cosh(log(u)) = (u + 1/u)/2", "sinh(log(u)) = (u - 1/u)/2", "1/u + 1/v = (u + v)/(u*v)",
    "1/(1/u + 1/v) = u*v/(u + v)", "exp(u) - exp(-u) = 2*sinh(u)", "exp(u) + exp(-u) = 2*cosh(u)",
    "k/(w + k) = 1 - w/(w + k)", "k/(w - k) = w/(w - k) - 1", "k/(k - w) = 1 + w/(k - w)",
)  # fmt: skip
"""Rules that are used where the form is easier to read."""


@cache
def table() -> dict[str, tuple[tuple[bool, Rule], ...]]:
    """Return the rules by the operator at the root of their pattern; True for those that always hold."""
    library = everything(LETTERS)
    found: dict[str, list[tuple[bool, Rule]]] = {}
    for holds, texts in ((True, ALWAYS), (False, SHORTER)):
        for text in texts:
            rule = Rule(*(tree_of(parse(side, library)) for side in text.split(" = ")))
            for op in _roots(rule.pattern):
                found.setdefault(op, []).append((holds, rule))
    return {op: tuple(rules) for op, rules in found.items()}


def _roots(pattern: Node) -> tuple[str, ...]:
    if pattern.op in SUM:
        return SUM
    if pattern.op == "^":  # whole powers of powers are merged in any case
        return ("^", "^2", "^3", "^4", "^5", "sqrt") if pattern.operands[0].op == "exp" else ("^", "sqrt")
    return ("*", "/") if pattern.op in PRODUCT else (pattern.op,)


def rewritings(node: Node, positive: frozenset[str], sign: Sign) -> Iterator[tuple[bool, Node]]:
    """Yield the forms that rules give a node, with whether the rule always holds."""
    for holds, rule in table().get(node.op, ()):
        matcher = _Matcher(positive, sign)
        try:
            if node.op in SUM:
                found = matcher.in_sum(rule, node)
            elif node.op in ("*", "/"):
                found = matcher.in_product(rule, node)
            else:
                bound = next(matcher.match(rule.pattern, node, {}), None)
                found = None if bound is None else filled(rule.form, bound, node)
        except (MissingSymbolError, poly.TooLargeError):
            continue
        if found is not None and found != node:
            yield holds, found


def filled(form: Node, bound: Bindings, place: Node) -> Node:
    """Return a form with parts in place of its letters, over the library of a node."""
    if form.kind == "variable":
        return bound[form.token]
    if form.number is not None:
        return poly.number_node(place.library, form.number)
    operands = [filled(each, bound, place) for each in form.operands]
    if all(each.number is not None for each in operands):
        return poly.folded(operation(form.op, *operands))
    if form.op == "^" and (exponent := operands[1].number) is not None and exponent > 0:
        return quotient(poly.written_power(operands[0], poly.exact(exponent)), [])
    return operation(form.op, *operands)


class _Product(NamedTuple):
    """A product as a coefficient and other factors, above and below."""

    coefficient: float
    above: list[Node]
    below: list[Node]
    is_fitted: bool = False
    """True if the coefficient is one of the constants."""

    @classmethod
    def of(cls, node: Node) -> _Product:
        is_negative, above, below = factors(node)
        coefficient = -1.0 if is_negative else 1.0
        for each in above:
            coefficient *= 1.0 if each.number is None else each.number
        for each in below:
            coefficient /= 1.0 if not each.number else each.number
        is_fitted = any(each.kind == "constant" for each in (*above, *below))
        rest = [each for each in above if each.number is None], [each for each in below if each.number is None]
        return cls(coefficient, *rest, is_fitted)

    def number(self, place: Node, *, is_below: bool) -> Node | None:
        """Return the size of the coefficient, or its inverse, as a node; None if it is 1."""
        value = abs(1.0 / self.coefficient if is_below and self.coefficient else self.coefficient)
        constant = place.library.constant
        if self.is_fitted and constant is not None:
            return Node(place.library, constant, (), value)
        return None if value == 1.0 else poly.number_node(place.library, value)

    def node(self, place: Node) -> Node:
        above = self.above
        if abs(self.coefficient) != 1.0 or not above:
            above = [poly.number_node(place.library, abs(self.coefficient)), *above]
        found = quotient(above, self.below)
        return operation("neg", found) if self.coefficient < 0 else found


class _Matcher:
    """Match nodes with patterns; matches are tried in order, and the first is taken."""

    def __init__(self, positive: frozenset[str], sign: Sign) -> None:
        self.positive, self.sign = positive, sign

    def match(self, pattern: Node, node: Node, bound: Bindings) -> Iterator[Bindings]:
        """Yield the bindings under which a pattern is a node."""
        if pattern.kind == "variable":
            yield from self._letter(pattern.token, node, bound)
        elif pattern.number is not None:
            if node.number == pattern.number:
                yield bound
        elif pattern.op == "^" and pattern.operands[1].token == "k":
            exponent = poly.exponent_of(node)
            if exponent is not None:
                number = poly.number_node(node.library, float(exponent))
                for each in self.match(pattern.operands[0], node.operands[0], bound):
                    yield from self._letter("k", number, each)
        elif pattern.op in SUM:
            if node.op in SUM:
                yield from self._terms(summands(pattern), summands(node), bound, node)
        elif pattern.op in PRODUCT:
            if node.op in PRODUCT:
                yield from self._product(pattern, node, bound)
        elif pattern.op == node.op and pattern.op:
            yield from self._operands(list(zip(pattern.operands, node.operands, strict=True)), bound)

    def _operands(self, pairs: list[tuple[Node, Node]], bound: Bindings) -> Iterator[Bindings]:
        if not pairs:
            yield bound
            return
        for each in self.match(*pairs[0], bound):
            yield from self._operands(pairs[1:], each)

    def _letter(self, letter: str, node: Node, bound: Bindings) -> Iterator[Bindings]:
        known = bound.get(letter)
        if known is not None:
            if known == node or (known.number is not None and known.number == node.number):
                yield bound
            return
        if letter in ("k", "c", "d") and (node.number is None or node.number <= 0):
            return
        if letter in ("c", "d") and node.kind != "constant":
            return
        if letter == "p" and not poly.is_non_negative(node, self.positive):
            return
        if letter in ("a", "b") and self.sign(node) != (1 if letter == "a" else -1):
            return
        yield bound | {letter: node}

    def _terms(self, wanted: Terms, given: Terms, bound: Bindings, place: Node) -> Iterator[Bindings]:
        """Match all terms of a sum; `w` takes those that are left."""
        rest = [each for each in wanted if each[1].token == "w"]
        named = [each for each in wanted if each[1].token != "w"]
        for left, each in self._chosen(named, given, bound):
            if not rest and not left:
                yield each
            elif rest and left:
                flips = rest[0][0]
                whole = added([(is_negative ^ flips, term) for is_negative, term in left])
                yield from self._letter("w", whole, each)

    def _chosen(self, wanted: Terms, given: Terms, bound: Bindings) -> Iterator[tuple[Terms, Bindings]]:
        """Yield ways to match terms with some of those given, and the others."""
        if not wanted:
            yield given, bound
            return
        (is_negative, pattern), *others = wanted
        for k, (sign, node) in enumerate(given):
            if sign == is_negative:
                for each in self.match(pattern, node, bound):
                    yield from self._chosen(others, given[:k] + given[k + 1 :], each)

    def _product(self, pattern: Node, node: Node, bound: Bindings) -> Iterator[Bindings]:
        """Match all factors of a product; `w` takes those that are left."""
        wanted = _Product.of(pattern)
        has_rest = any(each.token == "w" for each in wanted.above)
        for left, each in self._left(wanted, _Product.of(node), node, bound):
            if has_rest and (left.above or left.below):
                yield from self._letter("w", left.node(node), each)
            elif not has_rest and left == _Product(1.0, [], []):
                yield each

    def _left(
        self, wanted: _Product, given: _Product, place: Node, bound: Bindings
    ) -> Iterator[tuple[_Product, Bindings]]:
        """Yield ways to match factors with some of those given, and what is left; `k` is the coefficient."""
        coefficient = given.coefficient / wanted.coefficient
        names = [each.token for each in (*wanted.above, *wanted.below)]
        if letter := next((each for each in names if each in COEFFICIENTS), ""):
            number = given.number(place, is_below=letter in [each.token for each in wanted.below])
            known = None if number is None else next(self._letter(letter, number, bound), None)
            if known is None:
                return
            bound, coefficient = known, math.copysign(1.0, given.coefficient)
        sides = [(side, each) for side in (False, True) for each in (given.below if side else given.above)]
        asked = [(side, each) for side in (False, True) for each in (wanted.below if side else wanted.above)]
        for left, each in self._chosen([pair for pair in asked if pair[1].token not in TAKEN], sides, bound):
            above, below = ([node for is_below, node in left if is_below == side] for side in (False, True))
            yield _Product(coefficient, above, below), each

    def in_sum(self, rule: Rule, node: Node) -> Node | None:
        """Return a sum with some of its terms rewritten, all signs as in the pattern or all opposite."""
        given = summands(node)
        for flips in (False, True):
            terms = [(is_negative ^ flips, each) for is_negative, each in given]
            for left, bound in self._chosen(summands(rule.pattern), terms, {}):
                found = [(False, filled(rule.form, bound, node)), *left]
                return added([(is_negative ^ flips, each) for is_negative, each in found])
        return None

    def in_product(self, rule: Rule, node: Node) -> Node | None:
        """Return a product with some of its factors rewritten."""
        for left, bound in self._left(_Product.of(rule.pattern), _Product.of(node), node, {}):
            return left._replace(above=[filled(rule.form, bound, node), *left.above]).node(node)
        return None
