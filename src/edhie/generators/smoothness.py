"""How smooth a latent space is, as numbers: how far apart decoded expressions are, by the distance of their codes.

Autoencoders differ in the scale of their codes, so distances are measured against the model's own: r = 1 is the
root mean square distance between the codes of two expressions of the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.expr.distance import edit_distances
from edhie.generators.base import Codes, LatentGenerator


@dataclass(frozen=True)
class Roughness:
    """What a step of length r does to the decoded expression."""

    radius: float
    """The length of the step, as a share of the distance between two expressions' codes."""
    edit_distance: float
    """Mean edit distance between the decodings before and after the step."""
    unchanged: float
    """The share of steps after which the same expression was decoded."""
    invalid: float
    """The share of steps that ended at no expression."""


def roughness(
    model: LatentGenerator, forest: Forest, radii: Sequence[float], rng: np.random.Generator
) -> list[Roughness]:
    """The curve, from one step in a random direction for each expression and radius."""
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
        distances = edit_distances(originals.take(after.sources), after.forest)
        mean = float(distances.mean()) if len(distances) else float("nan")
        share = float(np.mean(distances == 0)) if len(distances) else 0.0
        found.append(Roughness(float(radius), mean, share, after.invalid / max(after.attempts, 1)))
    return found


def spread(codes: Codes) -> float:
    """The root mean square distance between two different rows."""
    n = len(codes)
    total = np.sum(np.var(codes.astype(np.float64), axis=0))
    return float(np.sqrt(2 * total * n / (n - 1)))
