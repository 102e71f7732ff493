"""Expressions as sequences of symbols of one length: a grammar's rules (GVAE), or tokens of infix text (CVAE)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, takewhile
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError, GrammarError
from edhie.expr import Expr, Forest, SymbolLibrary, to_infix_tokens
from edhie.expr.notation import LEFT_ASSOCIATIVE, postfix_to_prefix
from edhie.expr.symbols import NUMBER
from edhie.generators.base import refuse_numbers
from edhie.grammar import PCFG

Sequences = NDArray[np.int64]  # (expressions, length)
Mask = NDArray[np.bool_]
Spelled = tuple[NDArray[np.int16], NDArray[np.int64]]
"""Sequences end to end, and where each begins."""
SHORTEST = 7  # the convolutions, of 2, 3 and 4 symbols one after another, take no shorter sequence


def length_for(spelled: Spelled) -> int:
    """Return the length of the longest of these sequences, or the shortest that the encoder takes."""
    return max(SHORTEST, int(np.diff(spelled[1]).max(initial=0)))


def padded(spelled: Spelled, length: int, padding: int) -> Sequences:
    """Return rows of one length: cut off, or with padding behind their end."""
    symbols, offsets = spelled
    sizes = np.minimum(np.diff(offsets), length)
    rows = np.full((len(sizes), length), padding, dtype=np.int64)
    within = np.arange(length) < sizes[:, None]
    places = offsets[:-1, None] + np.arange(length)
    rows[within] = symbols[places[within]]
    return rows


@dataclass(frozen=True, eq=False)
class RuleNotation:
    """Expressions as the rules of their most probable leftmost derivation."""

    grammar: PCFG
    length: int

    @classmethod
    def for_forest(cls, forest: Forest, grammar: PCFG) -> Self:
        """Return a notation as long as the forest's longest derivation."""
        try:
            if grammar.library != forest.library:
                grammar = PCFG(grammar.rules, start=grammar.start, library=forest.library)
            return cls(grammar, length_for(grammar.derivations(forest)))
        except GrammarError as error:
            raise GeneratorError(f"the grammar does not fit the forest: {error}") from error

    @property
    def library(self) -> SymbolLibrary:
        """The library of the expressions."""
        return self.grammar.library

    @property
    def symbols(self) -> int:
        """The rules, and the padding."""
        return len(self.grammar.rules) + 1

    @cached_property
    def rivals(self) -> Mask:
        """A rule is chosen among those with its left-hand side; padding has no rival."""
        lhs = np.append(self.grammar.rule_lhs, -1)
        same: Mask = lhs[:, None] == lhs
        return same

    def spelled(self, forest: Forest) -> Spelled:
        """Return the rules of each expression's derivation; one that the grammar cannot derive raises."""
        try:
            return self.grammar.derivations(forest)
        except GrammarError as error:
            raise GeneratorError(f"a gvae encodes what its grammar derives: {error}") from error

    def read(self, scores: NDArray[np.float32]) -> tuple[Forest, NDArray[np.int64]]:
        """Return the expressions of the derivations that are whole after the last step."""
        derivations, places = self.grammar.guided_derivations(scores[:, :, :-1])
        return self.grammar.expressions(*derivations), places

    def is_over(self, scores: NDArray[np.float32]) -> Mask:
        """Return whose derivations are whole after these steps."""
        found = np.zeros(len(scores), dtype=np.bool_)
        found[self.grammar.guided_derivations(scores[:, :, :-1])[1]] = True
        return found

    def settings(self) -> dict[str, Any]:
        """Return the grammar's text and the length."""
        return {"grammar": str(self.grammar), "length": self.length}


@dataclass(frozen=True, eq=False)
class InfixNotation:
    """Expressions as infix tokens with the fewest parentheses: the library's symbols, '(', ')' and perhaps ','.

    A negation is the token `neg`, never the `-` of a difference.
    """

    library: SymbolLibrary
    length: int

    rivals: ClassVar[None] = None

    @classmethod
    def for_forest(cls, forest: Forest) -> Self:
        """Return a notation as long as the forest's longest sequence."""
        return cls(forest.library, length_for(cls(forest.library, SHORTEST).spelled(forest)))

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """By symbol: how it is spelled; the padding, last, is empty."""
        has_commas = any(symbol.style == "function" and symbol.arity == 2 for symbol in self.library.symbols)
        return (*self.library.names, "(", ")", *([","] if has_commas else []), "")

    @property
    def symbols(self) -> int:
        """The library's, parentheses and perhaps the comma, and the padding."""
        return len(self.vocabulary)

    def spelled(self, forest: Forest) -> Spelled:
        """Return the infix tokens of each expression; one that holds a number of any value raises."""
        refuse_numbers(forest, "cvae")
        ids = {name: k for k, name in enumerate(self.vocabulary)}
        binary = {symbol.name for symbol in self.library.symbols if symbol.style == "infix"} | {"(", ",", "-", ""}
        rows = []
        for expr in forest:
            tokens = to_infix_tokens(expr.free())
            signs = [token == "-" and before in binary for before, token in zip(["", *tokens], tokens, strict=False)]
            rows.append([ids["neg" if sign else token] for sign, token in zip(signs, tokens, strict=True)])
        flat = np.array([symbol for row in rows for symbol in row], np.int16)
        return flat, np.array([0, *accumulate(map(len, rows))], np.int64)

    def read(self, scores: NDArray[np.float32]) -> tuple[Forest, NDArray[np.int64]]:
        """Return the expressions among the sequences of best-scored symbols, each up to its first padding."""
        exprs, places = list[Expr](), list[int]()
        for place, row in enumerate(scores.argmax(axis=2).tolist()):
            tokens = read_infix([*takewhile(bool, map(self.vocabulary.__getitem__, row))], self.library)
            if tokens is not None:
                exprs.append(Expr.trusted(self.library, tokens))
                places.append(place)
        return Forest.from_exprs(exprs, self.library), np.array(places, np.int64)

    def is_over(self, scores: NDArray[np.float32]) -> Mask:
        """Return whose padding has begun within these steps."""
        has_ended: Mask = (scores.argmax(axis=2) == self.symbols - 1).any(axis=1)
        return has_ended

    def settings(self) -> dict[str, Any]:
        """Return the length, and the tokens for a reader."""
        return {"length": self.length, "tokens": list(self.vocabulary)}


def read_infix(sequence: Sequence[str], library: SymbolLibrary) -> list[str] | None:
    """Return the prefix tokens of infix ones, or None where they are no expression.

    It takes what `edhie.expr.parser` takes, but for signs before an operand, which are the symbol `neg` here, for `min`
    and `max` of more than two operands, and for errors, which would take most of the time.
    """
    out: list[str] = []  # in postfix order
    waiting: list[tuple[str, int, int]] = []  # operators and their precedence; open calls and their missing commas
    called, wants_operand = None, True

    def finish(least: int) -> None:
        while waiting and waiting[-1][1] >= least:
            out.append(waiting.pop()[0])

    for token in sequence:
        symbol = library.symbols[library.ids[token]] if token in library.ids else None
        style = token if symbol is None else symbol.style
        if wants_operand and style == "(":
            waiting.append((called.name, 0, called.arity - 1) if called else ("", 0, 0))
            called = None
        elif called or (wants_operand and symbol is NUMBER):
            return None
        elif wants_operand and style == "function":
            called = symbol
        elif wants_operand and style == "leaf":
            out.append(token)
            wants_operand = False
        elif wants_operand and symbol and style == "prefix":
            waiting.append((token, symbol.precedence, 0))
        elif not wants_operand and style == "postfix":
            out.append(token)
        elif not wants_operand and symbol and style == "infix":
            finish(symbol.precedence + (token not in LEFT_ASSOCIATIVE))
            waiting.append((token, symbol.precedence, 0))
            wants_operand = True
        elif not wants_operand and style in (",", ")"):
            finish(1)
            name, _, commas = waiting.pop() if waiting else ("", 0, -1)
            if commas < 0 or (commas > 0) != (style == ","):
                return None
            wants_operand = style == ","
            if wants_operand:
                waiting.append((name, 0, commas - 1))
            elif name:
                out.append(name)
        else:
            return None
    finish(1)
    is_whole = not (wants_operand or called or waiting)
    return postfix_to_prefix(out, lambda token: library[token].arity) if is_whole else None


Notation = RuleNotation | InfixNotation
"""Expressions as sequences of symbols, and back; the last symbol is the padding behind a sequence's end.

`rivals` (symbols, symbols) says among which symbols each is chosen; None where all are. `spelled` gives sequences of
any length; `read` takes scores (n, length, symbols), and gives the expressions and from which of the n each came.
`is_over` takes the scores of the first steps, and tells for which of the n `read` needs no others.
"""
