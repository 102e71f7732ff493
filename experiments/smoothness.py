"""How smooth the three latent spaces are: edit distance after a step, against the length of the step, on Trig5-15k.

python experiments/smoothness.py --corpora corpora --models models/experiments
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.expr.distance import edit_distances
from edhie.generators.base import Codes, LatentGenerator
from figures import LOOKS
from kept import first_fold, first_fold_model, options_of
from settings import FIGURE_SET, MODELS

RADII = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
FIELDS = ("dataset", "model", "radius", "edit_distance", "unchanged_percent", "invalid_percent")


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
        distances = edit_distances(originals.take(after.sources), after.forest)
        mean = float(distances.mean()) if len(distances) else float("nan")
        share = float(np.mean(distances == 0)) if len(distances) else 0.0
        found.append(Roughness(float(radius), mean, share, after.invalid / max(after.attempts, 1)))
    return found


def spread(codes: Codes) -> float:
    """Return the root mean square distance between two different rows."""
    n = len(codes)
    total = np.sum(np.var(codes.astype(np.float64), axis=0))
    return float(np.sqrt(2 * total * n / (n - 1)))


def main() -> None:
    """Measure, write and draw."""
    options = options_of(__doc__)
    forest = first_fold(FIGURE_SET, options.corpora)
    curves = {}
    for name in MODELS:
        model = first_fold_model(FIGURE_SET, name, options.models, options.corpora)
        curves[name] = roughness(model, forest, RADII, np.random.default_rng(0))
    _write(curves, options.results / "smoothness.csv")
    _figure(curves).savefig(options.results / "smoothness.png")


def _write(curves: dict[str, list[Roughness]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for model, curve in curves.items():
            for at in curve:
                figures = (f"{at.edit_distance:.3f}", f"{100 * at.unchanged:.2f}", f"{100 * at.invalid:.2f}")
                writer.writerow((FIGURE_SET, model, at.radius, *figures))
                print(model, at.radius, *figures)


def _figure(curves: dict[str, list[Roughness]]) -> Figure:
    figure = Figure(figsize=(5.6, 4.0), layout="constrained", dpi=150)
    panel = figure.subplots()
    for model, curve in curves.items():
        colour, marker, name = LOOKS[model]
        panel.plot(
            [at.radius for at in curve], [at.edit_distance for at in curve], color=colour, marker=marker, label=name
        )
    panel.set_xlabel("length of the step, as a share of the distance between two codes")
    panel.set_ylabel("edit distance after the step")
    panel.grid(alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
