"""How a whole expression depends on one of its parts: linearly, or nearly so, row by row.

Whatever stands in the holes of a part, with values v, the whole comes to about b + Σ a·v, and a part is good where
Σ a·v is near to y - b. That is exact where the part stands in an affine position. Elsewhere slopes are taken at
what would make the whole equal to the target, where that can be told, and else at what stands there now.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.search.pieces.splicing import Part, Stock
from edhie.search.template.template import Template
from edhie.search.template.undoing import undone

Numbers = NDArray[np.float64]
LEAST_SHARE = 0.5  # of the rows that must be usable after undoing


@dataclass(frozen=True, eq=False)
class Position:
    """What is asked of one part, where all others are known; rows that cannot be used have zeros."""

    slopes: Numbers  # (distinct calls of the part, rows)
    target: Numbers  # (rows,): what slopes times values should add up to


def distinct_calls(template: Template, part: int) -> list[tuple[str, ...]]:
    """The variables that a part is called with, each choice once."""
    return list(dict.fromkeys(template.calls[hole].arguments for hole in template.holes(part)))


@np.errstate(all="ignore")  # rows that are not finite are left out
def position_of(template: Template, whole: Forest, part: int, data: Data) -> Position | None:
    """The position of a part in one whole expression; None where it has no influence that can be told."""
    holes, frame = template.holes(part), template.emptied(whole)
    contents = template.parts_of(whole)
    inside = [template.in_hole(hole, contents[each]) for hole, each in enumerate(template.part_of)]
    held: Numbers = values(Forest.concatenate(inside), data.columns)
    if len(holes) == 1:
        columns = np.concatenate([data.columns, held])
        wanted = undone(frame, template.hole_tokens[holes[0]], columns, data.y)
        if wanted is not None and np.isfinite(wanted).mean() >= LEAST_SHARE:
            held = held.copy()
            held[holes[0]] = wanted
    return _linearised(template, frame, part, held, data)


def _linearised(template: Template, frame: Forest, part: int, held: Numbers, data: Data) -> Position | None:
    """Slopes by what stands in the holes of a part, at these values."""
    holes = template.holes(part)
    usable = np.isfinite(held).all(axis=0)
    columns = np.ascontiguousarray(np.concatenate([data.columns, np.where(usable, held, 1.0)]))
    response = Response(_movable(template, frame, holes), columns)
    reached, slopes = response.jacobian(response.constants)
    moved = slopes[_moved_places(template, holes)]
    usable &= np.isfinite(reached) & np.isfinite(moved).all(axis=0)
    calls = distinct_calls(template, part)
    by_call = np.zeros((len(calls), data.n_rows))
    target = data.y - reached
    for slope, hole in zip(moved, holes, strict=True):
        by_call[calls.index(template.calls[hole].arguments)] += slope
        target = target + slope * held[hole]
    by_call, target = np.where(usable, by_call, 0.0), np.where(usable, target, 0.0)
    if data.weights is not None:
        roots = np.sqrt(data.weights)
        by_call, target = by_call * roots, target * roots
    is_good = np.isfinite(target).all() and np.isfinite(by_call).all() and by_call.any()
    return Position(by_call, target) if is_good else None


def _movable(template: Template, frame: Forest, holes: tuple[int, ...]) -> Forest:
    """The frame with a constant, 0, added to the variable of each of these holes."""
    library = template.hole_library
    assert library.constant is not None
    stock = Stock(frame)
    moved = {template.hole_tokens[hole] for hole in holes}
    parts: list[Part] = []
    for k, token in enumerate(frame.tokens.tolist()):
        if token in moved:
            ids = [library.ids["+"], token, library.ids[library.constant]]
            parts += [stock.symbols(np.array([each])) for each in ids]
        else:
            parts.append(Part(np.array([k]), np.array([1])))
    made = stock.join(parts)
    return Forest(library, made.tokens, made.offsets, np.where(np.isnan(made.values), 0.0, made.values))


def _moved_places(template: Template, holes: tuple[int, ...]) -> list[int]:
    """The places, among all constants, of those that were added."""
    name, found, at, hole = template.library.constant, [], 0, 0
    for token in template.tokens:
        if token == "":
            if hole in holes:
                found.append(at)
                at += 1
            hole += 1
        elif token == name:
            at += 1
    return found
