"""From expressions to their derivations, and back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Expr
from edhie.expr.symbols import Symbol
from edhie.grammar.patterns import Hole, Leaf, Pattern
from edhie.grammar.rules import Nonterminal, Rule
from edhie.grammar.tables import NONE, Alternative, Ints, Tables

Derivations = tuple[NDArray[np.int16], Ints]
"""Rules of many leftmost derivations end to end, and where each begins."""


# -- from an expression to the rules that make it --------------------------------------


class Way(NamedTuple):
    """How a state derives a tree: logarithms of the probability of all derivations and of the best, and that one."""

    total: float
    best: float
    alternative: Alternative
    operands: tuple[Way, ...]


def ways_to(expr: Expr, tables: Tables) -> dict[int, Way]:
    """Return the way of each state that derives the tree."""

    def node(symbol: Symbol, token: str, operands: Sequence[dict[int, Way]]) -> dict[int, Way]:
        found: dict[int, Way] = {}
        for each in tables.by_symbol.get(symbol.key(token), ()):
            total, best, below = each.total, each.best, []
            for states, state in zip(operands, (each.left, each.right), strict=False):
                if state not in states:
                    break
                below.append(states[state])
                total, best = total + below[-1].total, best + below[-1].best
            else:
                new, other = Way(total, best, each, tuple(below)), found.get(each.state)
                if other is not None:
                    low, high = sorted((total, other.total))
                    ahead = new if best > other.best else other
                    new = ahead._replace(total=high + math.log1p(math.exp(low - high)))
                found[each.state] = new
        return found

    return expr.fold(
        lambda symbol, token, value: node(symbol, token, ()), lambda symbol, below: node(symbol, symbol.name, below)
    )


def rules_of(way: Way, patterns: Sequence[Pattern | None], tables: Tables) -> list[int]:
    """Return the rules of the best leftmost derivation."""
    rules: list[int] = []
    waiting: list[Way | tuple[int, ...]] = [way]  # what is still to be spelled, the leftmost on top
    while waiting:
        item = waiting.pop()
        if not isinstance(item, Way):
            rules += item
            continue
        rules += item.alternative.rules
        pattern = patterns[item.alternative.rules[-1]]
        if not isinstance(pattern, Leaf | None):
            waiting += [part for _, part in sorted(_parts(pattern, item, tables), key=lambda pair: -pair[0])]
    return rules


def _parts(pattern: Pattern, way: Way, tables: Tables) -> Iterator[tuple[int, Way | tuple[int, ...]]]:
    """Yield each nonterminal's place in the text of a rule, and what it derives: an operand, or an operator's rules."""
    if isinstance(pattern, Hole):
        yield pattern.at, way
    elif not isinstance(pattern, Leaf):
        if isinstance(pattern.operator, Hole):
            yield pattern.operator.at, tables.operator_rules[pattern.operator.name][way.alternative.token]
        for each, below in zip(pattern.operands, way.operands, strict=True):
            yield from _parts(each, below, tables)


# -- from rules to the tree that they make ---------------------------------------------


class Template(NamedTuple):
    """A rule: its left-hand side, its nonterminals in the order of the text, and the piece of a tree that it makes."""

    lhs: str
    nonterminals: list[str]
    items: list[str | int]
    """Tokens in prefix order, with 0, 1, … for the first, second, … nonterminal."""


def template_of(rule: Rule, pattern: Pattern | None) -> Template:
    """Return the template of a rule; without a pattern it stands for an operator."""
    places = [at for at, part in enumerate(rule.rhs) if isinstance(part, Nonterminal)]
    holes = {at: k for k, at in enumerate(places)}
    operator: str | int = 0 if places else str(rule.rhs[0])
    return Template(rule.lhs, list(rule.nonterminals), [operator] if pattern is None else _items(pattern, holes))


def _items(pattern: Pattern, holes: Mapping[int, int]) -> list[str | int]:
    if isinstance(pattern, Leaf):
        return [pattern.name]
    if isinstance(pattern, Hole):
        return [holes[pattern.at]]
    operator = pattern.operator
    head = holes[operator.at] if isinstance(operator, Hole) else operator
    return [head, *(item for operand in pattern.operands for item in _items(operand, holes))]


def tokens_of(derivation: Sequence[int], templates: Sequence[Template], start: str) -> list[str] | None:
    """Return the prefix tokens of the tree of a whole leftmost derivation; None for other rules."""
    made: list[tuple[str, list[str]]] = []  # finished pieces, the leftmost on top
    for index in reversed(derivation):
        if not 0 <= index < len(templates):
            return None
        lhs, nonterminals, items = templates[index]
        parts = [made.pop() for _ in nonterminals[: len(made)]]
        if [name for name, _ in parts] != nonterminals:
            return None
        tokens: list[str] = []
        for item in items:
            if isinstance(item, str):
                tokens.append(item)
            else:
                tokens += parts[item][1]
        made.append((lhs, tokens))
    return made[0][1] if [name for name, _ in made] == [start] else None


def misfit(sequence: Sequence[int], rules: Sequence[Rule], start: str) -> str:
    """Return the reason why rules are not one complete leftmost derivation."""
    waiting = [start]
    for step, index in enumerate(sequence):
        if not waiting:
            return f"the derivation is whole after {step} rules, {len(sequence)} were given"
        wanted = waiting.pop()
        if not 0 <= index < len(rules):
            return f"step {step} asks for rule {index}; the grammar has rules 0 to {len(rules) - 1}"
        if rules[index].lhs != wanted:
            return f"step {step} applies rule {index} ({rules[index]}) where a rule of {wanted!r} is needed"
        waiting += reversed(rules[index].nonterminals)
    return f"the derivation stops after {len(sequence)} rules, where a rule of {waiting[-1]!r} is needed"


def guided(scores: NDArray[np.float32], templates: Sequence[Template], start: str) -> tuple[Derivations, Ints]:
    """Return the derivations that take, step by step, the best rule of the nonterminal in turn; and which are whole.

    `scores` (derivations, steps, rules).
    """
    names = list(dict.fromkeys(each.lhs for each in templates))
    lhs = np.array([names.index(each.lhs) for each in templates])
    counts = np.array([len(each.nonterminals) for each in templates])
    following = np.full((len(templates), counts.max()), NONE)  # nonterminals, the last first
    for k, each in enumerate(templates):
        following[k, : counts[k]] = [names.index(name) for name in reversed(each.nonterminals)]
    n, steps, _ = scores.shape
    rules = np.full((n, steps), NONE, np.int16)
    waiting = np.empty((n, 1 + steps * counts.max()), np.int64)  # nonterminals to be expanded, the leftmost on top
    waiting[:, 0], top = names.index(start), np.ones(n, np.int64)
    for step in range(steps):
        rows = np.flatnonzero(top)
        top[rows] -= 1
        is_own = lhs == waiting[rows, top[rows], None]
        best = np.where(is_own, np.maximum(scores[rows, step], np.finfo(np.float32).min), -np.inf).argmax(axis=1)
        rules[rows, step] = best
        for j in range(counts.max()):
            more = counts[best] > j
            waiting[rows[more], top[rows[more]]] = following[best[more], j]
            top[rows[more]] += 1
    whole = np.flatnonzero(top == 0)
    taken = rules[whole] != NONE
    return (rules[whole][taken], np.concatenate([[0], np.cumsum(taken.sum(axis=1))])), whole
