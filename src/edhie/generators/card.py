"""A model's card: the README.md of its folder, which says what it is, what it learnt from and how well."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import edhie
from edhie.corpora import Corpus
from edhie.corpora.corpus import checksum, expressions_text
from edhie.generators.base import Model
from edhie.generators.config import TrainConfig
from edhie.generators.reconstruction import Reconstruction
from edhie.generators.shipped import SHIPPED

KINDS = {
    "hvae": "hierarchical variational autoencoder (HVAE): every point of its latent space is a valid expression",
    "gvae": "grammar variational autoencoder (GVAE), over the rules of a grammar",
    "cvae": "character variational autoencoder (CVAE), over the tokens of text",
}


@dataclass(frozen=True)
class Training:
    """What a card tells of how a model was made."""

    corpus: Corpus
    config: TrainConfig
    epochs: int
    """How many there were: fewer than configured, where patience ended it."""
    seconds: float
    """How long they took."""
    measured: Reconstruction
    held_out: bool
    """Whether the expressions measured on were kept aside; else they were learnt from."""
    command: str
    """What trained it, as typed."""
    more: Mapping[str, str] = field(default_factory=dict)
    """What else decided the result, such as the model it started from."""


def card(folder: str | Path, model: Model, training: Training) -> str:
    """The card of a model in `folder`, in Markdown."""
    config, corpus, measured = training.config, training.corpus, training.measured
    is_shipped = Path(folder).resolve().parent == SHIPPED.resolve()
    called = Path(folder).name if is_shipped else str(folder)
    place = shlex.quote(called)
    where = "held out of training" if training.held_out else "that it was trained on, since none were held out"
    distance = "none came back" if measured.invalid == measured.n else f"{measured.edit_distance:.3f}"
    sections = [
        f"# {Path(folder).resolve().name}",
        f"A {KINDS.get(model.kind, model.kind)}. Its codes have {model.latent_dim} dimensions. "
        f"It was trained on {corpus.name}, {len(corpus)} expressions, with edhie {edhie.__version__}.",
        f"```sh\nedhie sample {place} -n 10\nedhie encode {place} {shlex.quote(str(corpus.forest[0]))}\n```",
        f"```python\nfrom edhie.generators import load\n\nmodel = load({json.dumps(called, ensure_ascii=False)})\n```",
        "## How well it reconstructs",
        f"On {measured.n} expressions {where}:",
        _table(
            ("mean edit distance, in postfix tokens", distance),
            ("came back as they were", f"{100 * measured.exact:.1f} %"),
            ("came back as no expression", f"{measured.invalid_percent:.1f} %"),
        ),
        "![The parts of the loss, epoch by epoch](history.png)",
        "## Corpus",
        _table(
            ("name", corpus.name),
            ("expressions", str(len(corpus))),
            ("sha256 of its expressions, one a line", f"`{checksum(expressions_text(corpus.forest))}`"),
            *((key, str(value)) for key, value in corpus.provenance.items() if not isinstance(value, (dict, list))),
        ),
        "## Symbols",
        f"`{model.library}`",
        "## Training",
        _table(
            *((name.replace("_", " "), f"{value}") for name, value in asdict(config).items()),
            ("epochs done", str(training.epochs)),
            ("time", duration(training.seconds)),
            *training.more.items(),
        ),
        f"```sh\n{training.command}\n```",
    ]
    return "\n\n".join(sections) + "\n"


def _table(*rows: tuple[str, str]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {_cell(name)} | {_cell(value)} |" for name, value in rows)])


def _cell(text: str) -> str:
    """A text that does not end its cell or its row."""
    return " ".join(text.replace("|", "\\|").split())


def duration(seconds: float) -> str:
    """Seconds as a person says them.

    >>> [duration(seconds) for seconds in (0.84, 75, 3720)]
    ['0.8 s', '1 min 15 s', '1 h 2 min']
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes} min {left} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
