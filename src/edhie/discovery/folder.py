"""A discovery as a folder: what was found, and the data it was found in, so that all of it can be asked again."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.discovery.discovery import Discovery
from edhie.discovery.equation import Equation
from edhie.errors import SearchError
from edhie.evaluate import Data
from edhie.expr.symbols import Symbol
from edhie.results import SearchResult

FORMAT = 1
DESCRIPTION, ROWS, EQUATIONS, BEST = "discovery.json", "data.safetensors", "equations.csv", "best.txt"
COLUMNS = ("complexity", "loss", "score", "r2", "r2_validation", "equation", "latex", "constants", "standard_errors")


def save(discovery: Discovery, folder: str | Path) -> Path:
    """Write a discovery into `folder`, which is made if need be; the description comes last."""
    from safetensors.numpy import save as packed

    folder = Path(folder)
    description = {
        "format": FORMAT, "edhie": edhie.__version__, "target": discovery.target, "columns": discovery.columns,
        "variables": discovery.train.names, "selection": discovery.selection, **discovery.as_json(),
    }  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DESCRIPTION).unlink(missing_ok=True)
        discovery.result.save(folder)
        (folder / ROWS).write_bytes(packed(_arrays(discovery)))
        write_equations(discovery, folder / EQUATIONS)
        if not discovery.is_empty:
            (folder / BEST).write_text(f"{discovery.best.text(None)}\n", encoding="utf-8")
        text = json.dumps(description, indent=2, ensure_ascii=False)
        (folder / DESCRIPTION).write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise SearchError(f"cannot write to {folder}: {error.strerror or error}") from error
    return folder


def load(folder: str | Path, *, operators: Iterable[Symbol] = ()) -> Discovery:
    """Read a discovery that `save` wrote; pass `operators` for those of your own that it uses."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = Path(folder)
    if not (folder / DESCRIPTION).is_file():
        raise SearchError(f"{folder} holds no finished fit: it has no {DESCRIPTION}")
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        if description["format"] != FORMAT:
            raise SearchError(f"{folder} has format {description['format']!r}; this edhie reads format {FORMAT}")
        arrays, names = load_file(folder / ROWS), tuple(description["variables"])
        train = _data(arrays, "train", names)
        assert train is not None
        return Discovery(
            target=str(description["target"]),
            columns=tuple(description["columns"]),
            train=train,
            validation=_data(arrays, "validation", names),
            result=SearchResult.load(folder, operators=operators),
            selection=str(description["selection"]),
        )
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise SearchError(f"the fit in {folder} is damaged or cannot be read: {error!r}") from error


def _arrays(discovery: Discovery) -> dict[str, NDArray[np.float64]]:
    found: dict[str, NDArray[np.float64]] = {}
    for part, data in (("train", discovery.train), ("validation", discovery.validation)):
        if data is not None:
            found |= {f"{part}.columns": data.columns, f"{part}.y": data.y}
            found |= {} if data.weights is None else {f"{part}.weights": data.weights}
    return {name: np.ascontiguousarray(array) for name, array in found.items()}


def _data(arrays: dict[str, Any], part: str, names: tuple[str, ...]) -> Data | None:
    if f"{part}.y" not in arrays:
        return None
    return Data(arrays[f"{part}.columns"], arrays[f"{part}.y"], arrays.get(f"{part}.weights"), names)


def write_equations(discovery: Discovery, path: Path) -> None:
    """One row an equation, from the least complex on, for a spreadsheet."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_row(each) for each in discovery.equations)


def _row(equation: Equation) -> list[Any]:
    known = equation.uncertainty
    held_out = equation.r2_validation
    return [
        equation.complexity, equation.loss, equation.score, equation.r2, "" if held_out is None else held_out,
        equation.text(None), equation.latex(),
        *(" ".join(f"{value:.10g}" for value in values) for values in (known.values, known.standard_errors)),
    ]  # fmt: skip
