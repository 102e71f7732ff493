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
from edhie.errors import EdhieError, GeneratorError
from edhie.expr import SymbolLibrary
from edhie.expr.symbols import Symbol
from edhie.generators.config import TrainConfig
from edhie.generators.hvae.hvae import HVAE

FORMAT = 1
CONFIG, SYMBOLS, WEIGHTS, HISTORY, CARD = (
    "config.json",
    "symbols.json",
    "weights.safetensors",
    "history.csv",
    "README.md",
)
MODELS = {"hvae": HVAE}


def save(
    folder: str | Path,
    model: HVAE,
    config: TrainConfig,
    *,
    kind: str = "hvae",
    history: Sequence[Mapping[str, float]] = (),
    card: str = "",
) -> Path:
    """Write a model into `folder`, which is made if need be."""
    from safetensors.numpy import save_file

    folder = Path(folder)
    description = {"format": FORMAT, "model": kind, "edhie": edhie.__version__, "training": asdict(config)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        save_file({name: np.ascontiguousarray(array) for name, array in model.weights.items()}, folder / WEIGHTS)
        (folder / SYMBOLS).write_text(model.library.to_json(), encoding="utf-8")
        write_history(folder / HISTORY, history)
        (folder / CARD).write_text(card, encoding="utf-8")
        # the description last: a folder that has one is whole
        (folder / CONFIG).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise GeneratorError(f"cannot write the model to {folder}: {error.strerror or error}") from error
    return folder


def load(folder: str | Path, *, operators: Iterable[Symbol] = ()) -> HVAE:
    """The model in a folder; pass `operators` for those of your own that it uses."""
    folder = Path(folder)
    if not folder.is_dir():
        raise GeneratorError(f"there is no model folder {folder}")
    for name in (CONFIG, SYMBOLS, WEIGHTS):
        if not (folder / name).is_file():
            raise GeneratorError(f"{folder} is not a model: it has no {name}")
    kind = _kind(folder)
    try:
        library = SymbolLibrary.from_json((folder / SYMBOLS).read_text(encoding="utf-8"), operators=operators)
    except (OSError, UnicodeDecodeError, EdhieError) as error:
        raise GeneratorError(f"{folder / SYMBOLS} cannot be read: {error}") from error
    model = MODELS[kind](library, read_weights(folder / WEIGHTS))
    _check_shapes(model, folder)
    return model


def _kind(folder: Path) -> str:
    try:
        description = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        version, kind = description["format"], description["model"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GeneratorError(f"{folder / CONFIG} is damaged or not a model's: {error!r}") from error
    if version != FORMAT:
        raise GeneratorError(f"{folder / CONFIG} has format {version!r}; this edhie reads format {FORMAT}")
    if kind not in MODELS:
        raise GeneratorError(f"{folder / CONFIG} names an unknown kind of model, {kind!r}; known: {', '.join(MODELS)}")
    return str(kind)


def read_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a safetensors file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays: dict[str, Any] = load_file(path)
    except (OSError, SafetensorError, ValueError) as error:
        raise GeneratorError(f"{path} is damaged: {error}") from error
    return arrays


def _check_shapes(model: HVAE, folder: Path) -> None:
    """Weights and symbols that belong together, or an error at once instead of nonsense later."""
    w, symbols = model.weights, len(model.library)
    try:
        hidden, latent = w["mean_w"].shape
        expected = {
            "up_w_i": (symbols, 3 * hidden), "up_b_i": (3 * hidden,), "up_w_h": (2 * hidden, 3 * hidden),
            "up_b_h": (3 * hidden,), "mean_b": (latent,), "log_variance_w": (hidden, latent),
            "log_variance_b": (latent,), "root_w": (latent, hidden), "root_b": (hidden,),
            "down_w_o": (hidden, symbols), "down_b_o": (symbols,), "down_w_i": (symbols, 6 * hidden),
            "down_b_i": (6 * hidden,), "down_w_h": (hidden, 6 * hidden), "down_b_h": (6 * hidden,),
        }  # fmt: skip
        wrong = next((name for name, shape in expected.items() if w[name].shape != shape), None)
    except (KeyError, ValueError) as error:
        raise GeneratorError(f"{folder / WEIGHTS} does not hold the weights of an HVAE: {error!r}") from error
    if wrong is not None:
        raise GeneratorError(
            f"{folder / WEIGHTS} does not fit {SYMBOLS}: {wrong} has the shape {w[wrong].shape}, not {expected[wrong]}"
        )


def write_history(path: Path, history: Sequence[Mapping[str, float]]) -> None:
    """One row an epoch, as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(history[0]) if history else ["epoch"])
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" for key, value in row.items()} for row in history)
