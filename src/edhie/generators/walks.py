"""Expressions in a latent space: walks from one to another, the neighbours of one, and what comes back of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edhie.errors import GeneratorError
from edhie.expr import Expr, Forest
from edhie.expr.distance import edit_distances
from edhie.generators.base import Codes, LatentGenerator


@dataclass(frozen=True)
class Step:
    """A point on the way, and its expression; None where the decoder gave none."""

    alpha: float
    expr: Expr | None


def interpolate(model: LatentGenerator, a: Expr, b: Expr, *, steps: int = 4) -> list[Step]:
    """Decode points between two expressions: z_α = (1 - α)·z_A + α·z_B for α = 0, 1/steps, …, 1."""
    if steps < 1:
        raise GeneratorError(f"a walk has at least one step, not {steps}")
    (z_a, z_b), _ = model.encode(Forest.from_exprs([a, b], model.library))
    alphas = np.linspace(0, 1, steps + 1, dtype=np.float32)
    decoded = model.decode((1 - alphas)[:, None] * z_a + alphas[:, None] * z_b)
    found = dict(zip(decoded.sources.tolist(), decoded.forest, strict=True))
    return [Step(float(alpha), found.get(i)) for i, alpha in enumerate(alphas)]


@dataclass(frozen=True)
class Neighbours:
    """Distinct expressions found around one, the most similar first."""

    forest: Forest
    distances: np.ndarray  # edit distance of each from the centre
    counts: np.ndarray  # how many of the points drawn gave each
    invalid: int  # how many gave none


def neighbours(
    model: LatentGenerator, expr: Expr, n: int, rng: np.random.Generator, *, radius: float = 1.0
) -> Neighbours:
    """Decode `n` points drawn around an expression's code, at `radius` times its own spread.

    At radius 1 they come from the model's posterior N(μ, σ), the points that it cannot tell
    from the expression itself; beyond, similarity falls.
    """
    if n < 1 or not 0 <= radius < np.inf:
        raise GeneratorError(f"neighbours needs a positive number and a finite radius from 0, not {n} and {radius}")
    mean, log_variance = model.encode(Forest.from_exprs([expr], model.library))
    noise: Codes = rng.standard_normal((n, model.latent_dim), dtype=np.float32)
    with np.errstate(over="ignore"):  # points too far out are refused by the decoder
        points = mean + radius * np.exp(0.5 * log_variance) * noise
    decoded = model.decode(points)
    first, inverse = decoded.forest.grouped()
    distinct = decoded.forest.take(first)
    centre = Forest.from_exprs([expr] * len(distinct), model.library)
    distances = edit_distances(centre, distinct)
    counts = np.bincount(inverse, minlength=len(distinct))
    order = np.lexsort((-counts, distances))
    return Neighbours(distinct.take(order), distances[order], counts[order], decoded.invalid)


# -- the reconstruction error, as the paper measures it --------------------------------


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
