"""Trees and rules as arrays, with which kernels go from expressions to derivations and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.symbols import NUMBER
from edhie.grammar.arrays import Ints, Spelling, Templates, Trees
from edhie.grammar.patterns import Hole, Leaf, Pattern
from edhie.grammar.rules import Nonterminal, Rule
from edhie.grammar.tables import Entry, Tables

Derivations = tuple[NDArray[np.int16], Ints]
"""Rules of many leftmost derivations end to end, and where each begins."""


def trees_of(forest: Forest, library: SymbolLibrary) -> Trees:
    """Return the trees over the grammar's library; unlike in a cast, unknown symbols are allowed."""
    own = forest.library
    numbers = np.full(len(forest.tokens), np.nan)
    numbers[own.has_slot[forest.tokens]] = forest.values
    tokens = forest.tokens
    if own != library:
        any_number, unknown = library.ids.get(NUMBER.name, len(library)), len(library)
        ids = own.ids_in(library)
        table = np.where(ids < 0, unknown, ids).astype(np.int16)
        for old in np.flatnonzero(ids < 0).tolist():
            if library.has_numbers and is_numeral(own.names[old]):
                table[old] = any_number
                numbers = np.where(forest.tokens == old, float(own.names[old]), numbers)
        tokens = table[forest.tokens]
        if own.has_numbers:  # a number of theirs may be a literal of ours
            at = np.flatnonzero(forest.tokens == own.ids[NUMBER.name])
            values, which = np.unique(numbers[at], return_inverse=True)
            found = [library.ids.get(numeral(value), any_number) for value in values.tolist()]
            tokens[at] = np.array(found, np.int16)[which]
    return Trees(tokens, numbers, forest.left, forest.right, forest.offsets)


def spelling_of(tables: Tables, entries: Sequence[Entry], n_rules: int, n_tokens: int) -> Spelling:
    """Return the arrays that spell derivations, from a grammar's tables and rules."""
    rows = list(tables.rules)
    operator_rows = np.full((len(tables.operator_rules), n_tokens), -1, np.int64)
    for operator, chains in enumerate(tables.operator_rules.values()):
        for token, chain in chains.items():
            operator_rows[operator, token] = len(rows)
            rows.append(chain)
    targets = {name: state for state, name in enumerate(tables.states) if isinstance(name, str)}
    targets |= {name: -1 - operator for operator, name in enumerate(tables.operator_rules)}
    slots: list[list[tuple[int, int, int]]] = [[] for _ in range(n_rules)]
    for place, _, pattern in entries:
        slots[place] = sorted(_slots(pattern, targets, 1)) if pattern is not None else []
    return Spelling(
        rule_starts=_offsets(rows),
        rules=np.array([rule for row in rows for rule in row], np.int64),
        operator_rows=operator_rows,
        slot_starts=_offsets(slots),
        path=np.array([path for row in slots for _, path, _ in row], np.int64),
        target=np.array([target for row in slots for _, _, target in row], np.int64),
    )


def _slots(pattern: Pattern, targets: Mapping[str, int], path: int) -> list[tuple[int, int, int]]:
    """Return place in the text, path and target of each nonterminal of a pattern."""
    if isinstance(pattern, Leaf):
        return []
    if isinstance(pattern, Hole):
        return [(pattern.at, path, targets[pattern.name])]
    found = [slot for i, each in enumerate(pattern.operands) for slot in _slots(each, targets, 2 * path + i)]
    if isinstance(pattern.operator, Hole):
        found.append((pattern.operator.at, path, targets[pattern.operator.name]))
    return found


def _offsets(rows: Sequence[Sequence[object]]) -> Ints:
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)


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
