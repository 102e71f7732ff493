"""A grammar as flat arrays in which every alternative makes exactly one node of a tree.

States are the nonterminals that stand for operands, and one more for each inner piece of a longer pattern. Chains of
unit rules (`E -> F`, `T -> '(' E ')'`) are folded into the alternatives: summed over all chains, circles included, for
probabilities, and by the best chain for derivations. So one draw makes one node, and one pass sums or maximises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import NUMBER
from edhie.grammar.patterns import Hole, Leaf, Node, Pattern
from edhie.grammar.rules import Nonterminal, Rule, in_order

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NONE = -1
"""The state of an operand that an alternative does not have."""


class Alternative(NamedTuple):
    """One way in which a state makes a node."""

    state: int
    token: int
    left: int
    right: int
    total: float
    """Logarithm of the probability, over all derivations."""
    best: float
    """Logarithm of the best derivation's probability."""
    rules: tuple[int, ...]
    """Its rules: a chain of unit rules and the rule that makes the node; none within a pattern."""


class Alternatives(NamedTuple):
    """Alternatives by state, the most probable first, as arrays."""

    starts: Ints
    """Offset of each state's alternatives."""
    state: Ints
    token: Ints
    number: Floats
    """Value of a number, NaN for other tokens."""
    left: Ints
    """State of the first operand, NONE for leaves."""
    right: Ints
    probability: Floats
    """Sum over all derivations."""


@dataclass(frozen=True, eq=False)
class Tables:
    """The alternatives of all states, and the rules that the best derivations apply."""

    states: tuple[str | Pattern, ...]
    start: int
    alternatives: Alternatives
    by_symbol: dict[tuple[str, int, str], list[Alternative]]
    """Alternatives that make a symbol, by `Symbol.key`."""
    operator_rules: dict[str, dict[int, tuple[int, ...]]]
    """The best chain of rules to each token, by nonterminal that stands for operators."""

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.states)


class Weight(NamedTuple):
    """A probability over all derivations, that of the best one, and the rules which that one applies."""

    total: float
    best: float
    rules: tuple[int, ...]

    def or_else(self, other: Weight) -> Weight:
        """Return the weight of either of two ways; of equals the first is the best."""
        ahead = self if self.best >= other.best else other
        return Weight(self.total + other.total, ahead.best, ahead.rules)

    def and_then(self, other: Weight) -> Weight:
        """Return the weight of one after the other."""
        return Weight(self.total * other.total, self.best * other.best, self.rules + other.rules)


NEVER = Weight(0.0, 0.0, ())
ALWAYS = Weight(1.0, 1.0, ())
Shape = tuple[int, float | None, int, int]
"""Token, a number's value, left and right state of the node that an alternative makes."""


class Entry(NamedTuple):
    """A rule that derivations can hold; without a pattern where it stands for an operator."""

    place: int
    rule: Rule
    pattern: Pattern | None


def build(entries: Sequence[Entry], start: str, library: SymbolLibrary) -> Tables:
    """Return the tables of all rules of positive probability that can be reached from `start`."""
    return _Builder(entries, library).tables(start)


class _Builder:
    """Collects the alternatives as written, then folds the unit rules into them."""

    def __init__(self, entries: Sequence[Entry], library: SymbolLibrary) -> None:
        self.library = library
        self.operators = _operator_weights(entries, library)
        self.states: dict[str | Pattern, int] = {}
        for entry in entries:
            if entry.pattern is not None:
                self.states.setdefault(entry.rule.lhs, len(self.states))
        self.made: list[dict[Shape, Weight]] = [{} for _ in self.states]
        self.units: dict[tuple[int, int], Weight] = {}
        for place, rule, pattern in entries:
            if pattern is not None:
                self.add(self.states[rule.lhs], pattern, Weight(rule.probability, rule.probability, (place,)))

    def add(self, state: int, pattern: Pattern, weight: Weight) -> None:
        if isinstance(pattern, Hole):
            step = (state, self.states[pattern.name])
            self.units[step] = self.units.get(step, NEVER).or_else(weight)
            return
        made = self.made[state]
        for shape, choice in self.shapes(pattern):
            # a chain of operator rules is looked up by its token, so its rules are left out here
            new = weight.and_then(choice._replace(rules=()))
            made[shape] = made.get(shape, NEVER).or_else(new)

    def shapes(self, pattern: Leaf | Node) -> list[tuple[Shape, Weight]]:
        if isinstance(pattern, Leaf):
            token = self.library.id_of(pattern.name)
            number = float(pattern.name) if self.library.names[token] == NUMBER.name else None
            return [((token, number, NONE, NONE), ALWAYS)]
        left, right = [*map(self.state_of, pattern.operands), NONE][:2]
        name = pattern.operator
        tokens = self.operators[name.name] if isinstance(name, Hole) else {self.library.ids[name]: ALWAYS}
        return [((token, None, left, right), weight) for token, weight in tokens.items()]

    def state_of(self, pattern: Pattern) -> int:
        if isinstance(pattern, Hole):
            return self.states[pattern.name]
        if pattern not in self.states:
            self.states[pattern] = len(self.states)
            self.made.append({})
            self.add(self.states[pattern], pattern, ALWAYS)
        return self.states[pattern]

    def tables(self, start: str) -> Tables:
        chains = _chains(self.units, len(self.states))
        rows: list[tuple[int, Shape, Weight]] = []
        for state in range(len(self.states)):
            folded: dict[Shape, Weight] = {}
            for end, chain in chains[state].items():
                for shape, weight in self.made[end].items():
                    folded[shape] = folded.get(shape, NEVER).or_else(chain.and_then(weight))
            rows += [(state, *pair) for pair in sorted(folded.items(), key=lambda item: -item[1].total)]
        states, shapes, weights = zip(*rows, strict=True)
        token, number, left, right = zip(*shapes, strict=True)
        totals, bests = (np.array([weight[k] for weight in weights]) for k in range(2))
        by_symbol: dict[tuple[str, int, str], list[Alternative]] = {}
        for (state, shape, weight), total, best in zip(
            rows, np.log(totals).tolist(), np.log(bests).tolist(), strict=True
        ):
            symbol = self.library.symbols[shape[0]]
            key = symbol.key(symbol.name if shape[1] is None else numeral(shape[1]))
            alternative = Alternative(state, shape[0], shape[2], shape[3], total, best, weight.rules)
            by_symbol.setdefault(key, []).append(alternative)
        return Tables(
            states=tuple(self.states),
            start=self.states[start],
            alternatives=Alternatives(
                starts=np.concatenate([[0], np.cumsum(np.bincount(states, minlength=len(self.states)))]),
                state=np.array(states, np.int64),
                token=np.array(token, np.int64),
                number=np.array(number, np.float64),
                left=np.array(left, np.int64),
                right=np.array(right, np.int64),
                probability=totals,
            ),
            by_symbol=by_symbol,
            operator_rules={
                name: {token: weight.rules for token, weight in choices.items()}
                for name, choices in self.operators.items()
            },
        )


def _operator_weights(entries: Sequence[Entry], library: SymbolLibrary) -> dict[str, dict[int, Weight]]:
    """Return the weight of each token, by nonterminal that stands for operators."""
    own: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.pattern is None:
            own.setdefault(entry.rule.lhs, []).append(entry)
    weights: dict[str, dict[int, Weight]] = {}
    for lhs in in_order(own, lambda lhs, done: all(done.issuperset(each.rule.nonterminals) for each in own[lhs])):
        weights[lhs] = {}
        for place, rule, _ in own[lhs]:
            part, weight = rule.rhs[0], Weight(rule.probability, rule.probability, (place,))
            tails = weights[part.name] if isinstance(part, Nonterminal) else {library.ids[part]: ALWAYS}
            for token, tail in tails.items():
                weights[lhs][token] = weights[lhs].get(token, NEVER).or_else(weight.and_then(tail))
    return weights


def _chains(units: Mapping[tuple[int, int], Weight], n: int) -> list[dict[int, Weight]]:
    """Return for each state the weight of reaching each other by unit rules alone, itself included."""
    steps = np.zeros((n, n))
    for (state, end), weight in units.items():
        steps[state, end] = weight.total
    totals = np.linalg.inv(np.eye(n) - steps)  # the sum over chains of any length, circles included
    best = [{state: ALWAYS} for state in range(n)]
    for _ in range(n):  # a best chain visits no state twice, so n rounds find all
        for (state, end), weight in units.items():
            for target, tail in best[end].items():
                if weight.best * tail.best > best[state].get(target, NEVER).best:
                    best[state][target] = weight.and_then(tail)
    return [
        {end: weight._replace(total=totals[state, end]) for end, weight in ends.items()}
        for state, ends in enumerate(best)
    ]
