"""Rules as pieces of prefix notation: arrays with which kernels follow derivations.

Kernels (those with `from edhie.expr.jit import jit`) compile the order of these fields in; naming that import here
counts this file among the sources that decide which cached machine code is current.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import NUMBER
from edhie.grammar.arrays import Floats, Ints
from edhie.grammar.patterns import Hole, Leaf, Pattern
from edhie.grammar.rules import Nonterminal, Rule


class Templates(NamedTuple):
    """Rules: left-hand side, nonterminals in the order of the text, and piece of a prefix."""

    start: int
    """The nonterminal that derivations begin with."""
    lhs: Ints
    """Nonterminal on the left-hand side of each rule."""
    rhs_starts: Ints
    """Offset in `rhs` of each rule's nonterminals."""
    rhs: Ints
    item_starts: Ints
    """Offset in `items` of each rule's piece."""
    items: Ints
    """Tokens in prefix order, with -1, -2, … for the first, second, … nonterminal of the rule's text."""
    numbers: Floats
    """Value of each item that is a number, NaN for all else."""


def templates_of(
    rules: Sequence[Rule], patterns: Sequence[Pattern | None], library: SymbolLibrary, start: str
) -> Templates:
    """Return the templates of all rules, those of probability 0 too."""
    places = {name: place for place, name in enumerate(dict.fromkeys(rule.lhs for rule in rules))}
    rhs = [[places[name] for name in rule.nonterminals] for rule in rules]
    items = [_items(rule, pattern) for rule, pattern in zip(rules, patterns, strict=True)]
    tokens = [[item if isinstance(item, int) else library.id_of(item) for item in row] for row in items]
    numbers = [
        float(str(item)) if token >= 0 and library.names[token] == NUMBER.name else math.nan
        for row, ids in zip(items, tokens, strict=True)
        for item, token in zip(row, ids, strict=True)
    ]
    return Templates(
        start=places[start],
        lhs=np.array([places[rule.lhs] for rule in rules], np.int64),
        rhs_starts=np.cumsum([0, *map(len, rhs)], dtype=np.int64),
        rhs=np.array([place for row in rhs for place in row], np.int64),
        item_starts=np.cumsum([0, *map(len, tokens)], dtype=np.int64),
        items=np.array([token for row in tokens for token in row], np.int64),
        numbers=np.array(numbers, np.float64),
    )


def _items(rule: Rule, pattern: Pattern | None) -> list[str | int]:
    """Return the names of a rule's tokens in prefix order, with its first, second, … nonterminal as -1, -2, …."""
    places = [at for at, part in enumerate(rule.rhs) if isinstance(part, Nonterminal)]
    holes = {at: -1 - k for k, at in enumerate(places)}
    if pattern is None:  # it stands for an operator
        return [-1] if places else [str(rule.rhs[0])]
    return _prefix(pattern, holes)


def _prefix(pattern: Pattern, holes: Mapping[int, int]) -> list[str | int]:
    if isinstance(pattern, Leaf):
        return [pattern.name]
    if isinstance(pattern, Hole):
        return [holes[pattern.at]]
    operator = pattern.operator
    head = holes[operator.at] if isinstance(operator, Hole) else operator
    return [head, *(item for operand in pattern.operands for item in _prefix(operand, holes))]
