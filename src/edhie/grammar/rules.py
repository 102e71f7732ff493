"""The rules of a grammar, and their checks; an error points at the rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from edhie.errors import GrammarError, caret_line, suggestion
from edhie.expr.symbols import Symbol

TOLERANCE = 1e-6
MAX_RULES = 32767  # derivations keep them as 16-bit integers


@dataclass(frozen=True, order=True)
class Nonterminal:
    """A syntactic category; a plain string in a rule is a terminal."""

    name: str

    def __str__(self) -> str:
        return self.name


Part = str | Nonterminal


@dataclass(frozen=True)
class Rule:
    """One alternative of one nonterminal, such as `E -> E '+' F [0.2]`."""

    lhs: str
    rhs: tuple[Part, ...]
    probability: float
    line: int | None = field(default=None, compare=False, repr=False)
    """Line in a text, for messages."""

    @property
    def nonterminals(self) -> tuple[str, ...]:
        """Names of the nonterminals on its right-hand side, left to right."""
        return tuple(part.name for part in self.rhs if isinstance(part, Nonterminal))

    @property
    def alternative(self) -> str:
        """Right-hand side and probability in the text format."""
        # positional, since NLTK reads no exponents
        share = np.format_float_positional(self.probability, trim="0")
        return " ".join([*map(spelling, self.rhs), f"[{share}]"])

    def __str__(self) -> str:
        return f"{self.lhs} -> {self.alternative}"


def spelling(part: Part) -> str:
    """Return a part in the text format: terminals in quotes."""
    if isinstance(part, Nonterminal):
        return part.name
    return f'"{part}"' if "'" in part else f"'{part}'"


def fault(rule: Rule, what: str, at: int | None = None) -> GrammarError:
    """Return an error about a rule: its line where known, the rule, a caret under part `at`."""
    place = "" if rule.line is None else f"line {rule.line}: "
    text = str(rule)
    if at is None:
        return GrammarError(f"{place}{what}\n  {text}")
    before = [spelling(part) for part in rule.rhs[:at]]
    position = len(" ".join([rule.lhs, "->", *before])) + 1
    return GrammarError(f"{place}{what}\n{caret_line(text, position)}")


def grouped(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    """Return rules by left-hand side, in the order of first appearance."""
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule.lhs, []).append(rule)
    return groups


def normalised(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules with probabilities that sum to 1 as closely as a double can."""
    groups = grouped(rules).values()
    totals = [math.fsum(rule.probability for rule in group) for group in groups]
    return [
        replace(rule, probability=rule.probability / total)
        for group, total in zip(groups, totals, strict=True)
        for rule in group
    ]


def check_rules(groups: Mapping[str, Sequence[Rule]], start: str) -> None:
    """Check probabilities, definitions, and that every nonterminal can end."""
    if not groups:
        raise GrammarError("a grammar needs at least one rule")
    if sum(map(len, groups.values())) > MAX_RULES:
        raise GrammarError(f"a grammar may have {MAX_RULES} rules at most")
    if start not in groups:
        raise GrammarError(f"the start symbol {start!r} has no rules{suggestion(start, groups)}")
    for lhs, rules in groups.items():
        for rule in rules:
            if not 0 <= rule.probability <= 1:
                raise fault(rule, f"the probability {rule.probability} is not between 0 and 1")
        total = math.fsum(rule.probability for rule in rules)
        if abs(total - 1) > TOLERANCE:
            advice = f"; divide each by {total:.9g}" if total > 0 else ""
            raise fault(rules[0], f"the probabilities of {lhs!r} sum to {total:.9g}, not to 1{advice}")
        for rule in rules:
            if not rule.rhs:
                raise fault(rule, f"a rule of {lhs!r} is empty; no expression is, so give it symbols")
            for at, part in enumerate(rule.rhs):
                if isinstance(part, Nonterminal) and part.name not in groups:
                    hint = suggestion(part.name, groups) or "; define it, or put it in quotes if it is a terminal"
                    raise fault(rule, f"the nonterminal {part.name!r} has no rules{hint}", at)

    def can_end(lhs: str, ending: set[str]) -> bool:
        return any(rule.probability > 0 and ending.issuperset(rule.nonterminals) for rule in groups[lhs])

    ending = in_order(groups, can_end)
    for lhs in groups:
        if lhs not in ending:
            what = f"{lhs!r} never ends: each of its rules leads to a nonterminal that never ends"
            raise fault(groups[lhs][0], f"{what}; give it one that does, such as {lhs} -> 'x0' [0.5]")


def in_order(names: Iterable[str], is_ready: Callable[[str, set[str]], bool]) -> list[str]:
    """Return the names, each after those that it needs; left out are those that never are ready."""
    found: list[str] = []
    waiting = list(names)
    while new := [name for name in waiting if is_ready(name, set(found))]:
        found += new
        waiting = [name for name in waiting if name not in new]
    return found


def reachable(groups: Mapping[str, Sequence[Rule]], start: str) -> set[str]:
    """Return the nonterminals that derivations from `start` can hold."""
    found, waiting = {start}, [start]
    while waiting:
        rules = [rule for rule in groups[waiting.pop()] if rule.probability > 0]
        new = {name for rule in rules for name in rule.nonterminals} - found
        found |= new
        waiting.extend(new)
    return found


def operator_choices(
    groups: Mapping[str, Sequence[Rule]], start: str, symbols: Mapping[str, Symbol]
) -> dict[str, frozenset[Symbol]]:
    """Return the nonterminals that stand for operators, with the operators of each.

    Each rule of such a nonterminal is a single operator, or another such nonterminal.
    """
    choices: dict[str, frozenset[Symbol]] = {}
    changed = True
    while changed:
        changed = False
        for lhs, rules in groups.items():
            found = frozenset[Symbol]().union(*(_operators_of(rule, symbols, choices) for rule in rules))
            if found and choices.get(lhs) != found:
                choices[lhs] = found
                changed = True
    for lhs in choices:
        operators = [rule for rule in groups[lhs] if _operators_of(rule, symbols, choices)]
        for rule in groups[lhs]:
            if rule not in operators:
                what = f"{lhs!r} stands for an operator by '{operators[0]}', and for an operand by this rule"
                raise fault(rule, f"{what}; use two nonterminals")
    done = in_order(choices, lambda lhs, done: all(done.issuperset(rule.nonterminals) for rule in groups[lhs]))
    for lhs in choices:
        if lhs not in done:
            rule = next(rule for rule in groups[lhs] if not {*done}.issuperset(rule.nonterminals))
            raise fault(rule, f"{lhs!r} stands for an operator and leads into a circle; break it at one of its rules")
    if start in choices:
        raise fault(groups[start][0], f"the start symbol {start!r} stands for an operator, not for expressions")
    return choices


def _operators_of(
    rule: Rule, symbols: Mapping[str, Symbol], choices: Mapping[str, frozenset[Symbol]]
) -> frozenset[Symbol]:
    if len(rule.rhs) != 1:
        return frozenset()
    part = rule.rhs[0]
    if isinstance(part, Nonterminal):
        return choices.get(part.name, frozenset())
    symbol = symbols.get(part)
    return frozenset([symbol]) if symbol is not None and symbol.arity else frozenset()
