"""Derivations: the rules that lead to an expression, and the expression that rules lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from edhie.errors import GrammarError
from edhie.grammar.layouts import Ints, Spelling
from edhie.grammar.patterns import Hole, Leaf, Pattern
from edhie.grammar.rules import Rule
from edhie.grammar.tables import Entry, Tables

RULE_TYPE = np.int16


def spelling_of(tables: Tables, entries: Sequence[Entry], n_rules: int, n_tokens: int) -> Spelling:
    """The arrays that spell derivations, from a grammar's tables and rules."""
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
    """Place in the text, path and target of each nonterminal of a pattern."""
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


@dataclass
class _Open:
    """A rule that has been applied, and the tokens of those of its nonterminals that are done."""

    rule: int
    done: list[list[str]] = field(default_factory=list)


def tokens_of(
    sequence: Sequence[int], rules: Sequence[Rule], patterns: Sequence[Pattern | None], start: str
) -> list[str]:
    """The prefix tokens that a leftmost derivation from `start` ends with."""
    wanted = start
    stack: list[_Open] = []
    for step, index in enumerate(sequence):
        if not 0 <= index < len(rules):
            raise GrammarError(f"step {step} asks for rule {index}; the grammar has rules 0 to {len(rules) - 1}")
        if rules[index].lhs != wanted:
            raise GrammarError(
                f"step {step} applies rule {index} ({rules[index]}) where a rule of {wanted!r} is needed"
            )
        stack.append(_Open(index))
        while len(stack[-1].done) == len(rules[stack[-1].rule].nonterminals):
            whole = stack.pop()
            tokens = _filled(rules[whole.rule], patterns[whole.rule], whole.done)
            if not stack:
                if step + 1 < len(sequence):
                    raise GrammarError(f"the derivation is whole after {step + 1} rules, {len(sequence)} were given")
                return tokens
            stack[-1].done.append(tokens)
        wanted = rules[stack[-1].rule].nonterminals[len(stack[-1].done)]
    raise GrammarError(f"the derivation stops after {len(sequence)} rules, where a rule of {wanted!r} is needed")


def _filled(rule: Rule, pattern: Pattern | None, done: Sequence[list[str]]) -> list[str]:
    """The pattern's prefix tokens, with those of its nonterminals put in."""
    if pattern is None:  # it stands for an operator
        return done[0] if done else [str(rule.rhs[0])]
    places = [at for at, part in enumerate(rule.rhs) if not isinstance(part, str)]
    return _instance(pattern, dict(zip(places, done, strict=True)))


def _instance(pattern: Pattern, parts: Mapping[int, list[str]]) -> list[str]:
    if isinstance(pattern, Leaf):
        return [pattern.name]
    if isinstance(pattern, Hole):
        return parts[pattern.at]
    operator = pattern.operator
    head = parts[operator.at] if isinstance(operator, Hole) else [operator]
    return [*head, *(token for operand in pattern.operands for token in _instance(operand, parts))]
