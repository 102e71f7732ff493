"""`edhie export`: an equation of a fit in every format there is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edhie.expr.exports import FORMATS, export, from_json
from edhie.fit.run_folder import load


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name: str, edhie: Callable[..., Any], run_folder: Path) -> None:
    code, out, err = edhie("export", run_folder, "--format", name)
    assert (code, err) == (0, "")
    assert out.rstrip("\n") == export(load(run_folder).best.expr, name, target="y").rstrip("\n")


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
