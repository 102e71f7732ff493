"""Checkpoints of a training: one file, written atomically, from which a stopped training resumes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.files import replace_file
from edhie.storage import Arrays, FolderFormat, as_json, digest, pack, unpack

STATE = "training.safetensors"
FORMAT = FolderFormat("training", 1, STATE, GeneratorError, "delete it and train again")


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
        raise FORMAT.unwritable(folder, error) from error


def read_state(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """Return the description (configuration, digests of the inputs, history) and the arrays; None for no state."""
    if not (folder / STATE).is_file():
        return None
    with FORMAT.reading(folder / STATE):
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
