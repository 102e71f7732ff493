"""From rules to expressions, many at a time: what a model that learns derivations needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GrammarError
from edhie.expr import Forest, SymbolLibrary
from edhie.grammar.layouts import Ints
from edhie.grammar.templates import Templates

Derivations = tuple[NDArray[np.int16], Ints]
"""Rules of many leftmost derivations end to end, and where each begins."""


def expressions(
    templates: Templates,
    library: SymbolLibrary,
    rules: NDArray[np.integer[Any]],
    offsets: NDArray[np.integer[Any]],
    one_by_one: Callable[[Sequence[int]], object],
) -> Forest:
    """The forest that derivations end with; for one that does not fit, `one_by_one` finds the words."""
    from edhie.grammar import expansion

    given, begins = _row(rules, "rules"), _row(offsets, "offsets")
    if len(begins) == 0 or begins[0] != 0 or begins[-1] != len(given) or np.any(np.diff(begins) < 0):
        raise GrammarError(f"offsets must rise from 0 to the number of rules, {len(given)}")
    known = np.clip(given, -1, len(templates.lhs)).astype(np.int16)  # no rule stays no rule
    tokens, numbers, starts, failed = expansion.expanded(known, begins, templates)
    if failed >= 0:
        try:
            one_by_one(given[begins[failed] : begins[failed + 1]].tolist())
        except GrammarError as error:
            raise GrammarError(f"derivation {failed}: {error}") from None
    return Forest(library, tokens, starts, numbers[library.has_slot[tokens]])


def guided(templates: Templates, scores: NDArray[np.floating[Any]]) -> tuple[Derivations, Ints]:
    """The derivations that scores lead to, and the places of those that became whole."""
    from edhie.grammar import expansion

    if scores.ndim != 3 or scores.shape[2] != len(templates.lhs):
        raise GrammarError(f"scores must have the shape (n, steps, {len(templates.lhs)}), not {scores.shape}")
    rules, offsets, whole = expansion.guided(np.ascontiguousarray(scores, dtype=np.float32), templates)
    return (rules, offsets), whole


def _row(array: NDArray[np.integer[Any]], what: str) -> Ints:
    given = np.asarray(array)
    if given.ndim != 1 or not (given.dtype.kind in "iu" or given.size == 0):
        raise GrammarError(f"{what} must be one row of integers, not {given.dtype} of shape {given.shape}")
    return np.ascontiguousarray(given, dtype=np.int64)
