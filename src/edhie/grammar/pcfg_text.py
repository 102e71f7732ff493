"""The text format of probabilistic grammars, which is NLTK's.

    # a comment
    E -> E '+' F [0.2] | F [0.8]
    F -> 'x0' [1.0]

Terminals stand in quotes, every alternative ends with its probability, the first left-hand side is the start unless
`%start X` says otherwise. A rule goes on in the next line after a backslash, or where that line begins with `|`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

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


def read(text: str) -> tuple[list[Rule], str]:
    """Read rules and start symbol from a text; errors name the line."""
    rules: list[Rule] = []
    start = None
    for number, line in _logical_lines(text):
        if line.lstrip().startswith("%"):
            start = _directive(number, line)
        else:
            rules += _read_line(number, line)
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


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines that are not empty, joined where they continue, with the number of the first."""
    number, held = 0, ""
    for at, written in enumerate(text.splitlines(), start=1):
        line = COMMENT.sub(r"\1", written).rstrip()
        if not line:
            continue  # also between a rule and its next alternative
        if held and (held.endswith("\\") or line.lstrip().startswith("|")):
            held = f"{held.removesuffix(chr(92)).rstrip()} {line.strip()}"
        else:
            if held:
                yield number, held
            number, held = at, line
    if held:
        yield number, held.removesuffix("\\")


def _directive(number: int, line: str) -> str:
    words = line.split()
    if words[0] != "%start":
        raise _error(number, line, 0, f"unknown directive {words[0]!r}; only %start is known")
    if len(words) != 2:
        raise _error(number, line, 0, "%start takes one nonterminal, such as %start E")
    return words[1]


def _read_line(number: int, line: str) -> list[Rule]:
    tokens = _tokenise(number, line) or [("end", "", 0)]
    if tokens[0][0] != "nonterminal":
        raise _error(number, line, tokens[0][2], "a rule begins with a nonterminal, without quotes: E -> 'x0' [1.0]")
    lhs = tokens[0][1]
    if len(tokens) < 2 or tokens[1][0] != "arrow":
        at = tokens[1][2] if len(tokens) > 1 else len(line)
        raise _error(number, line, at, f"'->' is missing after {lhs!r}; one nonterminal stands before it")
    rules: list[Rule] = []
    parts: list[Part] = []
    probability: float | None = None
    for kind, text, at in [*tokens[2:], ("or", "", len(line))]:
        if kind == "or":
            if not parts:
                raise _error(number, line, at, "an alternative is empty; no expression is, so give it symbols")
            if probability is None:
                raise _error(number, line, at, "a probability such as [0.5] is missing before this")
            rules.append(Rule(lhs, tuple(parts), probability, number))
            parts, probability = [], None
        elif kind == "arrow":
            raise _error(
                number, line, at, "a second '->' in one line; put each nonterminal's rule on a line of its own"
            )
        elif probability is not None:
            raise _error(number, line, at, "'|' is missing before this; an alternative ends with its probability")
        elif kind == "probability":
            probability = _probability(number, line, text, at)
        else:
            parts.append(Nonterminal(text) if kind == "nonterminal" else text[1:-1])
    return rules


def _tokenise(number: int, line: str) -> list[Token]:
    tokens, at = [], 0
    while at < len(line):
        match = TOKEN.match(line, at)
        if match is None:
            what = "this quote is never closed" if line[at] in "'\"" else f"unexpected character {line[at]!r}"
            hint = "" if line[at] in "'\"" else "; terminals stand in quotes, such as '+'"
            raise _error(number, line, at, what + hint)
        kind = str(match.lastgroup)
        if kind != "blank":
            tokens.append((kind, match.group(), at))
        at = match.end()
    return tokens


def _probability(number: int, line: str, text: str, at: int) -> float:
    inside = text[1:-1].strip()
    if DECIMAL.fullmatch(inside) is None:
        raise _error(number, line, at, f"{text} is not a probability; write a decimal between 0 and 1, such as [0.25]")
    value = float(inside)
    if not math.isfinite(value) or value > 1:
        raise _error(number, line, at, f"the probability {inside} is not between 0 and 1")
    return value


def _error(number: int, line: str, at: int, what: str) -> GrammarError:
    return GrammarError(f"line {number}: {what}\n{caret_line(line, at)}")
