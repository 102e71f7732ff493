"""The reconstruction error of a model, as the paper measures it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.expr.distance import edit_distances
from edhie.generators.base import LatentGenerator


@dataclass(frozen=True)
class Reconstruction:
    """The reconstruction error of some expressions, as the paper measures it."""

    edit_distance: float
    """Mean edit distance in postfix notation, over those that came back as expressions."""
    exact: float
    """The share of all that came back as they were."""
    invalid: int
    """Number of codes that decoded to no expression."""
    n: int
    """Number of expressions."""

    @property
    def invalid_percent(self) -> float:
        """The share that came back as no expression, in percent."""
        return 100 * self.invalid / self.n

    @property
    def distance_text(self) -> str:
        """The mean edit distance as text."""
        return "none came back" if self.invalid == self.n else f"{self.edit_distance:.3f}"


def reconstruct(model: LatentGenerator, forest: Forest) -> Reconstruction:
    """Encode to the mean code, decode the most probable expression, and compare.

    As in the paper, codes that decode to no expression have no distance and do not count in the mean,
    which flatters models that fail on hard expressions; read both figures together.
    """
    if len(forest) == 0:
        raise GeneratorError("there is nothing to reconstruct: the forest is empty")
    forest = forest.cast(model.library)
    decoded = model.decode(model.encode(forest)[0])
    distances = edit_distances(forest.take(decoded.sources), decoded.forest)
    mean = float(distances.mean()) if len(distances) else float("nan")
    return Reconstruction(mean, float(np.sum(distances == 0)) / len(forest), decoded.invalid, len(forest))
