"""What a mosaic remembers between steps, as arrays: for checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.base import State
from edhie.search.mosaic.frames.frame import Frame, Laid
from edhie.search.mosaic.weighing.frame_pool import FramePool, PooledFrame
from edhie.search.pieces.enumeration import Enumeration
from edhie.search.pieces.piece_pool import PiecePool

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The parts of a mosaic that change."""

    frames: Sequence[Frame]
    """Those that it began with; all others grew from them."""
    board: FramePool
    pieces: PiecePool
    enumeration: Enumeration

    def state(self, n_rounds: int) -> State:
        """All of it."""
        found: Arrays = {"round": np.array(n_rounds)}
        found |= {f"pieces_{name}": array for name, array in self.pieces.state().items()}
        found |= forest_arrays("enumerated", self.enumeration.base)
        found["enumeration"] = np.array([self.enumeration.size, self.enumeration.place])
        places = self.board.places
        found["roots"] = np.array([place.root for place in places], np.int64)
        found["least"] = np.array([[place.least, place.bits] for place in places]).reshape(-1, 2)
        found |= _ragged("written", [np.array(sorted(place.written)) for place in places])
        laid = [each for place in places for each in place.frame.laid]
        found["n_laid"] = np.array([len(place.frame.laid) for place in places], np.int64)
        found["laid_logs"] = np.array([each.is_log for each in laid], np.bool_)
        found |= forest_arrays("laid", _joined([each.piece for each in laid], self.pieces))
        found["n_elites"] = np.array([len(place.elites) for place in places], np.int64)
        found |= forest_arrays("elites", _joined([place.elites.forest for place in places], self.pieces))
        found["elite_logs"] = np.concatenate([np.empty(0, np.bool_), *(place.elites.is_log for place in places)])
        found["elite_shares"] = np.concatenate([np.empty(0), *(place.elites.shares for place in places)])
        return found

    def restore(self, state: State) -> int:
        """Be where `state` was taken; the number of rounds."""
        self.pieces.restore({name[len("pieces_") :]: a for name, a in state.items() if name.startswith("pieces_")})
        self.enumeration.base = forest_of("enumerated", state, self.pieces)
        self.enumeration.size, self.enumeration.place = map(int, state["enumeration"])
        laid, elites = (forest_of(name, state, self.pieces) for name in ("laid", "elites"))
        laid_values, elite_values = self.pieces.values_of(laid), self.pieces.values_of(elites)
        written = _unragged("written", state)
        self.board.places = []
        at_laid = at_elite = 0
        for k, root in enumerate(state["roots"].tolist()):
            frame = self.frames[root]
            for _ in range(int(state["n_laid"][k])):
                piece = laid.take([at_laid])
                frame = frame.with_laid(Laid(piece, laid_values[at_laid], bool(state["laid_logs"][at_laid])))
                at_laid += 1
            place = self.board.put(frame, root)
            place.least, place.bits = map(float, state["least"][k])
            place.written = set(written[k].tolist())
            its = slice(at_elite, at_elite + int(state["n_elites"][k]))
            at_elite = its.stop
            _restore_elites(place, elites[its], elite_values[its], state, its)
        return int(state["round"])


def _restore_elites(place: PooledFrame, forest: Forest, found: NDArray[np.float64], state: State, its: slice) -> None:
    elites = place.elites
    elites.forest, elites.values = forest, found
    elites.is_log, elites.shares = state["elite_logs"][its], state["elite_shares"][its]


def _joined(forests: Sequence[Forest], pieces: PiecePool) -> Forest:
    return Forest.concatenate([Forest.from_exprs([], pieces.library), *forests])


def forest_arrays(name: str, forest: Forest) -> Arrays:
    """A forest as arrays, under its name."""
    return {f"{name}_tokens": forest.tokens, f"{name}_offsets": forest.offsets, f"{name}_values": forest.values}


def forest_of(name: str, state: State, pieces: PiecePool) -> Forest:
    """The forest that was kept under a name."""
    parts = (state[f"{name}_{part}"] for part in ("tokens", "offsets", "values"))
    return Forest.checked(pieces.library, *parts)


def _ragged(name: str, rows: Sequence[NDArray[np.float64]]) -> Arrays:
    return {
        f"{name}_counts": np.array([len(row) for row in rows], np.int64),
        f"{name}_values": np.concatenate([np.empty(0), *rows]),
    }


def _unragged(name: str, state: State) -> list[NDArray[np.float64]]:
    return np.split(state[f"{name}_values"], np.cumsum(state[f"{name}_counts"])[:-1])
