"""The parts of a grammar: nonterminals and rules, and how an error points at one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edhie.errors import GrammarError, caret_line


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
