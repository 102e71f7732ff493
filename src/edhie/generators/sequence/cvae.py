"""CVAE: an autoencoder of the tokens of infix text, parentheses and all, in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.common import refuse_numbers
from edhie.generators.sequence.model import SequenceModel
from edhie.generators.sequence.notation import SHORTEST, Spelled, length_for

if TYPE_CHECKING:
    from edhie.generators.sequence.infix_kernels import Symbols


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
        """As long as the forest's longest sequence."""
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
        """The infix tokens of each expression; one that holds a number of any value raises."""
        from edhie.generators.sequence import infix_kernels as kernels

        refuse_numbers(forest, CVAE.kind)
        return kernels.write(forest.tokens, forest.offsets, forest.left, forest.right, self._symbols)

    def read(self, scores: NDArray[np.float32]) -> tuple[Forest, NDArray[np.int64]]:
        """The expressions among the sequences of best-scored symbols, each up to its first padding."""
        from edhie.generators.sequence import infix_kernels as kernels

        tokens, offsets, places = kernels.read(scores.argmax(axis=2), self._symbols)
        values = np.full(int(self.library.has_slot[tokens].sum()), np.nan)
        return Forest(self.library, tokens, offsets, values), places

    def settings(self) -> dict[str, Any]:
        """The length, and the tokens for a reader."""
        return {"length": self.length, "tokens": list(self.vocabulary)}


class CVAE(SequenceModel):
    """The variational autoencoder of infix tokens; what they spell need not be an expression."""

    kind: ClassVar[str] = "cvae"

    @staticmethod
    def notation_of(library: SymbolLibrary, settings: Mapping[str, Any]) -> InfixNotation:
        """From the length; the tokens must be the library's."""
        notation = InfixNotation(library, int(settings["length"]))
        if list(settings["tokens"]) != list(notation.vocabulary):
            raise GeneratorError(f"the tokens {settings['tokens']} are not those of the library ({library})")
        return notation
