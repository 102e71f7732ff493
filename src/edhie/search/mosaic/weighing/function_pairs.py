"""Couples of shapes: what two functions of one variable, with a constant each, make together.

Two exponentials, a wave that fades, what levels off over what grows: neither part says much by itself, so neither is
laid. Of each couple of families the best on the grid is taken, whatever others may do better there: off the grid, with
both constants fitted, it may be the one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Forest

Numbers = NDArray[np.float64]
SUMS, PRODUCTS = 80, 40  # that are fitted, at most
VARIABLES = 3  # whose shapes are coupled, at most: there are as many couples as the fourth power of this
MOST_ROWS = 300
FLAT = 1e-9  # of a shape's squares: less about its mean is none
ALIKE = 1e-7  # less of its own: two shapes are the same


class Couple(NamedTuple):
    """Two shapes, by their places, and how much of the target they explain together."""

    share: float
    first: int
    second: int
    operator: str = "+"
    """What stands between them."""


def couples(shapes: Forest, values: Numbers, data: Data, relevance: Numbers) -> tuple[Forest, int]:
    """Expressions of two shapes each, with constants to begin a fit from, and how many couples were weighed.

    `relevance` says, by variable, how likely it is to matter.
    """
    library = shapes.library
    if len(shapes) < 2 or library.constant is None or "+" not in library or "*" not in library:
        return shapes.take([]), 0
    some = slice(None, None, max(1, data.n_rows // MOST_ROWS))
    names = [library.variables[k] for k in np.sort(np.argsort(-relevance, kind="stable")[:VARIABLES])]
    chosen = np.array([k for k in range(len(shapes)) if set(shapes[k].variables) <= set(names)], np.int64)
    shapes, values = shapes.take(chosen), values[chosen, some]
    columns = dict(zip(data.names, data.columns[:, some], strict=True))
    root = np.ones(values.shape[1]) if data.weights is None else np.sqrt(data.weights[some])
    target = data.y[some] * root
    with np.errstate(all="ignore"):
        products, n_products = _best_products(values, root, target, _families(shapes), "/" in library)
        times = _forest([("*", name, k) for name in names for k in range(len(shapes))], shapes)
        terms = Forest.concatenate([shapes, times])
        term_values = np.concatenate([values, *(columns[name] * values for name in names)])
        about = _without(target[np.newaxis], root)[0]
        sums = _best_sums(_unit(_without(term_values * root, root)), about / np.linalg.norm(about), _families(terms))
    made = [*_added(sums[:SUMS], terms), *_multiplied(products[:PRODUCTS], terms)]
    return _forest(made, terms), len(terms) * (len(terms) - 1) // 2 + n_products


def _families(shapes: Forest) -> list[NDArray[np.int64]]:
    """The places of shapes that differ in their constants alone, family by family."""
    found: dict[bytes, list[int]] = {}
    for k in range(len(shapes)):
        tokens = shapes.tokens[shapes.offsets[k] : shapes.offsets[k + 1]]
        found.setdefault(tokens.tobytes(), []).append(k)
    return [np.array(places) for places in found.values()]


def _without(rows: Numbers, root: Numbers) -> Numbers:
    """What a constant leaves of rows that were multiplied with the roots of weights; zeros where that is rounding."""
    about = rows - np.outer(rows @ root, root) / (root @ root)
    is_flat = ~(np.square(about).sum(axis=1) > FLAT * np.square(rows).sum(axis=1))
    found: Numbers = np.where(is_flat[:, np.newaxis], 0.0, about)
    return found


def _unit(rows: Numbers) -> Numbers:
    """Rows at length 1; zeros stay."""
    squares = np.square(rows).sum(axis=1)
    found: Numbers = rows / np.sqrt(np.where(squares > 0, squares, 1.0))[:, np.newaxis]
    return found


def _best_sums(units: Numbers, target: Numbers, families: Sequence[NDArray[np.int64]]) -> list[Couple]:
    """Of each two families, and within one, the couple whose sum explains most; the best first."""
    loads = units @ target
    overlap = units @ units.T
    own = 1.0 - np.square(overlap)
    both = np.square(loads)[:, np.newaxis] + np.square(loads) - 2 * np.outer(loads, loads) * overlap
    shares = np.where(own > ALIKE, both / own, 0.0)
    found = []
    for k, first in enumerate(families):
        for second in families[k:]:
            part = shares[np.ix_(first, second)]
            i, j = np.unravel_index(int(np.argmax(part)), part.shape)
            found.append(Couple(float(part[i, j]), int(first[i]), int(second[j])))
    return sorted(found, reverse=True)


def _best_products(
    values: Numbers, root: Numbers, target: Numbers, families: Sequence[NDArray[np.int64]], has_quotients: bool
) -> tuple[list[Couple], int]:
    """Of each two families f and g the couple for which (a·f + b)·g, or over g, explains most; how many are weighed."""
    found = []
    target = target / np.linalg.norm(target)
    n_weighed = 0
    for operator in ("*", "/") if has_quotients else ("*",):
        factors = (values if operator == "*" else 1.0 / values) * root
        for second in families:
            for first in families:
                if first is second:
                    continue
                plain = np.nan_to_num(_unit(factors[second]))  # (g, rows)
                times = values[first][:, np.newaxis] * plain  # (f, g, rows)
                overlap = (times * plain).sum(axis=2)
                own = np.square(times).sum(axis=2) - np.square(overlap)
                load = plain @ target
                new = times @ target - overlap * load
                is_new = own > ALIKE * np.square(overlap)
                shares = np.where(is_new, np.square(load) + np.square(new) / own, 0.0)
                n_weighed += shares.size
                i, j = np.unravel_index(int(np.argmax(np.nan_to_num(shares))), shares.shape)
                found.append(Couple(float(shares[i, j]), int(first[i]), int(second[j]), operator))
    return sorted(found, reverse=True), n_weighed


# -- written ----------------------------------------------------------------------------

Made = tuple[str | int, ...]
"""An expression in prefix order: names of symbols, and places of shapes."""


def _added(found: Iterable[Couple], shapes: Forest) -> Iterator[Made]:
    """c·f + c·g, with and without a constant beside them, and c·(f - g)."""
    c = shapes.library.constant
    assert c is not None
    for _, f, g, _ in found:
        yield "+", "*", c, f, "*", c, g
        yield "+", "+", "*", c, f, "*", c, g, c
        if "-" in shapes.library:
            yield "*", c, "-", f, g


def _multiplied(found: Iterable[Couple], shapes: Forest) -> Iterator[Made]:
    """c·f·g and (c·f + c)·g, or over g."""
    c = shapes.library.constant
    assert c is not None
    for _, f, g, operator in found:
        yield operator, "*", c, f, g
        yield operator, "+", "*", c, f, c, g


def _forest(made: Sequence[Made], shapes: Forest) -> Forest:
    """The expressions as a forest; constants beside shapes are 1, since a fit solves for them."""
    ids, slots = shapes.library.ids, shapes.library.has_slot
    tokens: list[int] = []
    values: list[float] = []
    offsets = [0]
    for parts in made:
        for part in parts:
            if isinstance(part, str):
                tokens.append(ids[part])
                values += [1.0] if slots[ids[part]] else []
            else:
                tokens += shapes.tokens[shapes.offsets[part] : shapes.offsets[part + 1]].tolist()
                values += shapes.values[shapes.value_offsets[part] : shapes.value_offsets[part + 1]].tolist()
        offsets.append(len(tokens))
    return Forest.checked(shapes.library, np.array(tokens, np.int16), np.array(offsets), np.array(values))
