"""Training settings and data sets of the experiments.

GVAE and CVAE are trained as the paper says: hidden and latent size 128, batches of 64, 150 epochs
(the defaults of `TrainConfig.of`). HVAE has the paper's latent size and batches of 32; the paper does not give its
number of epochs, so small sets get more of them. README.md says how all settings were chosen.
"""

from __future__ import annotations

from dataclasses import replace

from edhie.generators import TrainConfig

DATASETS = ("AE4-2k", "Trig4-2k", "AE5-15k", "Trig5-15k", "AE7-20k", "Trig7-20k")
FOLDS = 5
FIGURE_SET = "Trig5-15k"  # that of the paper's figure: 12,000 expressions in four folds, and an error of GVAE of 1.5
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
    """Return the training settings of a model on a set."""
    return replace(MODELS[model], epochs=HVAE_EPOCHS[dataset]) if model == "hvae" else MODELS[model]
