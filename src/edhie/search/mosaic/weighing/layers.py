"""Layers: frames in which a good piece is laid, so that others are looked for beside it."""

from __future__ import annotations

import numpy as np

from edhie.search.mosaic.frames.frame import Frame
from edhie.search.mosaic.weighing.frame_pool import FramePool, PooledFrame, ranks
from edhie.search.pieces.piece_pool import PiecePool

DEEPEST = 3  # pieces that are laid at most
GROWING = 3  # lean frames with laid pieces, and others, that are kept, and grow on
RANKS = 20  # elites among which one is drawn, beside the best


def lay(board: FramePool, pieces: PiecePool, n_frames: int, rng: np.random.Generator) -> None:
    """Lay down good pieces in the frames with the shortest descriptions; what was laid before gives way."""
    roots = [place for place in board.places if not place.frame.laid]
    grown = {place.frame.key: place for place in board.places if place.frame.laid}
    wanted: dict[tuple[object, ...], tuple[Frame, int]] = {}
    by_bits = sorted(range(len(roots)), key=lambda k: roots[k].bits)
    plain = [k for k in range(len(roots)) if k == 0 or roots[k].frame.block.is_product]
    for k in dict.fromkeys([*plain, *by_bits[: max(1, (n_frames - len(roots)) // 2)]]):
        for rank in (0, int(rng.integers(1, RANKS))):
            if rank < len(roots[k].elites):
                frame = roots[k].frame.with_laid(board.laid(roots[k].elites, rank))
                wanted[frame.key] = (frame, k)
    old = list(grown.values())
    for place in [place for place, rank in zip(old, ranks(old), strict=True) if rank < GROWING]:
        wanted[place.frame.key] = (place.frame, place.root)
        if len(place.elites) and len(place.frame.laid) < DEEPEST:
            frame = place.frame.with_laid(board.laid(place.elites, 0))
            wanted[frame.key] = (frame, place.root)
    board.places = list(roots)
    fresh: list[PooledFrame] = []
    for key, (frame, root) in wanted.items():
        if key in grown:
            board.places.append(grown[key])
        elif np.isfinite(frame.unexplained) and frame.unexplained > 0:
            fresh.append(board.put(frame, root))
    if fresh:
        board.weigh(pieces.forest, pieces.values, fresh)
