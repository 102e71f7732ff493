"""Expressions as sequences of symbols of one length: a grammar's rules (GVAE), or tokens of infix text (CVAE)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError, GrammarError
from edhie.expr import Forest, SymbolLibrary, to_infix_tokens
from edhie.generators.common import refuse_numbers
from edhie.grammar import PCFG

if TYPE_CHECKING:
    from edhie.generators.sequence.infix_kernels import Symbols

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

    @cached_property
    def _symbols(self) -> Symbols:
        from edhie.generators.sequence.infix_kernels import symbols_of

        return symbols_of(self.library, self.vocabulary)

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
        from edhie.generators.sequence import infix_kernels as kernels

        tokens, offsets, places = kernels.read(scores.argmax(axis=2), self._symbols)
        values = np.full(int(self.library.has_slot[tokens].sum()), np.nan)
        return Forest(self.library, tokens, offsets, values), places

    def is_over(self, scores: NDArray[np.float32]) -> Mask:
        """Return whose padding has begun within these steps."""
        has_ended: Mask = (scores.argmax(axis=2) == self.symbols - 1).any(axis=1)
        return has_ended

    def settings(self) -> dict[str, Any]:
        """Return the length, and the tokens for a reader."""
        return {"length": self.length, "tokens": list(self.vocabulary)}


Notation = RuleNotation | InfixNotation
"""Expressions as sequences of symbols, and back; the last symbol is the padding behind a sequence's end.

`rivals` (symbols, symbols) says among which symbols each is chosen; None where all are. `spelled` gives sequences of
any length; `read` takes scores (n, length, symbols), and gives the expressions and from which of the n each came.
`is_over` takes the scores of the first steps, and tells for which of the n `read` needs no others.
"""
