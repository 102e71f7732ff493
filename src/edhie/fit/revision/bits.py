"""Description lengths of revisions: of a formula that is known, only what changes in it costs bits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate import Data, FitConfig
from edhie.expr import Expr, Forest
from edhie.selection.description import Criterion, describe, joined_rows
from edhie.selection.noise import CONSTANT
from edhie.selection.refitting import refitted

Numbers = NDArray[np.float64]
FROM_HERE = FitConfig(points=0, starts=1, iterations=30, rows=None)
MOST_CONSTANTS = 12  # with more, fitting them a second time takes long


def revision_bits(
    exprs: Sequence[Expr],
    distances: Sequence[int],
    original: Expr,
    data: Data,
    validation: Data | None,
    criterion: Criterion | None = None,
) -> Numbers:
    """Return the description lengths of revisions, in bits, without what the original has already.

    Each is judged under the noise model that suits it best, with constants as they are or fitted under that model.
    """
    forest = Forest.from_exprs(exprs)
    criterion = criterion or Criterion()
    judged = joined_rows(data, validation)
    models = criterion.models(judged)
    told = describe(forest, judged, criterion, models).bits
    if len(original.constants) <= MOST_CONSTANTS:
        for model in models:
            if model is not CONSTANT:  # under which the search has fitted them
                fitted = refitted(forest, data, model, FROM_HERE)
                told = np.fmin(told, describe(fitted, judged, criterion, (model,)).bits)
    structure = criterion.prior.bits(forest)
    own = criterion.prior.bits(Forest.from_exprs([original]))[0]
    new = np.asarray(distances) * math.log2(max(len(forest.library), 2)) + np.maximum(structure - own, 0.0)
    return np.asarray(told - structure + new, np.float64)
