"""The text format of probabilistic grammars, which is NLTK's.

    # a comment
    E -> E '+' F [0.2] | F [0.8]
    F -> 'x0' [1.0]

Terminals stand in quotes, every alternative ends with its probability, the first left-hand side is the start unless
`%start X` says otherwise. A rule goes on in the next line after a backslash, or where that line begins with `|`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from edhie.errors import GrammarError, caret_line
from edhie.grammar.rules import Nonterminal, Part, Rule

TOKEN = re.compile(
    r"""(?P<blank>\s+)|(?P<arrow>->|→)|(?P<or>\|)
    |(?P<terminal>'[^']*'|"[^"]*")|(?P<probability>\[[^\]]*\])
    |(?P<nonterminal>[\w/](?:(?!->)[\w/^<>-])*)""",
    re.VERBOSE,
)
COMMENT = re.compile(r"""('[^']*'|"[^"]*")|#.*""")  # a quoted # is a terminal
DECIMAL = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")

Token = tuple[str, str, int]  # kind, text, position in its line


class Line(NamedTuple):
    """A line, joined with those that continue it, and the number of the first."""

    number: int
    text: str

    def error(self, what: str, at: int = 0) -> GrammarError:
        """Return an error that points at a place in the line."""
        return GrammarError(f"line {self.number}: {what}\n{caret_line(self.text, at)}")


def read(text: str) -> tuple[list[Rule], str]:
    """Read rules and start symbol from a text; errors name the line."""
    rules: list[Rule] = []
    start = None
    for line in _lines(text):
        if line.text.lstrip().startswith("%"):
            start = _directive(line)
        else:
            rules += _rules(line)
    if not rules:
        raise GrammarError("the grammar has no rules; write at least one, such as E -> E '+' 'x0' [0.3] | 'x0' [0.7]")
    return rules, start or rules[0].lhs


def write(rules: Iterable[Rule], start: str) -> str:
    """Return rules as text that `read` reads back, with a line for each nonterminal."""
    lines = []
    for lhs, group in groupby(rules, key=lambda rule: rule.lhs):
        lines.append(f"{lhs} -> {' | '.join(rule.alternative for rule in group)}\n")
    if not lines[0].startswith(f"{start} ->"):
        lines.insert(0, f"%start {start}\n")
    return "".join(lines)


def _lines(text: str) -> Iterator[Line]:
    """Yield lines that are not empty, joined where they continue."""
    number, held = 0, ""
    for at, written in enumerate(text.splitlines(), start=1):
        line = COMMENT.sub(r"\1", written).rstrip()
        if not line:
            continue  # also between a rule and its next alternative
        if held and (held.endswith("\\") or line.lstrip().startswith("|")):
            held = f"{held.removesuffix(chr(92)).rstrip()} {line.strip()}"
        else:
            if held:
                yield Line(number, held)
            number, held = at, line
    if held:
        yield Line(number, held.removesuffix("\\"))


def _directive(line: Line) -> str:
    words = line.text.split()
    if words[0] != "%start":
        raise line.error(f"unknown directive {words[0]!r}; only %start is known")
    if len(words) != 2:
        raise line.error("%start takes one nonterminal, such as %start E")
    return words[1]


def _rules(line: Line) -> list[Rule]:
    tokens = _tokens(line) or [("end", "", 0)]
    end = len(line.text)
    if tokens[0][0] != "nonterminal":
        raise line.error("a rule begins with a nonterminal, without quotes: E -> 'x0' [1.0]", tokens[0][2])
    lhs = tokens[0][1]
    if len(tokens) < 2 or tokens[1][0] != "arrow":
        at = tokens[1][2] if len(tokens) > 1 else end
        raise line.error(f"'->' is missing after {lhs!r}; one nonterminal stands before it", at)
    rules: list[Rule] = []
    parts: list[Part] = []
    probability: float | None = None
    for kind, text, at in [*tokens[2:], ("or", "", end)]:
        if kind == "or":
            if not parts:
                raise line.error("an alternative is empty; no expression is, so give it symbols", at)
            if probability is None:
                raise line.error("a probability such as [0.5] is missing before this", at)
            rules.append(Rule(lhs, tuple(parts), probability, line.number))
            parts, probability = [], None
        elif kind == "arrow":
            raise line.error("a second '->' in one line; put each nonterminal's rule on a line of its own", at)
        elif probability is not None:
            raise line.error("'|' is missing before this; an alternative ends with its probability", at)
        elif kind == "probability":
            probability = _probability(line, text, at)
        else:
            parts.append(Nonterminal(text) if kind == "nonterminal" else text[1:-1])
    return rules


def _tokens(line: Line) -> list[Token]:
    tokens, at = [], 0
    while at < len(line.text):
        match = TOKEN.match(line.text, at)
        if match is None:
            if line.text[at] in "'\"":
                raise line.error("this quote is never closed", at)
            raise line.error(f"unexpected character {line.text[at]!r}; terminals stand in quotes, such as '+'", at)
        kind = str(match.lastgroup)
        if kind != "blank":
            tokens.append((kind, match.group(), at))
        at = match.end()
    return tokens


def _probability(line: Line, text: str, at: int) -> float:
    inside = text[1:-1].strip()
    if DECIMAL.fullmatch(inside) is None:
        raise line.error(f"{text} is not a probability; write a decimal between 0 and 1, such as [0.25]", at)
    value = float(inside)
    if not value <= 1:
        raise line.error(f"the probability {inside} is not between 0 and 1", at)
    return value
