"""GVAE and CVAE as the paper compares with: they do not come with edhie, so they are trained once and kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs

from edhie.corpora import build, named_recipe
from edhie.generators import TrainConfig, load, save
from edhie.generators.base import Model
from edhie.generators.checkpoint import clear_state
from edhie.generators.config import ModelName

Watcher = Callable[[int, int], None]


@dataclass(frozen=True)
class Trained:
    """A baseline that learns from a named corpus, and where it is kept."""

    kind: ModelName
    corpus: str
    latent: int

    @property
    def folder(self) -> Path:
        """In the user's cache; removing it makes the next run train again."""
        name = f"{self.kind}-{self.corpus.lower()}-{self.latent}"
        return Path(platformdirs.user_cache_dir("edhie")) / "models" / name

    @property
    def config(self) -> TrainConfig:
        """The paper's settings but for the size of the latent space."""
        return TrainConfig.of(self.kind, latent=self.latent)

    @property
    def is_there(self) -> bool:
        """Whether it was trained already."""
        return (self.folder / "config.json").is_file()

    def load(self) -> Model:
        """The model, once `train` has made it."""
        return load(self.folder)

    def train(self, on_epoch: Watcher = lambda epoch, total: None) -> None:
        """Train it and keep it; stopped, it goes on from the last epoch the next time."""
        from edhie.generators.train import train

        with TemporaryDirectory() as folder:
            forest = build(named_recipe(self.corpus), folder).forest
        model, history = train(
            forest, self.config, folder=self.folder, on_epoch=lambda epoch, total: on_epoch(epoch.epoch + 1, total)
        )
        save(self.folder, model, self.config, history=[asdict(epoch) for epoch in history])
        clear_state(self.folder)
