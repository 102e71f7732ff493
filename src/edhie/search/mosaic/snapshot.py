"""The state of a search between rounds, as arrays: for checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.arrays import forest_arrays, forest_from, under
from edhie.search.base import State
from edhie.search.mosaic.frames.frame import Frame, Term
from edhie.search.mosaic.weighing.frame_pool import FramePool
from edhie.search.pieces.enumeration import Enumeration
from edhie.search.pieces.piece_pool import PiecePool


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The parts of a search that change from round to round."""

    frames: Sequence[Frame]
    """Those that it began with; all others grew from them."""
    pool: FramePool
    pieces: PiecePool
    enumeration: Enumeration

    def state(self, n_rounds: int) -> State:
        """Return pieces, frames with their terms and elites, and the place of the enumeration."""
        found: dict[str, NDArray[Any]] = {"round": np.array(n_rounds)}
        found |= {f"pieces_{name}": array for name, array in self.pieces.state().items()}
        found |= forest_arrays("enumerated_", self.enumeration.base)
        found["enumeration"] = np.array([self.enumeration.size, self.enumeration.place])
        frames = self.pool.frames
        found["roots"] = np.array([each.root for each in frames], np.int64)
        found["least"] = np.array([[each.least, each.bits] for each in frames]).reshape(-1, 2)
        found["written_counts"] = np.array([len(each.written) for each in frames], np.int64)
        found["written_values"] = np.concatenate([np.empty(0), *(np.array(sorted(each.written)) for each in frames)])
        terms = [term for each in frames for term in each.frame.terms]
        found["n_laid"] = np.array([len(each.frame.terms) for each in frames], np.int64)
        found["laid_logs"] = np.array([term.is_log for term in terms], np.bool_)
        none = Forest.from_exprs([], self.pieces.library)
        found |= forest_arrays("laid_", Forest.concatenate([none, *(term.piece for term in terms)]))
        found["n_elites"] = np.array([len(each.elites) for each in frames], np.int64)
        found |= forest_arrays("elites_", Forest.concatenate([none, *(each.elites.forest for each in frames)]))
        found["elite_logs"] = np.concatenate([np.empty(0, np.bool_), *(each.elites.is_log for each in frames)])
        found["elite_shares"] = np.concatenate([np.empty(0), *(each.elites.shares for each in frames)])
        return found

    def restore(self, state: State) -> int:
        """Restore the search from a snapshot; return the number of rounds."""
        library = self.pieces.library
        self.pieces.restore(under("pieces_", state))
        self.enumeration.base = forest_from("enumerated_", state, library)
        self.enumeration.size, self.enumeration.place = map(int, state["enumeration"])
        laid, elites = (forest_from(name, state, library) for name in ("laid_", "elites_"))
        laid_values, elite_values = self.pieces.values_of(laid), self.pieces.values_of(elites)
        written = np.split(state["written_values"], np.cumsum(state["written_counts"])[:-1])
        self.pool.frames = []
        at_laid = at_elite = 0
        for k, root in enumerate(state["roots"].tolist()):
            frame = self.frames[root]
            for _ in range(int(state["n_laid"][k])):
                is_log = bool(state["laid_logs"][at_laid])
                frame = frame.with_term(Term(laid.take([at_laid]), laid_values[at_laid], is_log))
                at_laid += 1
            pooled = self.pool.add(frame, root)
            pooled.least, pooled.bits = map(float, state["least"][k])
            pooled.written = set(written[k].tolist())
            its = slice(at_elite, at_elite + int(state["n_elites"][k]))
            at_elite = its.stop
            pooled.elites.forest, pooled.elites.values = elites[its], elite_values[its]
            pooled.elites.is_log, pooled.elites.shares = state["elite_logs"][its], state["elite_shares"][its]
        return int(state["round"])
