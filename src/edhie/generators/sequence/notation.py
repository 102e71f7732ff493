"""How expressions are written as sequences of one length: what tells the two sequence models apart."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary

Sequences = NDArray[np.int64]  # (expressions, length)
Mask = NDArray[np.bool_]
Spelled = tuple[NDArray[np.int16], NDArray[np.int64]]
"""Sequences end to end, and where each begins."""
SHORTEST = 7  # the convolutions, of 2, 3 and 4 symbols one after another, take no shorter sequence


class Notation(Protocol):
    """Expressions as sequences of symbols, and back; the last symbol is the padding behind a sequence's end."""

    @property
    def library(self) -> SymbolLibrary:
        """Of the expressions."""

    @property
    def length(self) -> int:
        """Of every sequence, padding included."""

    @property
    def symbols(self) -> int:
        """How many there are, padding included."""

    @property
    def rivals(self) -> Mask | None:
        """By symbol, those among which it is chosen, itself included; (symbols, symbols), or none where all are."""

    def spelled(self, forest: Forest) -> Spelled:
        """The sequence of each expression, however long; what has none raises."""

    def read(self, scores: NDArray[np.float32]) -> tuple[Forest, NDArray[np.int64]]:
        """The expressions that scores (n, length, symbols) spell, and from which of the n each came."""

    def settings(self) -> dict[str, Any]:
        """What makes the notation besides its library, as JSON has it."""


def length_for(spelled: Spelled) -> int:
    """That of the longest of these sequences, or the shortest that the encoder takes."""
    return max(SHORTEST, int(np.diff(spelled[1]).max(initial=0)))


def padded(spelled: Spelled, length: int, padding: int) -> Sequences:
    """Rows of one length: cut off, or with padding behind their end."""
    symbols, offsets = spelled
    sizes = np.minimum(np.diff(offsets), length)
    rows = np.full((len(sizes), length), padding, dtype=np.int64)
    within = np.arange(length) < sizes[:, None]
    places = offsets[:-1, None] + np.arange(length)
    rows[within] = symbols[places[within]]
    return rows
