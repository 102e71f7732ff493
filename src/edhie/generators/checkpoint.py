"""The state of a training on disk: one file, whole or not there, that a stopped training goes on from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.generators.folder import as_json

STATE = "training.safetensors"
Arrays = Mapping[str, NDArray[Any]]


def claim(folder: Path) -> None:
    """Make the folder; where that cannot be, it shows before anything is learnt."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{STATE}.part").touch()
    except OSError as error:
        raise GeneratorError(f"cannot keep the training in {folder}: {error.strerror or error}") from error


def write_state(folder: Path, description: Mapping[str, Any], arrays: Arrays) -> None:
    """Keep a state in place of the one before."""
    from safetensors.numpy import save

    part = folder / f"{STATE}.part"
    try:
        part.write_bytes(save(dict(arrays), {"state": json.dumps(description, default=as_json)}))
        part.replace(folder / STATE)
    except OSError as error:
        raise GeneratorError(f"cannot keep the training in {folder}: {error.strerror or error}") from error


def read_description(folder: Path) -> dict[str, Any] | None:
    """What a kept state says of itself: configuration, inputs and history; None where nothing is kept."""
    from safetensors import SafetensorError, safe_open

    path = folder / STATE
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="numpy") as file:
            description: dict[str, Any] = dict(json.loads(file.metadata()["state"]))
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise GeneratorError(f"{path} is damaged ({error!r}); remove it to begin anew") from error
    return description


def clear_state(folder: Path) -> None:
    """Remove the state of a training that is over."""
    for name in (STATE, f"{STATE}.part"):
        (folder / name).unlink(missing_ok=True)


def digests(
    forest: Forest, weights: NDArray[np.float64] | None, start: Arrays | None, grammar: object | None
) -> dict[str, str]:
    """What a training learns from, each as a digest: one that goes on must find it as it was."""
    found = {"corpus": _digest(forest.tokens, forest.offsets, forest.values, text=forest.library.to_json())}
    if weights is not None:
        found["weights"] = _digest(weights)
    if start is not None:
        found["start"] = _digest(*(start[name] for name in sorted(start)))
    if grammar is not None:
        found["grammar"] = _digest(text=str(grammar))
    return found


def _digest(*arrays: NDArray[Any], text: str = "") -> str:
    state = hashlib.sha256(text.encode())
    for array in arrays:
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()
