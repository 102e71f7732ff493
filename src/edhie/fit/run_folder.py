"""A discovery or a revision as a folder: the equations, the result of the search and the data.

The chosen equation is saved too, so that it does not change if a later release would choose another.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.errors import KeepError, SearchError
from edhie.evaluate import Data
from edhie.evaluate.data import with_resolution
from edhie.evaluate.resolution import Resolution
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr.difference import difference
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import Symbol
from edhie.files import small_text
from edhie.finish import opened
from edhie.fit.all_rows import AllRows
from edhie.fit.equation import Equation
from edhie.fit.problem import Problem
from edhie.fit.result import Discovery
from edhie.fit.revision.revision import Original, Revision, Step
from edhie.fit.settings import Settings
from edhie.results import Candidate, Candidates, History, SearchResult
from edhie.results.result import FORMAT as RESULT
from edhie.results.result import SYMBOLS, assembled, contents
from edhie.search.checkpoint import DESCRIPTION as RUN
from edhie.selection.noise import model_of
from edhie.storage import FolderFormat, csv_text, pack, unpack

DESCRIPTION, ROWS, EQUATIONS, BEST = "discovery.json", "data.safetensors", "equations.csv", "best.txt"
REVISION, REVISIONS = "revision.json", "revisions.csv"  # of `edhie revise`, whose folder holds a search too
FORMAT = FolderFormat("fit", 2, DESCRIPTION, SearchError, "delete it and fit again", KeepError)
REVISION_FORMAT = FolderFormat("revision", 1, REVISION, SearchError, "delete it and revise again", KeepError)
COLUMNS = tuple(name for name in Equation.COLUMNS if name != "sympy")


def save(discovery: Discovery, folder: str | Path) -> Path:
    """Write a discovery and its result into `folder`, which is created if needed."""
    description = {
        "edhie": edhie.__version__, "columns": discovery.columns, "variables": discovery.train.names,
        "cells": discovery.problem.cells,
        "settings": discovery.settings.as_json(),
        "library": json.loads(discovery.result.candidates.forest.library.to_json()),
        **discovery.as_json(),
        "index": discovery.chosen,
        "front": [each.as_json() | _as_candidate(each) for each in discovery.equations],
        "negligible": discovery.result.front.negligible,
    }  # fmt: skip
    files: dict[str, str | bytes] = {
        **RESULT.files(*contents(discovery.result)),
        ROWS: pack(_row_arrays(discovery.train, discovery.validation)),
        EQUATIONS: csv_text(COLUMNS, map(_row, discovery.equations), for_people=True),
    }
    if not discovery.is_empty:
        files[BEST] = f"{discovery.best.text(None)}\n".encode()
    return FORMAT.write(Path(folder), description, files)


def load(folder: str | Path, *, operators: Iterable[Symbol] = (), whole: bool = True) -> Discovery:
    """Read a discovery that `save` wrote; `operators` are the user-defined ones that it uses.

    Unless `whole`, the explored expressions are left out, which is much faster.
    """
    folder, customs = Path(folder), list(operators)
    _check_finished(folder)
    description = FORMAT.read(folder, ROWS)
    result = SearchResult.load(folder, operators=customs) if whole else None
    with FORMAT.reading(folder):
        kept = description.get("library")  # earlier releases kept it in a file of the search only
        text = json.dumps(kept) if kept else small_text(folder / SYMBOLS)
        library = opened(SymbolLibrary.from_json(text, operators=customs))
        settings, problem = Settings.from_json(description["settings"]), _problem_in(folder, description)
        equations = [_equation_of(row, library, problem, settings) for row in description["front"]]
        result = result or _result_of(description, [each.candidate for each in equations], library)
        return Discovery(problem, settings, result, tuple(equations), description["index"])


def save_revision(revision: Revision, folder: str | Path) -> Path:
    """Write a revision into the folder of its search."""
    first = revision.refitted
    description = {
        "edhie": edhie.__version__,
        **revision.as_json(),
        "columns": revision.columns,
        "variables": first.train.names,
        "library": json.loads(first.expr.library.to_json()),
        "steps": [step.as_json() | _as_candidate(step.equation) for step in revision.steps],
        "strategy": revision.result.strategy,
        "negligible": revision.negligible,
    }
    rows = [step.as_json() for step in revision.steps]
    files: dict[str, str | bytes] = {
        ROWS: pack(_row_arrays(first.train, first.validation)),
        REVISIONS: csv_text(list(rows[0]), [list(row.values()) for row in rows], for_people=True),
        BEST: f"{revision.best.text(None)}\n",
    }
    return REVISION_FORMAT.write(Path(folder), description, files)


def load_revision(folder: str | Path) -> Revision:
    """Read a revision that `save_revision` wrote; of the explored expressions, only the steps are restored."""
    folder = Path(folder)
    description = REVISION_FORMAT.read(folder, ROWS)
    with REVISION_FORMAT.reading(folder):
        library = SymbolLibrary.from_json(json.dumps(description["library"])).with_numbers()
        problem = _problem_in(folder, description)
        equations = [_equation_of(row, library, problem, Settings()) for row in description["steps"]]
        first = equations[0].expr
        steps = [
            Step(each, difference(first, each.expr), math.inf if row["bits"] is None else float(row["bits"]))
            for each, row in zip(equations, description["steps"], strict=True)
        ]
        original = Original(
            parse(description["original"], everything(problem.train.names)), description["original_loss"]
        )
        result = _result_of(description, [each.candidate for each in equations], library)
        return Revision(
            problem.target, problem.columns, original, tuple(steps), result, float(description["negligible"])
        )


def is_unfinished(folder: Path) -> bool:
    """Return whether a folder holds a search without selected equations, which follow at its end."""
    return not FORMAT.is_whole(folder) and (folder / RUN).is_file() and not (folder / REVISIONS).is_file()


def _check_finished(folder: Path) -> None:
    if FORMAT.is_whole(folder):
        return
    if not folder.is_dir():
        raise SearchError(f"there is no folder {folder}; make one with: edhie fit DATA --target NAME --out {folder}")
    if is_unfinished(folder):
        resumed = f"edhie fit DATA --target NAME --out {folder} --resume"
        raise SearchError(f"{folder} holds a search that did not end; resume it first: {resumed}")
    if (folder / REVISIONS).is_file():
        raise SearchError(f"{folder} holds a revision, not a fit; its equations are in {folder / REVISIONS}")
    raise SearchError(f"{folder} holds no finished fit: it has no {DESCRIPTION}")


def _as_candidate(equation: Equation) -> dict[str, Any]:
    """Return the fields that restore the equation; fitted constants are kept apart from its numbers."""
    expr = equation.expr
    return {
        "formula": str(expr.free()),
        "constants": expr.constants,
        "executed_at": equation.candidate.executed_at,
        "noise_ratio": 0.0 if equation.model is None else equation.model.ratio,
        "all_rows": None if equation.all_rows is None else equation.all_rows.as_json(),
    }


def _problem_in(folder: Path, description: dict[str, Any]) -> Problem:
    """Return the problem of a saved description, with the rows in its folder."""
    (arrays, _), names = unpack(folder / ROWS), tuple(description["variables"])
    train, validation = (_data(arrays, part, names) for part in ("train", "validation"))
    if train is None:
        raise ValueError(f"{ROWS} has no rows")
    columns, cells = tuple(description["columns"]), description.get("cells")  # earlier releases did not keep cells
    if cells is not None and not (
        len(cells) == len(columns) and all(re.fullmatch("[A-Z]+[1-9][0-9]*", c) for c in cells)
    ):
        raise ValueError("its cells are not those of its columns")
    return Problem(str(description["target"]), columns, train, validation, cells=cells and tuple(cells))


def _equation_of(row: dict[str, Any], library: SymbolLibrary, problem: Problem, settings: Settings) -> Equation:
    """Return the equation that `as_candidate` and `Equation.as_json` describe."""
    free = parse(row["formula"], library)
    if not set(free.variables).issubset(problem.train.names):
        raise ValueError(f"{row['formula']!r} has variables that are not in {ROWS}")
    expr = free.with_constants(row["constants"]) if row["constants"] else free
    candidate = Candidate(expr, float(row["loss"]), float(row["complexity"]), int(row["executed_at"]))
    model = None if row["noise"] is None else model_of(row["noise"], float(row["noise_ratio"]))
    known = {"score": float(row["score"]), "model": model, "weight": row["weight"]}
    if row.get("all_rows") is not None:
        known["all_rows"] = AllRows.from_json(row["all_rows"])
    return Equation.of(candidate, problem, settings, **known)


def _result_of(description: dict[str, Any], front: Sequence[Candidate], library: SymbolLibrary) -> SearchResult:
    """Return a result whose only candidates are the equations."""
    candidates = Candidates(
        Forest.from_exprs([each.expr for each in front], library),
        np.array([each.error for each in front], np.float64),
        np.array([each.complexity for each in front], np.float64),
        np.array([each.executed_at for each in front], np.int64),
    )
    return assembled(description, candidates, History())


def _row_arrays(train: Data, validation: Data | None) -> dict[str, NDArray[np.float64]]:
    """Return the training and held-out rows as named arrays, to be saved."""
    found: dict[str, NDArray[np.float64]] = {}
    for part, data in (("train", train), ("validation", validation)):
        if data is not None:
            arrays = {"columns": data.columns, "y": data.y, "weights": data.weights, "sigma": data.sigma}
            found |= {f"{part}.{name}": array for name, array in arrays.items() if array is not None}
            found[f"{part}.resolution"] = np.array(data.resolution)
    return found


def _data(arrays: dict[str, Any], part: str, names: tuple[str, ...]) -> Data | None:
    if f"{part}.y" not in arrays:
        return None
    weights, sigma = arrays.get(f"{part}.weights"), arrays.get(f"{part}.sigma")
    columns, y = (arrays[f"{part}.{name}"] for name in ("columns", "y"))
    for name, array in (("columns", columns), ("y", y), ("weights", weights), ("sigma", sigma)):
        shape = (len(names), len(y)) if name == "columns" else (len(y),)
        if array is None:
            continue
        if array.shape != shape or array.dtype != np.float64 or not array.size or not np.isfinite(array).all():
            raise ValueError(f"{part}.{name} in {ROWS} is not an array of finite numbers of the shape {shape}")
    data = Data(columns, y, weights, names, sigma)
    step, digits = arrays[f"{part}.resolution"]
    return with_resolution(data, Resolution(float(step), int(digits)))


def _row(equation: Equation) -> list[Any]:
    """Return an equation as a row of a spreadsheet."""
    known = equation.uncertainty
    held_out = equation.r2_validation
    return [
        equation.complexity, equation.loss, equation.score, equation.r2, "" if held_out is None else held_out,
        "" if equation.weight is None else equation.weight, equation.noise or "",
        equation.text(None), equation.latex(),
        *(" ".join(f"{value:.10g}" for value in values) for values in (known.values, known.standard_errors)),
    ]  # fmt: skip
