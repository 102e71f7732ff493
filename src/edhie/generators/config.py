"""Everything that decides how a model is trained, in one place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from edhie.errors import GeneratorError, suggestion
from edhie.generators.schedules import SCHEDULES, ScheduleName

ModelName = Literal["hvae", "gvae", "cvae"]
Device = Literal["auto", "cpu", "cuda"]


@dataclass(frozen=True)
class TrainConfig:
    """How a model learns from a corpus."""

    model: ModelName = "hvae"
    """Which autoencoder: hvae (trees), gvae (a grammar's rules) or cvae (tokens of text)."""
    hidden: int = 64
    """The size of the recurrent state: in an hvae, of a node's code."""
    latent: int = 32
    """The number of dimensions of the latent space."""
    epochs: int = 60
    """How often the whole corpus is seen."""
    batch: int = 256
    """How many expressions make one step."""
    learning_rate: float = 0.015
    """Of Adam, at its peak; after it, the rate falls to zero along a cosine."""
    warm_up: float = 0.3
    """The share of the steps in which the learning rate rises to its peak."""
    schedule: ScheduleName = "constant"
    """How the weight of the divergence changes: printed, ramp, linear, constant or cyclical."""
    divergence: float = 0.03
    """The weight of the divergence (λ) that the schedule reaches."""
    free_bits: float = 0.0
    """Divergence, in nats, that each dimension of the latent space has free of charge."""
    validation: float = 0.05
    """The share of the corpus that is kept aside to measure the reconstruction error."""
    patience: int = 0
    """Stop after so many epochs without a better validation loss; 0 for never."""
    seed: int = 0
    """Of the weights, the order of the corpus and the noise."""
    device: Device = "auto"
    """Where to train: cpu, cuda, or auto: a GPU where there is one."""
    threads: int = 1
    """Threads on the CPU; for models of this size one is fastest, and other work is left in peace."""

    def __post_init__(self) -> None:
        for name in ("hidden", "latent", "epochs", "batch", "threads"):
            if getattr(self, name) < 1:
                raise GeneratorError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 < self.learning_rate < 1:
            raise GeneratorError(f"learning_rate must lie between 0 and 1, and is {self.learning_rate}")
        if not 0 <= self.warm_up < 1:
            raise GeneratorError(f"warm_up is a share of the steps, from 0 to below 1, and is {self.warm_up}")
        if not 0 <= self.validation < 1:
            raise GeneratorError(f"validation is a share of the corpus, from 0 to below 1, and is {self.validation}")
        if not (0 <= self.divergence < math.inf and 0 <= self.free_bits < math.inf):
            raise GeneratorError("divergence and free_bits must be finite, and not negative")
        if min(self.patience, self.seed) < 0:
            raise GeneratorError("patience and seed must not be negative")
        if self.model not in MODEL_DEFAULTS:
            raise GeneratorError(f"unknown model {self.model!r}{suggestion(self.model, MODEL_DEFAULTS)}")
        if self.schedule not in SCHEDULES:
            raise GeneratorError(f"unknown schedule {self.schedule!r}{suggestion(self.schedule, SCHEDULES)}")

    @classmethod
    def of(cls, model: ModelName, **changes: Any) -> TrainConfig:
        """The defaults of a model, with changes: for the baselines those of the paper."""
        return cls(model=model, **{**MODEL_DEFAULTS.get(model, {}), **changes})


BASELINE = {
    "latent": 128, "hidden": 128, "batch": 64, "epochs": 150,
    "learning_rate": 0.003, "warm_up": 0.1, "divergence": 0.01,
}  # fmt: skip
MODEL_DEFAULTS: dict[str, dict[str, Any]] = {"hvae": {}, "gvae": BASELINE, "cvae": BASELINE}
