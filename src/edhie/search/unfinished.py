"""Results of an unfinished search, from its last checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edhie.archives import read_arrays
from edhie.evaluate.archive import Archive
from edhie.evaluate.counting import Counts
from edhie.expr import SymbolLibrary
from edhie.expr.symbols import Symbol
from edhie.results import Candidates, Front
from edhie.search.checkpoint import ARRAYS, STORED
from edhie.search.state import under


@dataclass(frozen=True)
class Unfinished:
    """The front and the counts of a search at its last checkpoint."""

    front: Front
    executed: int
    seconds: float


def read_unfinished(folder: Path, *, operators: Iterable[Symbol] = ()) -> Unfinished | None:
    """Return the results of the search in a folder at its last checkpoint; None if there is no checkpoint.

    `operators` are a user's own.
    """
    description, path = STORED.read(folder), folder / ARRAYS
    if not path.is_file() or "library" not in description:  # an earlier release did not write it
        return None
    with STORED.reading(path):
        file = read_arrays(path)
        library = SymbolLibrary.from_json(json.dumps(description["library"]), operators=operators)
        arrays = under("evaluator.", file)
        archive, counts = Archive(library), Counts(*map(int, arrays["counts"]))
        archive.restore(arrays)
        forest = archive.take(np.arange(len(archive)))
        found = Candidates(forest, archive.errors, archive.complexities, archive.executed_at)
        return Unfinished(Front.of(found), counts.executed, float(file["seconds"]))
