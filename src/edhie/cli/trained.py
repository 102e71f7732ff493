"""What is left when a training is over: the model's folder, with its card and the plot of its history."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from edhie.cli.outputs import save_figure
from edhie.console import say
from edhie.corpora import Corpus
from edhie.expr import Forest
from edhie.generators import TrainConfig, save
from edhie.generators.base import Model
from edhie.generators.card import Training, card, duration
from edhie.generators.plots import history_figure
from edhie.generators.reconstruction import Reconstruction, reconstruct
from edhie.generators.split import split

MEASURED = 2000  # the most expressions that reconstruction is measured on
PLOT = "history.png"


@dataclass(frozen=True)
class Done:
    """A training that is over."""

    model: Model
    config: TrainConfig
    corpus: Corpus
    history: Sequence[Mapping[str, float]]

    @cached_property
    def held_out(self) -> Forest:
        """The expressions that were kept aside."""
        return self.corpus.forest.take(split(len(self.corpus), self.config)[0])

    @cached_property
    def measured(self) -> Reconstruction:
        """How well it gives back what it has not seen, or what it has where nothing was kept aside."""
        part = self.held_out if len(self.held_out) else self.corpus.forest
        return reconstruct(self.model, part[:MEASURED])

    @property
    def seconds(self) -> float:
        """How long the epochs took, whenever they were run."""
        expressions = len(self.corpus) - len(self.held_out)
        return sum(expressions / epoch["trees_per_s"] for epoch in self.history)


def write(done: Done, folder: Path, *, more: Mapping[str, object]) -> None:
    """The model, its card, its history and the plot of that."""
    import torch

    device = "CPU" if done.config.device == "cpu" or not torch.cuda.is_available() else torch.cuda.get_device_name()
    made = {**more, "trained with": f"torch {torch.__version__} on {device}"}
    training = Training(
        corpus=done.corpus,
        config=done.config,
        epochs=len(done.history),
        seconds=done.seconds,
        measured=done.measured,
        held_out=len(done.held_out) > 0,
        command=shlex.join(["edhie", *sys.argv[1:]]),
        more={name: str(value) for name, value in made.items() if value is not None},
    )
    save_figure(history_figure(done.history), folder / PLOT)
    save(folder, done.model, done.config, history=done.history, card=card(folder, done.model, training))


def tell(done: Done, folder: Path) -> None:
    """What came of it, in two lines."""
    count, measured, model = len(done.history), done.measured, done.model
    epochs = "1 epoch" if count == 1 else f"{count} epochs"
    learnt_from = f"{done.corpus.name} ({len(done.corpus)} expressions) for {epochs} in {duration(done.seconds)}"
    say(f"{folder}: {model.kind} of {model.latent_dim} dimensions, trained on {learnt_from}")
    of = "held-out expressions" if len(done.held_out) else "expressions that it was trained on"
    distance = "none came back" if measured.invalid == measured.n else f"edit distance {measured.edit_distance:.3f}"
    shares = f"{100 * measured.exact:.1f} % exact, {measured.invalid_percent:.1f} % invalid"
    say(f"  on {measured.n} {of}: {distance}, {shares}")
