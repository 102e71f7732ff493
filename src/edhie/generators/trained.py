"""Train a model and save it in a folder with its history and its card."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.corpora import Corpus
from edhie.corpora.corpus import expressions_text
from edhie.expr import Forest
from edhie.generators.base import Model
from edhie.generators.config import TrainConfig, held_out_and_learnt
from edhie.generators.saving import SHIPPED, STATE, TRAINING, Epoch, save
from edhie.generators.walks import Reconstruction, reconstruct
from edhie.grammar import PCFG
from edhie.safe_text import printable
from edhie.storage import digest

MEASURED = 2000  # expressions at most that reconstruction is measured on
PLOT = "history.png"
KINDS = {
    "hvae": "hierarchical variational autoencoder (HVAE): every point of its latent space is a valid expression",
    "gvae": "grammar variational autoencoder (GVAE), over the rules of a grammar",
    "cvae": "character variational autoencoder (CVAE), over the tokens of text",
}


@dataclass(frozen=True)
class Trained:
    """A trained model, its corpus, and one record for each epoch."""

    model: Model
    config: TrainConfig
    corpus: Corpus
    history: list[dict[str, float]]

    @cached_property
    def held_out(self) -> Forest:
        """The expressions that were held out of training."""
        return self.corpus.forest.take(held_out_and_learnt(len(self.corpus), self.config)[0])

    @cached_property
    def measured(self) -> Reconstruction:
        """The reconstruction error of held-out expressions, or of the corpus where none were held out."""
        return reconstruct(self.model, (self.held_out if len(self.held_out) else self.corpus.forest)[:MEASURED])

    @property
    def seconds(self) -> float:
        """The time that all epochs took together, over all runs of a training that was resumed."""
        expressions = len(self.corpus) - len(self.held_out)
        return sum(expressions / epoch["trees_per_s"] for epoch in self.history)


def train_and_save(
    folder: Path,
    corpus: Corpus,
    config: TrainConfig,
    *,
    weights: NDArray[np.float64] | None = None,
    start: Model | None = None,
    grammar: PCFG | None = None,
    on_epoch: Callable[[Epoch, int], None] = lambda epoch, total: None,
    command: str = "",
    notes: Mapping[str, object] | None = None,
    plot: bool = False,
) -> Trained:
    """Train a model on a corpus and save it, its history and its card in a folder; a stopped training resumes.

    Inputs are those of `train`. `command` and `notes` are for the card; None among the notes is left out. The folder
    is locked meanwhile: another process that trains in it raises. Where no epoch was finished, no folder is left.
    """
    from edhie.generators.train import train, trained_with

    with TRAINING.in_use(folder):
        model, epochs = train(
            corpus.forest, config, weights=weights, start=start, grammar=grammar, folder=folder, on_epoch=on_epoch
        )
        done = Trained(model, config, corpus, [asdict(epoch) for epoch in epochs])
        told = {**(notes or {}), "trained with": trained_with(config)}
        text = card(folder, done, command=command, notes=told, plot=plot)
        files = {PLOT: _plot(done)} if plot else None
        save(folder, model, config, history=done.history, card=text, files=files)
        (folder / STATE).unlink(missing_ok=True)
        return done


def _plot(done: Trained) -> bytes:
    from edhie.generators.plots import history_figure

    file = io.BytesIO()
    history_figure(done.history).savefig(file, format="png")
    return file.getvalue()


def card(folder: Path, done: Trained, *, command: str, notes: Mapping[str, object], plot: bool) -> str:
    """Return the card of a model in `folder`, in Markdown: kind, corpus, training and reconstruction error."""
    model, corpus, measured = done.model, done.corpus, done.measured
    called = folder.name if folder.resolve().parent == SHIPPED.resolve() else str(folder)
    place = shlex.quote(called)
    where = "held out of training" if len(done.held_out) else "that it was trained on, since none were held out"
    sections = [
        f"# {folder.resolve().name}",
        f"A {KINDS.get(model.kind, model.kind)}. Its codes have {model.latent_dim} dimensions. "
        f"It was trained on {printable(corpus.name)}, {len(corpus)} expressions, with edhie {edhie.__version__}.",
        f"```sh\nedhie sample {place} -n 10\nedhie encode {place} {shlex.quote(str(corpus.forest[0]))}\n```",
        f"```python\nfrom edhie.generators import load\n\nmodel = load({json.dumps(called, ensure_ascii=False)})\n```",
        "## How well it reconstructs",
        f"On {measured.n} expressions {where}:",
        _table(
            ("mean edit distance, in postfix tokens", measured.distance_text),
            ("came back as they were", f"{100 * measured.exact:.1f} %"),
            ("came back as no expression", f"{measured.invalid_percent:.1f} %"),
        ),
        *([f"![The parts of the loss, epoch by epoch]({PLOT})"] if plot else []),
        "## Corpus",
        _table(
            ("name", corpus.name),
            ("expressions", len(corpus)),
            ("sha256 of its expressions, one a line", f"`{digest(expressions_text(corpus.forest))}`"),
            *((key, value) for key, value in corpus.provenance.items() if not isinstance(value, (dict, list))),
        ),
        "## Symbols",
        f"`{model.library}`",
        "## Training",
        _table(
            *((name.replace("_", " "), value) for name, value in asdict(done.config).items()),
            ("epochs done", len(done.history)),
            ("seconds", round(done.seconds)),
            *((name, value) for name, value in notes.items() if value is not None),
        ),
        *([f"```sh\n{command}\n```"] if command else []),
    ]
    return "\n\n".join(sections) + "\n"


def _table(*rows: tuple[str, object]) -> str:
    def cell(value: object) -> str:  # which must not end its cell or its row
        return " ".join(str(value).replace("|", "\\|").split())

    return "\n".join(["| | |", "|---|---|", *(f"| {cell(name)} | {cell(value)} |" for name, value in rows)])
