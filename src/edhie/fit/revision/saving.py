"""A revision as files of its run folder: the steps for programs and for spreadsheets, the chosen equation, the rows."""

from __future__ import annotations

import json
import math
from pathlib import Path

import edhie
from edhie.errors import KeepError, SearchError
from edhie.expr import SymbolLibrary, parse
from edhie.expr.difference import difference
from edhie.expr.standard_libraries import everything
from edhie.fit.revision.revision import Original, Revision, Step
from edhie.fit.run_folder import BEST, REVISIONS, ROWS, as_candidate, equation_of, problem_in, result_of, row_arrays
from edhie.fit.settings import Settings
from edhie.storage import FolderFormat, csv_text, pack

DESCRIPTION = "revision.json"
FORMAT = FolderFormat("revision", 1, DESCRIPTION, SearchError, "delete it and revise again", KeepError)


def save(revision: Revision, folder: str | Path) -> Path:
    """Write a revision into the folder of its search."""
    first = revision.refitted
    description = {
        "edhie": edhie.__version__,
        **revision.as_json(),
        "columns": revision.columns,
        "variables": first.train.names,
        "library": json.loads(first.expr.library.to_json()),
        "steps": [step.as_json() | as_candidate(step.equation) for step in revision.steps],
        "strategy": revision.result.strategy,
        "negligible": revision.negligible,
    }
    rows = [step.as_json() for step in revision.steps]
    files: dict[str, str | bytes] = {
        ROWS: pack(row_arrays(first.train, first.validation)),
        REVISIONS: csv_text(list(rows[0]), [list(row.values()) for row in rows], for_people=True),
        BEST: f"{revision.best.text(None)}\n",
    }
    return FORMAT.write(Path(folder), description, files)


def load(folder: str | Path) -> Revision:
    """Read a revision that `save` wrote; of the explored expressions, only the steps are restored."""
    folder = Path(folder)
    description = FORMAT.read(folder, ROWS)
    with FORMAT.reading(folder):
        library = SymbolLibrary.from_json(json.dumps(description["library"])).with_numbers()
        problem = problem_in(folder, description)
        equations = [equation_of(row, library, problem, Settings()) for row in description["steps"]]
        first = equations[0].expr
        steps = [
            Step(each, difference(first, each.expr), math.inf if row["bits"] is None else float(row["bits"]))
            for each, row in zip(equations, description["steps"], strict=True)
        ]
        original = Original(
            parse(description["original"], everything(problem.train.names)), description["original_loss"]
        )
        result = result_of(description, [each.candidate for each in equations], library)
        return Revision(
            problem.target, problem.columns, original, tuple(steps), result, float(description["negligible"])
        )
