"""How each model is trained in the experiments, and on which sets.

GVAE and CVAE are trained as the paper says: hidden and latent size 128, batches of 64, 150 epochs
(the defaults of `TrainConfig.of`). HVAE has the paper's latent size and batches of 32; the paper does not tell its
number of epochs, so small sets get more of them. README.md beside this says on what all settings were chosen.
"""

from __future__ import annotations

from dataclasses import replace

from edhie.generators import TrainConfig

DATASETS = ("AE4-2k", "Trig4-2k", "AE5-15k", "Trig5-15k", "AE7-20k", "Trig7-20k")
FOLDS = 5
FIGURE_SET = "Trig5-15k"  # the one with 12,000 expressions in four folds on which the paper's GVAE comes to 1.5
TRAINING_SIZES = (2000, 4000, 6000, 8000, 10000, 12000)
LATENT_DIMENSIONS = (16, 32, 64, 128, 256)
SPLIT_SEED = 20240

MODELS = {
    "hvae": TrainConfig.of(
        "hvae", hidden=128, latent=128, batch=32, learning_rate=0.003, warm_up=0.1, divergence=0.015, device="cpu"
    ),
    "gvae": TrainConfig.of("gvae"),
    "cvae": TrainConfig.of("cvae"),
}

HVAE_EPOCHS = {"AE4-2k": 250, "Trig4-2k": 250, "AE5-15k": 80, "Trig5-15k": 80, "AE7-20k": 60, "Trig7-20k": 60}


def config_for(model: str, dataset: str) -> TrainConfig:
    """How a model is trained on a set."""
    return replace(MODELS[model], epochs=HVAE_EPOCHS[dataset]) if model == "hvae" else MODELS[model]
