"""GVAE: an autoencoder of the rules that derive an expression from a grammar, in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError, GrammarError
from edhie.expr import Forest, SymbolLibrary
from edhie.generators.sequence.model import SequenceModel
from edhie.generators.sequence.notation import Mask, Spelled, length_for
from edhie.grammar import PCFG


@dataclass(frozen=True, eq=False)
class RuleNotation:
    """Expressions as the rules of their most probable leftmost derivation."""

    grammar: PCFG
    length: int

    @classmethod
    def for_forest(cls, forest: Forest, grammar: PCFG) -> Self:
        """As long as the forest's longest derivation."""
        try:
            if grammar.library != forest.library:
                grammar = PCFG(grammar.rules, start=grammar.start, library=forest.library)
            return cls(grammar, length_for(grammar.derivations(forest)))
        except GrammarError as error:
            raise GeneratorError(f"the grammar does not fit the forest: {error}") from error

    @property
    def library(self) -> SymbolLibrary:
        """Of the expressions."""
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
        """The rules of each expression's derivation; one that the grammar cannot derive raises."""
        try:
            return self.grammar.derivations(forest)
        except GrammarError as error:
            raise GeneratorError(f"a gvae encodes what its grammar derives: {error}") from error

    def read(self, scores: NDArray[np.float32]) -> tuple[Forest, NDArray[np.int64]]:
        """The expressions of the derivations that are whole after the last step."""
        derivations, places = self.grammar.guided_derivations(scores[:, :, :-1])
        return self.grammar.expressions(*derivations), places

    def settings(self) -> dict[str, Any]:
        """The grammar's text and the length."""
        return {"grammar": str(self.grammar), "length": self.length}


class GVAE(SequenceModel):
    """The grammar variational autoencoder; a derivation that does not end in time is no expression."""

    kind: ClassVar[str] = "gvae"

    @staticmethod
    def notation_of(library: SymbolLibrary, settings: Mapping[str, Any]) -> RuleNotation:
        """From the grammar's text and the length."""
        return RuleNotation(PCFG.parse(str(settings["grammar"]), library), int(settings["length"]))
