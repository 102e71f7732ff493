"""Contents of a part made shorter, or with a constant more where it can matter."""

from __future__ import annotations

import numpy as np

from edhie.expr import Forest
from edhie.search.mosaic.fitting.tuning import loosened
from edhie.search.pieces.rewriting import shortened, shorter


def shorter_contents(contents: Forest) -> Forest:
    """Variants of one part with fewer nodes."""
    halves = Forest(contents.library, contents.tokens, contents.offsets, np.round(2 * contents.values) / 2)
    plain = shortened(halves)  # x^1.9998 may be meant as x^2
    return Forest.concatenate([shortened(contents), plain, shorter(contents)]).unique()


def loosened_contents(contents: Forest) -> Forest:
    """One part with a factor before the arguments of functions; none where there is nothing to change."""
    made = Forest.from_exprs([loosened(expr) for expr in contents], contents.library)
    return made.take(np.flatnonzero(made.sizes > contents.sizes))
