"""Models as folders: save, load, and the shipped models by name; checkpoints of their training.

A folder holds `config.json` (kind of model, settings, how it was trained), `symbols.json`, `weights.safetensors`,
`history.csv` and a card, `README.md`. Loading and using a model needs no torch. The checkpoint is one file, written
atomically, from which a stopped training resumes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.errors import GeneratorError, suggestion
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import Symbol
from edhie.files import replace_file, small_text
from edhie.generators.base import Model
from edhie.generators.config import TrainConfig
from edhie.generators.hvae.hvae import HVAE
from edhie.generators.sequence.model import CVAE, GVAE
from edhie.storage import Arrays, FolderFormat, as_json, csv_text, digest, pack, unpack

MODELS: dict[str, type[Model]] = {model.kind: model for model in (HVAE, GVAE, CVAE)}
CONFIG, SYMBOLS, WEIGHTS = "config.json", "symbols.json", "weights.safetensors"
HISTORY, CARD = "history.csv", "README.md"
FORMAT = FolderFormat("model", 1, CONFIG, GeneratorError, "delete it and train it again")
NAMES = "symbols"  # note in the file of weights: the symbols in the order of the weights' rows
SHIPPED = Path(__file__).parent / "library"
GENERAL = "general-"


def save(
    folder: str | Path,
    model: Model,
    config: TrainConfig,
    *,
    history: Sequence[Mapping[str, float]] = (),
    card: str = "",
    files: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a model into `folder`, which is made if need be, over the one that is there; `files` go with it."""
    rows = ([f"{value:.6g}" for value in row.values()] for row in history)
    description = {"model": model.kind, "edhie": edhie.__version__, "settings": model.settings()}
    return FORMAT.write(
        Path(folder),
        {**description, "training": asdict(config)},
        {
            WEIGHTS: pack(model.weights, {NAMES: json.dumps(model.library.names)}),
            SYMBOLS: model.library.to_json(),
            HISTORY: csv_text(list(history[0]) if history else ["epoch"], rows),
            CARD: card.encode(errors="backslashreplace"),  # a path in it may hold bytes that are no text
            **(files or {}),
        },
    )


def load(folder: str | Path, *, operators: Iterable[Symbol] = ()) -> Model:
    """Return the model in a folder, or the shipped one of that name; pass `operators` for your own that it uses."""
    folder = folder_of(folder)
    description = FORMAT.read(folder, SYMBOLS, WEIGHTS)
    with FORMAT.reading(folder / CONFIG):
        kind, settings = description["model"], dict(description["settings"])
        if kind not in MODELS:
            raise GeneratorError(f"unknown kind of model {kind!r}; known: {', '.join(MODELS)}")
    with FORMAT.reading(folder / SYMBOLS):
        library = SymbolLibrary.from_json(small_text(folder / SYMBOLS), operators=operators)
    with FORMAT.reading(folder / WEIGHTS):
        weights, notes = unpack(folder / WEIGHTS)
    with FORMAT.reading(folder):
        if notes.get(NAMES, json.dumps(library.names)) != json.dumps(library.names):
            raise ValueError(f"{SYMBOLS} has not the symbols of the weights, in their order")
        return MODELS[kind].restored(library, weights, settings)


def folder_of(folder: str | Path) -> Path:
    """Return the folder itself where it is there, else that of the shipped model of this name."""
    try:
        if Path(folder).is_dir():
            return Path(folder)
    except (OSError, ValueError):  # a name that is too long, or a place where one may not look
        pass
    known, name = shipped_names(), str(folder).lower()  # capitals do not matter
    if name not in known:
        hint = suggestion(str(folder), known) or f"; models that come with edhie: {', '.join(known)}"
        raise GeneratorError(f"there is no model folder {folder}{hint}")
    return SHIPPED / name


def shipped_names() -> list[str]:
    """Return the names of the models that come with edhie."""
    return sorted(each.parent.name for each in SHIPPED.glob(f"*/{CONFIG}"))


def general_for(n_variables: int) -> str:
    """Return the name of the general model for so many variables, or for the most that there is one for.

    >>> general_for(2), general_for(9)
    ('general-2', 'general-6')
    """
    sizes = sorted(int(name.removeprefix(GENERAL)) for name in shipped_names() if name.startswith(GENERAL))
    return f"{GENERAL}{max((size for size in sizes if size <= n_variables), default=sizes[0])}"


# -- checkpoints of a training ---------------------------------------------------------

STATE = "training.safetensors"
TRAINING = FolderFormat("training", 1, STATE, GeneratorError, "delete it and train again")


@dataclass(frozen=True)
class Epoch:
    """Figures of one pass over the corpus."""

    epoch: int
    loss: float
    reconstruction: float
    divergence: float
    weight: float
    validation: float
    trees_per_s: float


def write_state(folder: Path, description: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a state in place of the one before."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        state = json.dumps(description, default=as_json)
        replace_file(folder / STATE, pack(arrays, {"state": state, "sha256": _seal(state, arrays)}))
    except OSError as error:
        raise TRAINING.unwritable(folder, error) from error


def read_state(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """Return the description (configuration, digests of the inputs, history) and the arrays; None for no state."""
    if not (folder / STATE).is_file():
        return None
    with TRAINING.reading(folder / STATE):
        arrays, notes = unpack(folder / STATE)
        if notes.get("sha256") not in (None, _seal(notes["state"], arrays)):  # earlier releases wrote none
            raise ValueError("it was changed after it was written")
        description = dict(json.loads(notes["state"]))
        if not isinstance(description["history"], list):
            raise TypeError("the history is no list")
        return description, arrays


def _seal(state: str, arrays: Arrays) -> str:
    return digest(state, *(part for name in sorted(arrays) for part in (name, arrays[name])))


def epochs_done(folder: Path) -> int:
    """Return the number of epochs in the state of a stopped training."""
    state = read_state(folder)
    return 0 if state is None else len(state[0]["history"])


def digests(
    forest: Forest, weights: NDArray[np.float64] | None, start: Arrays | None, grammar: object | None
) -> dict[str, str]:
    """Return a digest of each input of a training; a training that resumes must have the same."""
    found = {"corpus": digest(forest.library.to_json(), forest.tokens, forest.offsets, forest.values)}
    if weights is not None:
        found["weights"] = digest(weights)
    if start is not None:
        found["start"] = digest(*(start[name] for name in sorted(start)))
    if grammar is not None:
        found["grammar"] = digest(str(grammar))
    return found
