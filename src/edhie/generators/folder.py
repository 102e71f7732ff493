"""A model as a folder that a person can read: configuration, symbols, weights, history, a card.

Nothing is pickled. `load` needs no torch.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.errors import EdhieError, GeneratorError, suggestion
from edhie.expr import SymbolLibrary
from edhie.expr.symbols import Symbol
from edhie.generators import shipped
from edhie.generators.base import Model
from edhie.generators.config import TrainConfig
from edhie.generators.models import MODELS

FORMAT = 1
CONFIG, SYMBOLS, WEIGHTS, HISTORY, CARD = (
    "config.json",
    "symbols.json",
    "weights.safetensors",
    "history.csv",
    "README.md",
)


def save(
    folder: str | Path,
    model: Model,
    config: TrainConfig,
    *,
    history: Sequence[Mapping[str, float]] = (),
    card: str = "",
) -> Path:
    """Write a model into `folder`, which is made if need be."""
    from safetensors.numpy import save as packed

    folder = Path(folder)
    description = {
        "format": FORMAT, "model": model.kind, "edhie": edhie.__version__,
        "settings": model.settings(), "training": asdict(config),
    }  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {name: np.ascontiguousarray(array) for name, array in model.weights.items()}
        (folder / WEIGHTS).write_bytes(packed(arrays))
        (folder / SYMBOLS).write_text(model.library.to_json(), encoding="utf-8")
        write_history(folder / HISTORY, history)
        (folder / CARD).write_text(card, encoding="utf-8")
        # the description last: a folder that has one is whole
        (folder / CONFIG).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise GeneratorError(f"cannot write the model to {folder}: {error.strerror or error}") from error
    return folder


def load(folder: str | Path, *, operators: Iterable[Symbol] = ()) -> Model:
    """The model in a folder, or the shipped one of that name; pass `operators` for your own that it uses."""
    folder = _found(folder)
    for name in (CONFIG, SYMBOLS, WEIGHTS):
        if not (folder / name).is_file():
            raise GeneratorError(f"{folder} is not a model: it has no {name}")
    kind, settings = _description(folder)
    try:
        library = SymbolLibrary.from_json((folder / SYMBOLS).read_text(encoding="utf-8"), operators=operators)
    except (OSError, UnicodeDecodeError, EdhieError) as error:
        raise GeneratorError(f"{folder / SYMBOLS} cannot be read: {error}") from error
    try:
        return MODELS[kind].restored(library, read_weights(folder / WEIGHTS), settings)
    except EdhieError as error:
        raise GeneratorError(f"{folder} is damaged: {error}") from error


def _found(folder: str | Path) -> Path:
    """The folder itself where it is there, else that of a shipped model."""
    if Path(folder).is_dir():
        return Path(folder)
    by_name = shipped.path_of(str(folder))
    if by_name is None:
        known = shipped.names()
        hint = suggestion(str(folder), known) or f"; models that come with edhie: {', '.join(known)}"
        raise GeneratorError(f"there is no model folder {folder}{hint if known else ''}")
    return by_name


def _description(folder: Path) -> tuple[str, dict[str, Any]]:
    """The kind of the model, and its settings."""
    try:
        description = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        version, kind, settings = description["format"], description["model"], dict(description["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GeneratorError(f"{folder / CONFIG} is damaged or not a model's: {error!r}") from error
    if version != FORMAT:
        raise GeneratorError(f"{folder / CONFIG} has format {version!r}; this edhie reads format {FORMAT}")
    if kind not in MODELS:
        raise GeneratorError(f"{folder / CONFIG} names an unknown kind of model, {kind!r}; known: {', '.join(MODELS)}")
    return str(kind), settings


def read_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a safetensors file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays: dict[str, Any] = load_file(path)
    except (OSError, SafetensorError, ValueError) as error:
        raise GeneratorError(f"{path} is damaged: {error}") from error
    return arrays


def write_history(path: Path, history: Sequence[Mapping[str, float]]) -> None:
    """One row an epoch, as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(history[0]) if history else ["epoch"])
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" for key, value in row.items()} for row in history)
