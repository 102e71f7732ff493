"""HVAE's two recursions in NumPy, level by level: all that using a trained model needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.generators.constraints import Constraints, Mask
from edhie.generators.hvae.layout import up_layout

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Weights = Mapping[str, Floats]


def sigmoid(a: Floats) -> Floats:
    """1 / (1 + exp(-a)), through tanh, which cannot overflow."""
    out: Floats = np.tanh(0.5 * a)
    out *= 0.5
    out += 0.5
    return out


def softmax(a: Floats) -> Floats:
    """Of each row."""
    out: Floats = np.exp(a - a.max(axis=1, keepdims=True))
    out /= out.sum(axis=1, keepdims=True)
    return out


def gates(i: Floats, c: Floats) -> tuple[Floats, Floats]:
    """Update gate u and candidate n from the input's and the code's part; see `cells`."""
    width = i.shape[1] // 3
    ru = sigmoid(i[:, : 2 * width] + c[:, : 2 * width])
    n = np.tanh(i[:, 2 * width :] + ru[:, :width] * c[:, 2 * width :])
    return ru[:, width:], n


def encode_roots(w: Weights, forest: Forest) -> Floats:
    """The code of each tree's root; (trees, hidden)."""
    layout = up_layout(forest)
    hidden = w["up_w_h"].shape[0] // 2
    table = w["up_w_i"] + w["up_b_i"]
    codes = np.zeros((len(layout.symbols) + 1, hidden), dtype=np.float32)
    u, n = gates(table, np.broadcast_to(w["up_b_h"], table.shape))
    leaves = layout.leaves
    codes[:leaves] = ((1 - u) * n)[layout.symbols[:leaves]]
    for s, e in zip(layout.starts[1:-1], layout.starts[2:], strict=True):
        hh = codes[layout.children[s - leaves : e - leaves].ravel()].reshape(e - s, 2 * hidden)
        u, n = gates(table[layout.symbols[s:e]], hh @ w["up_w_h"] + w["up_b_h"])
        mean = hh[:, :hidden] + hh[:, hidden:]
        mean *= 0.5
        mean -= n
        mean *= u
        mean += n
        codes[s:e] = mean
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
    left: Ints  # (nodes,) place of the left child in the next depth, -1 for none
    right: Ints


def decode_roots(
    w: Weights,
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
    allowed, nesting = constraints.masks(library)
    arities = library.arities.astype(np.int64)
    level = _Level(roots, np.arange(len(roots)), None)
    sizes = np.zeros(len(roots), dtype=np.int64)
    written: list[_Written] = []
    for depth in range(1, constraints.max_height + 1):
        logits = level.codes @ w["down_w_o"] + w["down_b_o"]
        scores = logits / temperature + _gumbel(logits.shape, rng) if temperature else logits
        mask = _mask(level, allowed, nesting, arities, only_leaves=depth == constraints.max_height)
        symbols = np.where(mask, scores, -np.inf).argmax(axis=1)
        sizes += np.bincount(level.trees, minlength=len(roots))
        _keep_within(symbols, level, mask, scores, arities, sizes, constraints.max_size)
        counts = arities[symbols]
        inner = np.flatnonzero(counts > 0)
        binary = np.flatnonzero(counts > 1)
        left, right = np.full(len(symbols), -1), np.full(len(symbols), -1)
        left[inner] = np.arange(len(inner))
        right[binary] = len(inner) + np.arange(len(binary))
        written.append(_Written(symbols, left, right))
        if len(inner) == 0:
            break
        level = _children(w, level, logits, symbols, inner, binary, nesting)
    return _assembled(written, library)


def _gumbel(shape: tuple[int, ...], rng: np.random.Generator | None) -> Floats:
    if rng is None:
        raise TypeError("decoding with a temperature needs an rng")
    return rng.gumbel(size=shape).astype(np.float32)


def _mask(level: _Level, allowed: Mask, nesting: Mask, arities: Ints, *, only_leaves: bool) -> Mask:
    """(nodes or 1, symbols): what may stand at each node."""
    mask: Mask = allowed[None, :] & (arities == 0)[None, :] if only_leaves else allowed[None, :]
    if not nesting.any():
        return mask
    barred = level.barred if level.barred is not None else np.zeros((len(level.codes), len(arities)), dtype=np.bool_)
    leaves = allowed & (arities == 0)
    # an operator may stand only where some leaf is left for what is below it
    dead_end = ~((~(barred[:, None, :] | nesting[None, :, :])) & leaves).any(axis=2) & (arities > 0)
    result: Mask = mask & ~barred & ~dead_end
    return result


def _keep_within(
    symbols: Ints, level: _Level, mask: Mask, scores: Floats, arities: Ints, sizes: Ints, max_size: int
) -> None:
    """Where a tree's children would pass its size limit, take the best symbols that do not, left to right."""
    wanted = np.bincount(level.trees, weights=arities[symbols], minlength=len(sizes)).astype(np.int64)
    for tree in np.flatnonzero(sizes + wanted > max_size):
        room = max_size - sizes[tree]
        for node in np.flatnonzero(level.trees == tree):
            if arities[symbols[node]] > room:
                fits = mask[0 if len(mask) == 1 else node] & (arities <= room)
                symbols[node] = np.where(fits, scores[node], -np.inf).argmax()
            room -= arities[symbols[node]]


def _children(
    w: Weights, level: _Level, logits: Floats, symbols: Ints, inner: Ints, binary: Ints, nesting: Mask
) -> _Level:
    """The next depth: all left children, then all right ones."""
    h = level.codes[inner]
    hidden = h.shape[1]
    x = softmax(logits[inner])
    u, n = gates(x @ w["down_w_i"] + w["down_b_i"], h @ w["down_w_h"] + w["down_b_h"])
    d = np.concatenate([h, h], axis=1)
    d -= n
    d *= u
    d += n
    second = np.searchsorted(inner, binary)
    codes = np.concatenate([d[:, :hidden], d[second, hidden:]])
    parents = np.concatenate([inner, binary])
    barred = None
    if nesting.any():
        barred = nesting[symbols[parents]]
        if level.barred is not None:
            barred = barred | level.barred[parents]
    return _Level(codes, level.trees[parents], barred)


def _assembled(written: list[_Written], library: SymbolLibrary) -> Forest:
    """The levels' nodes put in prefix order."""
    if len(written[0].symbols) == 0:
        return Forest.from_exprs([], library)
    sizes: list[Ints] = []
    below = np.zeros(0, dtype=np.int64)
    for level in reversed(written):
        padded = np.append(below, 0)  # index -1 finds the 0
        below = 1 + padded[level.left] + padded[level.right]
        sizes.insert(0, below)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[0])])
    tokens = np.empty(offsets[-1], dtype=np.int16)
    places = offsets[:-1]
    for depth, level in enumerate(written):
        tokens[places] = level.symbols
        if depth + 1 == len(written):
            break
        inner, binary = level.left >= 0, level.right >= 0
        first = sizes[depth + 1][level.left[binary]]
        places = np.concatenate([places[inner] + 1, places[binary] + 1 + first])
    values = np.full(int(library.has_slot[tokens].sum()), np.nan)
    return Forest(library, tokens, offsets, values)
