"""`edhie sample`: expressions from a trained model."""

from __future__ import annotations

import numpy as np

from edhie.cli.options import (
    Count,
    Forbid,
    Json,
    MaxHeight,
    MaxSize,
    ModelFolder,
    Seed,
    Temperature,
    Written,
    in_parts,
    load_within,
    print_expression,
)
from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.generators import Constraints, LatentGenerator

HOPELESS_ROUNDS = 100  # rounds without a single expression before giving up


def sample(
    model: ModelFolder,
    count: Count = 10,
    temperature: Temperature = 0.0,
    max_height: MaxHeight = Constraints.max_height,
    max_size: MaxSize = Constraints.max_size,
    forbid: Forbid = None,
    seed: Seed = 0,
    notation: Written = "infix",
    as_json: Json = False,
) -> None:
    """Draw expressions from a model: codes from its prior, decoded."""
    loaded = load_within(model, max_height, max_size, forbid)
    rng = np.random.default_rng(seed)
    for part in in_parts(count):
        for expr in drawn(loaded, part, rng, temperature):
            print_expression(expr, notation, as_json=as_json)


def drawn(model: LatentGenerator, count: int, rng: np.random.Generator, temperature: float) -> Forest:
    """So many expressions, whatever share of the codes gives none."""
    if temperature == 0:
        return model.sample(count, rng)
    parts: list[Forest] = []
    missing, fruitless = count, 0
    while missing:
        codes = rng.standard_normal((missing, model.latent_dim), dtype=np.float32)
        parts.append(model.decode(codes, temperature=temperature, rng=rng).forest)
        missing -= len(parts[-1])
        fruitless = 0 if len(parts[-1]) else fruitless + 1
        if fruitless == HOPELESS_ROUNDS:
            came = f"{count - missing} of {count} expressions came, then none"
            raise GeneratorError(f"{came}: train the model longer, or lower the temperature")
    return Forest.concatenate(parts)
