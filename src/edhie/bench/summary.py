"""Rows of results by problem, and the paper's figures to stand beside them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from edhie.bench.metrics import STRICT
from edhie.bench.records import Row

Spread = tuple[float, float]
COUNTERPARTS = {"gvae": "gvae-32", "cvae": "cvae-32", "default": "edhie"}
"""The paper's system that a method of ours stands beside, where it is not the one of its name."""
LABELS = {"edhie": "EDHiE", "hvar": "HVAR", "proged": "ProGED", "dso": "DSO", "pysr": "PySR", "gvae-evo": "GVAE Evo"}


@dataclass(frozen=True)
class Line:
    """What the runs of one problem, or of all, came to."""

    problem: str
    runs: int
    successes: int
    """Runs below the threshold that knows of rounding; under noise, runs that met the right expression at all."""
    strict: int
    """Runs below the paper's 1e-10, whatever the target's size; under noise there is no such figure, and it is 0."""
    equivalent: int
    """Runs whose best expression is the formula."""
    undecided: int
    selected: int
    """Runs whose selected expression is the formula."""
    r2: Spread
    evaluated: Spread | None
    """Expressions evaluated until success, over the successful runs."""
    screened: float
    """Combinations scored in closed form, without being executed: the mean over all runs."""
    rank: Spread | None
    """Of the right expression, over the successful runs with noise."""
    seconds: float


def summarised(rows: Sequence[Row]) -> list[Line]:
    """One line a problem, in the order of the rows."""
    names = dict.fromkeys(row["problem"] for row in rows)
    return [line_of(name, [row for row in rows if row["problem"] == name]) for name in names]


def line_of(name: str, rows: Sequence[Row]) -> Line:
    """These rows as one line."""
    succeeded = [row for row in rows if row["success"] == "1"]
    return Line(
        problem=name,
        runs=len(rows),
        successes=len(succeeded),
        strict=sum(float(row["rmse"]) < STRICT for row in rows),
        equivalent=sum(row["equivalent"] == "yes" for row in rows),
        undecided=sum(row["equivalent"] == "undecided" for row in rows),
        selected=sum(row["selected_equivalent"] == "yes" for row in rows),
        r2=_spread([float(row["r2_test"]) for row in rows]) or (math.nan, math.nan),
        evaluated=_spread([float(row["evaluated_to_success"]) for row in succeeded if row["evaluated_to_success"]]),
        screened=float(np.mean([float(row["screened"]) for row in rows])),
        rank=_spread([float(row["rank"]) for row in succeeded if row["rank"]]),
        seconds=float(np.mean([float(row["seconds"]) for row in rows])),
    )


def _spread(numbers: Sequence[float]) -> Spread | None:
    """Mean and deviation, None of nothing."""
    return (float(np.mean(numbers)), float(np.std(numbers))) if numbers else None


# -- the paper ------------------------------------------------------------------------


@cache
def _paper() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files("edhie.bench") / "paper.toml").read_text(encoding="utf-8"))


def paper_figures(benchmark: str, method: str, noise: float = 0.0) -> tuple[str, dict[str, dict[str, Any]]]:
    """The paper's name for what a method of ours stands beside, and its figures by problem, if it has any.

    >>> paper_figures("nguyen", "edhie")[1]["NG-5"]["successes"]
    3
    """
    system = COUNTERPARTS.get(method, method)
    label = f"{LABELS.get(system, system.upper().replace('-', ' '))}, paper"
    if noise:
        found = _paper()["noise"].get(f"{noise:g}", {}) if benchmark == "nguyen" and system == "edhie" else {}
    else:
        found = _paper().get(benchmark, {}).get(system, {})
    return label, found
