"""GVAE and CVAE as the paper compares with: they do not come with edhie, so they are trained once and kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs

from edhie.corpora import build, named_recipe
from edhie.generators import TrainConfig, load
from edhie.generators.base import Model
from edhie.generators.config import ModelName
from edhie.generators.saving import CONFIG
from edhie.generators.trained import train_and_save


@dataclass(frozen=True)
class Trained:
    """A baseline that learns from a named corpus, and where it is kept."""

    kind: ModelName
    corpus: str
    latent: int

    @property
    def folder(self) -> Path:
        """Its place in the user's cache; removing it makes the next run train again."""
        name = f"{self.kind}-{self.corpus.lower()}-{self.latent}"
        return Path(platformdirs.user_cache_dir("edhie")) / "models" / name

    @property
    def config(self) -> TrainConfig:
        """The paper's settings but for the size of the latent space."""
        return TrainConfig.of(self.kind, latent=self.latent)

    @property
    def is_there(self) -> bool:
        """True if it was trained already."""
        return (self.folder / CONFIG).is_file()

    def load(self) -> Model:
        """Return the model, once `train` has made it."""
        return load(self.folder)

    def train(self, on_epoch: Callable[[int, int], None] = lambda epoch, total: None) -> None:
        """Train and save it; a stopped training resumes."""
        with TemporaryDirectory() as folder:
            corpus = build(named_recipe(self.corpus), folder)
        train_and_save(self.folder, corpus, self.config, on_epoch=lambda epoch, total: on_epoch(epoch.epoch + 1, total))
