"""Right-hand sides read as tree patterns.

A grammar here is a grammar of trees. Each right-hand side is an infix pattern, read with the ordinary precedence of its
operators, in which a nonterminal that stands for an operand is one whole operand, whatever it derives: with `F -> E '*'
T`, an E that derives x0 + x1 gives (x0 + x1)*T. Parentheses in rules are notation only; they leave no trace in the
tree. A nonterminal may also stand for an operator: infix in `S A F`, after its operand in `'(' E ')' P`, as a function
in `R '(' E ')'`. A '-' before an operand is `neg`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from edhie.errors import GrammarError, suggestion
from edhie.expr.symbols import OPERATORS, Precedence, Symbol
from edhie.grammar.rules import Nonterminal, Part, Rule, fault, spelling

PUNCTUATION = ("(", ")", ",")
MAX_DEPTH = 50  # a deeper pattern belongs in several nonterminals; paths must also fit 62 bits


@dataclass(frozen=True)
class Leaf:
    """A terminal operand: a variable, the fitted constant, a number."""

    name: str


@dataclass(frozen=True)
class Hole:
    """A nonterminal and its position on the right-hand side."""

    name: str
    at: int = field(compare=False)


@dataclass(frozen=True)
class Node:
    """An operator, by its symbol's name or as a nonterminal, and its operands."""

    operator: str | Hole
    operands: tuple[Pattern, ...]


Pattern = Leaf | Hole | Node
Choices = Mapping[str, frozenset[Symbol]]
"""Operators of each nonterminal that stands for operators."""


def read_pattern(rule: Rule, symbols: Mapping[str, Symbol], operators: Choices) -> Pattern:
    """Return the tree pattern of a right-hand side; `symbols` holds its terminals but for punctuation, and `neg`."""
    return _Reader(rule, symbols, operators).whole()


@dataclass(frozen=True)
class _Operator:
    """An operator as it stands in a pattern: one symbol, or a nonterminal for several."""

    name: str | Hole
    symbols: frozenset[Symbol]

    @property
    def precedence(self) -> int:
        return min(symbol.precedence for symbol in self.symbols)

    def is_all(self, style: str) -> bool:
        return all(symbol.style == style for symbol in self.symbols)


class _Reader:
    """Precedence climbing over the parts of one right-hand side."""

    def __init__(self, rule: Rule, symbols: Mapping[str, Symbol], operators: Choices) -> None:
        self.rule, self.symbols, self.operators = rule, symbols, operators
        self.at = 0
        self.depth = 0
        self.taken: list[tuple[_Operator, int]] = []  # operators of this level of parentheses

    def whole(self) -> Pattern:
        pattern = self.level()
        if self.next is not None:
            raise self.unexpected()
        return pattern

    @property
    def next(self) -> Part | None:
        return self.rule.rhs[self.at] if self.at < len(self.rule.rhs) else None

    def error(self, what: str, at: int | None = None) -> GrammarError:
        return fault(self.rule, what, self.at if at is None else at)

    def unexpected(self) -> GrammarError:
        if self.next == ")":
            return self.error("this ')' closes nothing")
        if self.next == ",":
            return self.error("a comma belongs between the operands of a function")
        before = self.rule.rhs[self.at - 1]
        hint = suggestion(before, OPERATORS) if isinstance(before, str) and self.next == "(" else ""
        shown = spelling(self.rule.rhs[self.at])
        return self.error(f"an operator is missing between {spelling(before)} and {shown}{hint}")

    def operator_at(self, at: int) -> _Operator | None:
        part = self.rule.rhs[at] if at < len(self.rule.rhs) else None
        if isinstance(part, Nonterminal):
            symbols = self.operators.get(part.name)
            return _Operator(Hole(part.name, at), symbols) if symbols else None
        symbol = self.symbols.get(part) if part is not None else None
        return _Operator(symbol.name, frozenset([symbol])) if symbol is not None and symbol.arity else None

    def level(self) -> Pattern:
        """Read up to a closing parenthesis, a comma or the end."""
        outer, self.taken = self.taken, []
        pattern = self.expression(0)
        for operator, at in self.taken if len(self.taken) > 1 else ():
            if len({symbol.precedence for symbol in operator.symbols}) > 1:
                shown = spelling(self.rule.rhs[at])
                raise self.error(f"{shown} stands for operators of different precedence; use parentheses around it", at)
        self.taken = outer
        return pattern

    def expression(self, least: int) -> Pattern:
        """Read everything that binds more tightly than `least`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"more than {MAX_DEPTH} levels in one rule; split it into several nonterminals")
        left = self.operand()
        while True:
            operator = self.operator_at(self.at)
            if operator is None or operator.precedence <= least:
                break
            if operator.is_all("postfix"):
                self.take_operator(operator)
                left = Node(operator.name, (left,))
            elif operator.is_all("infix"):
                self.take_operator(operator)
                is_power = operator.precedence == Precedence.POWER  # which alone groups to the right
                right = self.expression(operator.precedence - is_power)
                left = Node(operator.name, (left, right))
            else:
                raise self.unexpected()
        self.depth -= 1
        return left

    def take_operator(self, operator: _Operator) -> None:
        self.taken.append((operator, self.at))
        self.at += 1

    def operand(self) -> Pattern:
        part = self.next
        operator = self.operator_at(self.at)
        if part is None or part == ")" or part == ",":
            where = "at the end" if part is None else f"before {spelling(part)}"
            raise self.error(f"an operand is missing {where}")
        if part == "(":
            opening = self.at
            self.at += 1
            inside = self.level()
            self.close(opening)
            return inside
        if operator is not None:
            return self.applied(operator, part)
        self.at += 1
        return Hole(part.name, self.at - 1) if isinstance(part, Nonterminal) else Leaf(part)

    def applied(self, operator: _Operator, part: Part) -> Pattern:
        """Read an operator before its operand or operands."""
        if part == "-":
            if "neg" not in self.symbols:
                raise self.error("a '-' before an operand needs 'neg' in the library")
            operator = _Operator("neg", frozenset([self.symbols["neg"]]))
        if operator.is_all("prefix"):
            self.take_operator(operator)
            return Node(operator.name, (self.expression(Precedence.NEGATION),))
        if self.at + 1 < len(self.rule.rhs) and self.rule.rhs[self.at + 1] == "(":
            return self.call(operator, part)
        if operator.is_all("function"):
            raise self.error(f"{spelling(part)} is a function; put its operands in parentheses after it")
        raise self.error(f"an operand is missing before {spelling(part)}")

    def call(self, operator: _Operator, part: Part) -> Pattern:
        name, opening = self.at, self.at + 1
        self.at += 2
        operands = [self.level()]
        while self.next == ",":
            self.at += 1
            operands.append(self.level())
        self.close(opening)
        for symbol in sorted(operator.symbols, key=lambda each: each.name):
            if symbol.arity != len(operands):
                takes = f"{symbol.arity} operand{'s' * (symbol.arity > 1)}"
                raise self.error(f"{symbol.name!r} takes {takes}, {spelling(part)} has {len(operands)}", name)
        return Node(operator.name, tuple(operands))

    def close(self, opening: int) -> None:
        if self.next is None:
            raise self.error("this '(' is never closed", opening)
        if self.next != ")":
            raise self.unexpected()
        self.at += 1
