"""Constants inside of pieces: put in where they can matter, then fitted together with the frame that a piece is in."""

from __future__ import annotations

import numpy as np

from edhie.expr import Expr, Forest
from edhie.search.mosaic.frames.frame import Laid
from edhie.search.mosaic.weighing.frame_pool import Finding, FramePool, ranks
from edhie.search.pieces.spelling import Words, under

SENSITIVE = ("exp", "sin", "cos", "tan", "tanh", "asin", "acos", "atan")  # of c·x they are something else than of x
BEST_PLACES = 5  # lean ones, and others, that pieces to be tuned are drawn from


def loosened(expr: Expr) -> Expr:
    """The piece with a constant before the argument of every function that it changes; 1, so that nothing changes yet.

    >>> from edhie.expr import parse
    >>> str(loosened(parse("x0*exp(x1) + sin(c*x0)")))
    'x0*exp(1*x1) + sin(c*x0)'
    """
    library, constant = expr.library, expr.library.constant
    if constant is None or "*" not in library:
        return expr
    constants = iter(expr.constants)

    def read(at: int) -> tuple[Words, int]:
        token = expr.tokens[at]
        if token == constant:
            return Words((token,), (next(constants),)), at + 1
        arity = library[token].arity
        operands, at = [], at + 1
        for _ in range(arity):
            operand, at = read(at)
            operands.append(operand)
        if token in SENSITIVE and arity == 1 and operands[0].tokens[:2] != ("*", constant):
            operands = [under("*", Words((constant,), (1.0,)), operands[0])]
        return under(token, *operands), at

    words, _ = read(0)
    return Expr.trusted(library, words.tokens, words.constants)


def to_be_tuned(board: FramePool, n: int, rng: np.random.Generator) -> list[Finding]:
    """Pieces drawn from the elites of the best frames, loosened; those without anything to be fitted are left out."""
    usable = [place for place in board.places if len(place.elites)]
    places = [place for place, rank in zip(usable, ranks(usable), strict=True) if rank < BEST_PLACES]
    found: dict[tuple[object, ...], Finding] = {}
    for _ in range(n if places else 0):
        place = places[int(rng.integers(len(places)))]
        k = int(rng.integers(len(place.elites)))
        piece = loosened(place.elites.forest[k])
        if piece.constants:
            laid = Laid(Forest.from_exprs([piece]), place.elites.values[k], bool(place.elites.is_log[k]))
            found.setdefault((id(place), piece.tokens), Finding(place, (laid,), 0.0))
    return list(found.values())
