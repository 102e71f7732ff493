"""Measures of a latent space: how well a model reconstructs expressions, and how smooth its latent space is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.expr.distance import edit_distances
from edhie.generators.base import Codes, LatentGenerator


@dataclass(frozen=True)
class Reconstruction:
    """The reconstruction error of some expressions, as the paper measures it."""

    edit_distance: float
    """Mean edit distance in postfix notation, over those that came back as expressions."""
    exact: float
    """The share of all that came back as they were."""
    invalid: int
    """How many came back as no expression."""
    n: int
    """How many there were."""

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

    As in the paper, what comes back as no expression has no distance and does not count in the mean,
    which flatters models that fail on what is hard; read both figures together.
    """
    if len(forest) == 0:
        raise GeneratorError("there is nothing to reconstruct: the forest is empty")
    forest = forest.cast(model.library)
    decoded = model.decode(model.encode(forest)[0])
    mean, exact = _compared(forest, decoded.sources, decoded.forest)
    return Reconstruction(mean, exact / len(forest), decoded.invalid, len(forest))


@dataclass(frozen=True)
class Roughness:
    """The change that a step of length r makes to the decoded expression."""

    radius: float
    """The length of the step; 1 is the root mean square distance between the codes of two expressions."""
    edit_distance: float
    """Mean edit distance between the decodings before and after the step."""
    unchanged: float
    """The share of steps after which the same expression was decoded."""
    invalid: float
    """The share of steps that ended at no expression."""


def roughness(
    model: LatentGenerator, forest: Forest, radii: Sequence[float], rng: np.random.Generator
) -> list[Roughness]:
    """Measure one step in a random direction for each expression and radius."""
    if len(forest) < 2:
        raise GeneratorError("the scale of a latent space takes at least two expressions to measure")
    codes, _ = model.encode(forest.cast(model.library))
    before = model.decode(codes)
    centres, originals = codes[before.sources], before.forest
    directions: Codes = rng.standard_normal(centres.shape, dtype=np.float32)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    scale = spread(codes)
    found = []
    for radius in radii:
        after = model.decode(centres + np.float32(radius * scale) * directions)
        mean, exact = _compared(originals, after.sources, after.forest)
        share, invalid = exact / max(len(after.forest), 1), after.invalid / max(after.attempts, 1)
        found.append(Roughness(float(radius), mean, share, invalid))
    return found


def spread(codes: Codes) -> float:
    """Return the root mean square distance between two different rows."""
    n = len(codes)
    total = np.sum(np.var(codes.astype(np.float64), axis=0))
    return float(np.sqrt(2 * total * n / (n - 1)))


def _compared(originals: Forest, sources: np.ndarray, decoded: Forest) -> tuple[float, int]:
    """Return the mean edit distance, NaN for none, and the number of equal pairs."""
    distances = edit_distances(originals.take(sources), decoded)
    return float(distances.mean()) if len(distances) else float("nan"), int(np.sum(distances == 0))
