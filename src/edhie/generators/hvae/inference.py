"""HVAE's two recursions without torch, level by level: all that using a trained model needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.generators.base import Weights
from edhie.generators.constraints import Constraints, Mask
from edhie.generators.hvae.layout import up_layout
from edhie.generators.sampling import tempered

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Gates = tuple[Floats, Floats, Floats, Floats]
BOUNDLESS = 2**62  # nodes: no tree has as many


def encode_roots(w: Weights, forest: Forest) -> Floats:
    """The code of each tree's root; (trees, hidden)."""
    from edhie.generators.hvae import compiled

    layout = up_layout(forest)
    table = w["up_w_i"] + w["up_b_i"]
    codes = compiled.up_codes(
        layout.symbols, layout.children, layout.starts, layout.binary, table, w["up_w_h"], w["up_b_h"]
    )
    found: Floats = codes[layout.roots]
    return found


@dataclass
class _Level:
    """The nodes of one depth while decoding."""

    codes: Floats  # (nodes, hidden)
    trees: Ints  # (nodes,)
    barred: Mask | None  # (nodes, symbols), what may not stand here because of what stands above


@dataclass
class _Written:
    """What one depth became."""

    symbols: Ints  # (nodes,)
    parents: Ints  # (inner,) the nodes with children, the binary ones first
    pairs: int  # how many are binary


def down_gates(w: Weights) -> Gates:
    """The decoder's W_i, b_i, W_h and b_h by side, as `decode_roots` takes them."""
    from edhie.generators.hvae import compiled

    w_i, b_i, w_h, b_h = (compiled.by_side(w[name]) for name in ("down_w_i", "down_b_i", "down_w_h", "down_b_h"))
    return w_i, b_i, w_h, b_h


def decode_roots(
    w: Weights,
    gates: Gates,
    roots: Floats,
    library: SymbolLibrary,
    constraints: Constraints,
    *,
    temperature: float = 0.0,
    rng: np.random.Generator | None = None,
) -> Forest:
    """One tree for each root code; always valid, since masks leave only symbols that can end in time.

    The most probable symbol is taken, or with a `temperature` one drawn from the softmax.
    """
    from edhie.generators.hvae import compiled
    from edhie.generators.hvae.choice import choose

    allowed, nesting = constraints.masks(library)
    arities = library.arities.astype(np.int64)
    level = _Level(roots, np.arange(len(roots)), None)
    # nodes that a tree may still get
    room = np.full(len(roots), min(constraints.max_size, BOUNDLESS) - 1, dtype=np.int64)
    written: list[_Written] = []
    for depth in range(1, constraints.max_height + 1):
        logits = level.codes @ w["down_w_o"] + w["down_b_o"]
        scores = logits if rng is None or temperature == 0 else tempered(logits, temperature, rng)
        mask = _mask(level, allowed, nesting, arities, only_leaves=depth == constraints.max_height)
        written.append(_Written(*choose(scores, mask, level.trees, arities, room)))
        if len(written[-1].parents) == 0:
            break
        codes = compiled.next_codes(level.codes, logits, written[-1].parents, written[-1].pairs, *gates)
        level = _next_level(level, codes, written[-1], nesting)
    return _assembled(written, library)


def _mask(level: _Level, allowed: Mask, nesting: Mask, arities: Ints, *, only_leaves: bool) -> Mask:
    """(nodes or 1, symbols): what may stand at each node."""
    mask: Mask = allowed[None, :] & (arities == 0)[None, :] if only_leaves else allowed[None, :]
    if not nesting.any():
        return mask
    barred = level.barred if level.barred is not None else np.zeros((len(level.codes), len(arities)), dtype=np.bool_)
    leaves = np.flatnonzero(allowed & (arities == 0))
    # an operator may stand only where some leaf is left for what is below it
    dead_end = (barred[:, None, leaves] | nesting[None, :, leaves]).all(axis=2) & (arities > 0)
    result: Mask = mask & ~barred & ~dead_end
    return result


def _next_level(level: _Level, codes: Floats, written: _Written, nesting: Mask) -> _Level:
    """The next depth: all left children, then all right ones."""
    above = np.concatenate([written.parents, written.parents[: written.pairs]])
    barred = None
    if nesting.any():
        barred = nesting[written.symbols[above]]
        if level.barred is not None:
            barred |= level.barred[above]
    return _Level(codes, level.trees[above], barred)


def _assembled(written: list[_Written], library: SymbolLibrary) -> Forest:
    """The levels' nodes put in prefix order."""
    from edhie.generators.hvae.assembly import prefix_order

    counts = np.array([(len(level.symbols), len(level.parents), level.pairs) for level in written], dtype=np.int64)
    symbols = np.concatenate([level.symbols for level in written])
    parents = np.concatenate([level.parents for level in written])
    tokens, offsets = prefix_order(symbols, parents, *np.ascontiguousarray(counts.T))
    return Forest(library, tokens, offsets, np.full(np.count_nonzero(library.has_slot[tokens]), np.nan))
