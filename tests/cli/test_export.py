"""`edhie export`: an equation of a fit in every format there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.expr.exports import FORMATS, export, from_json
from edhie.fit.run_folder import load


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name: str, edhie: Callable[..., Any], run_folder: Path) -> None:
    code, out, err = edhie("export", run_folder, "--format", name)
    assert (code, err) == (0, "")
    assert out.rstrip("\n") == export(load(run_folder).best.expr, name, target="y").rstrip("\n")


@pytest.mark.parametrize(
    ("before", "cells"), [("", {"x": "B2", "z (m)": "D2"}), ("Probe 7\n\n", {"x": "B4", "z (m)": "D4"})]
)
def test_a_formula_for_a_spreadsheet_has_the_cells_of_the_file(
    before: str, cells: dict[str, str], edhie: Callable[..., Any], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    rows = [(x, 2 * x + 3 * z, z) for x, z in rng.uniform(1, 5, (20, 2)).tolist()]
    lines = ["note,x,y,z (m)", *(f"run {k},{x},{y},{z}" for k, (x, y, z) in enumerate(rows))]
    (tmp_path / "table.csv").write_text(before + "\n".join(lines))
    run = tmp_path / "run"
    fitted = edhie("fit", tmp_path / "table.csv", "--target", "y", "--evaluations", 200, "--out", run, "--no-report")
    assert fitted.code == 0
    found = load(run)
    assert dict(zip(found.columns, found.problem.cells or (), strict=True)) == cells
    formula = edhie("export", run, "--format", "excel").out
    assert set(re.findall(r"[A-Z]+\d+", formula)) == set(cells.values())


def test_into_a_file(edhie: Callable[..., Any], run_folder: Path, tmp_path: Path) -> None:
    path, equation = tmp_path / "law.py", load(run_folder).equations[1]
    options = ["--format", "python", "--index", 1, "--name", "law", "--out", path]
    code, out, err = edhie("export", run_folder, *options)
    assert (code, out, err) == (0, f"{path}: {FORMATS['python'].description}\n", "")
    space: dict[str, Any] = {}
    exec(path.read_text(), space)
    row = dict.fromkeys(equation.train.names, 2.0)
    assert space["law"](**row) == pytest.approx(equation.expr(**row).item())


def test_json_reads_back(edhie: Callable[..., Any], run_folder: Path) -> None:
    assert from_json(edhie("export", run_folder, "--format", "json").out) == load(run_folder).best.expr


def test_help_says_what_each_is(edhie: Callable[..., Any]) -> None:
    told = edhie("export", "--help").out
    assert all(f"{name}: " in told for name in FORMATS)


def test_faults(edhie: Callable[..., Any], run_folder: Path, tmp_path: Path) -> None:
    code, out, err = edhie("export", run_folder, "--format", "c", "--out", tmp_path)
    assert (code, out, err) == (1, "", f"error: cannot write to {tmp_path}: Is a directory\n")
    assert edhie("export", run_folder, "--format", "c", "--name", "2f").err.startswith("error: ")
    assert edhie("export", run_folder, "--format", "cobol").code == 2
