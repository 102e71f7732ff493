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
NAMES = "symbols"  # in the weights' file: the symbols in the order of the weights' rows
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
    """Write a model into `folder`, which is made if need be, over the one that is there."""
    from safetensors.numpy import save as packed

    folder = Path(folder)
    description = {
        "format": FORMAT, "model": model.kind, "edhie": edhie.__version__,
        "settings": model.settings(), "training": asdict(config),
    }  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONFIG).unlink(missing_ok=True)  # the description comes last: a folder that has one is whole
        arrays = {name: np.ascontiguousarray(array) for name, array in model.weights.items()}
        (folder / WEIGHTS).write_bytes(packed(arrays, {NAMES: json.dumps(model.library.names)}))
        (folder / SYMBOLS).write_text(model.library.to_json(), encoding="utf-8")
        write_history(folder / HISTORY, history)
        # a path in it may hold bytes that are no text
        (folder / CARD).write_text(card, encoding="utf-8", errors="backslashreplace")
        (folder / CONFIG).write_text(json.dumps(description, indent=2, default=as_json) + "\n", encoding="utf-8")
    except OSError as error:
        raise GeneratorError(f"cannot write the model to {folder}: {error.strerror or error}") from error
    return folder


def load(folder: str | Path, *, operators: Iterable[Symbol] = ()) -> Model:
    """The model in a folder, or the shipped one of that name; pass `operators` for your own that it uses."""
    folder = folder_of(folder)
    for name in (CONFIG, SYMBOLS, WEIGHTS):
        if not (folder / name).is_file():
            raise GeneratorError(f"{folder} is not a model: it has no {name}")
    kind, settings = _description(folder)
    try:
        library = SymbolLibrary.from_json((folder / SYMBOLS).read_text(encoding="utf-8"), operators=operators)
    except (OSError, UnicodeDecodeError, EdhieError) as error:
        raise GeneratorError(f"{folder / SYMBOLS} cannot be read: {error}") from error
    weights, notes = read_arrays(folder / WEIGHTS)
    if notes.get(NAMES, json.dumps(library.names)) != json.dumps(library.names):
        raise GeneratorError(f"{folder} is damaged: {SYMBOLS} has not the symbols of the weights, in their order")
    try:
        return MODELS[kind].restored(library, weights, settings)
    except EdhieError as error:
        raise GeneratorError(f"{folder} is damaged: {error}") from error


def folder_of(folder: str | Path) -> Path:
    """The folder itself where it is there, else that of the shipped model of this name."""
    if _is_folder(folder):
        return Path(folder)
    by_name = shipped.path_of(str(folder))
    if by_name is None:
        known = shipped.names()
        hint = suggestion(str(folder), known) or f"; models that come with edhie: {', '.join(known)}"
        raise GeneratorError(f"there is no model folder {folder}{hint if known else ''}")
    return by_name


def _is_folder(path: str | Path) -> bool:
    try:
        return Path(path).is_dir()
    except OSError:  # a name that is too long, or a place where one may not look
        return False


def _description(folder: Path) -> tuple[str, dict[str, Any]]:
    """The kind of the model, and its settings."""
    try:
        description = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        version, kind, settings = description["format"], description["model"], dict(description["settings"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise GeneratorError(f"{folder / CONFIG} is damaged or not a model's: {error!r}") from error
    if version != FORMAT:
        raise GeneratorError(f"{folder / CONFIG} has format {version!r}; this edhie reads format {FORMAT}")
    if not isinstance(kind, str) or kind not in MODELS:
        raise GeneratorError(f"{folder / CONFIG} names an unknown kind of model, {kind!r}; known: {', '.join(MODELS)}")
    return kind, settings


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The arrays of a safetensors file, and its notes."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError, TypeError, AttributeError) as error:
        raise GeneratorError(f"{path} is damaged: {error}") from error


def as_json(value: Any) -> Any:
    """For `json.dumps`: NumPy's numbers, in a configuration say, as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} has no place in JSON")


def write_history(path: Path, history: Sequence[Mapping[str, float]]) -> None:
    """One row an epoch, as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(history[0]) if history else ["epoch"])
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" for key, value in row.items()} for row in history)
