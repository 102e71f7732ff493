"""From expressions back to the grammar: how probable each is, and by which rules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GrammarError
from edhie.expr import Forest, SymbolLibrary
from edhie.grammar.derivation import RULE_TYPE
from edhie.grammar.layouts import Floats, Ints, Spelling
from edhie.grammar.tables import Tables
from edhie.grammar.trees import trees_of


def log_probabilities(tables: Tables, library: SymbolLibrary, forest: Forest) -> Floats:
    """By expression: the logarithm of its probability, summed over all its derivations."""
    from edhie.grammar import kernels

    if len(forest) == 0:
        return np.zeros(0)
    return kernels.log_inside(tables.alternatives, tables.start, tables.n_states, trees_of(forest, library))


def derivations(
    tables: Tables, spelling: Spelling, library: SymbolLibrary, forest: Forest
) -> tuple[NDArray[np.int16], Ints]:
    """The rules of each expression's most probable leftmost derivation, and where each begins."""
    from edhie.grammar import kernels

    if len(forest) == 0:
        return np.zeros(0, RULE_TYPE), np.zeros(1, np.int64)
    trees = trees_of(forest, library)
    rules, offsets, failed = kernels.best_rules(tables.alternatives, tables.start, tables.n_states, spelling, trees)
    if failed >= 0:
        tokens = trees.tokens[forest.offsets[failed] : forest.offsets[failed + 1]]
        made = set(tables.alternatives.token.tolist())
        names = [name for name, token in zip(forest[failed].tokens, tokens.tolist(), strict=True) if token not in made]
        why = f"no rule makes {names[0]!r}" if names else "no sequence of rules leads to this tree"
        place = f"expression {failed} of the forest, " if len(forest) > 1 else ""
        raise GrammarError(f"{place}{forest[failed]} cannot be derived from the grammar: {why}")
    return rules, offsets
