"""`edhie show`: the front, one equation and its constants."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edhie.fit.run_folder import load
from measurements import small


def test_a_search_that_was_too_short_has_no_weights(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    out = edhie("fit", cup, "--target", "T", *small("mosaic", 50), "--out", run).out
    why = "only 50 expressions tried, too few to say how likely each equation is; search longer"
    for text in (out, edhie("show", run).out):
        assert "weight" not in text
        assert why in text.splitlines()
    shown = json.loads(edhie("show", run, "--json").out)
    assert {each["weight"] for each in shown["front"]} == {None}
    told = edhie("predict", run, cup, "--std", "--doubt", "equations").err
    assert told == "error: equations have no weights to compare them by; search longer\n"


def test_show(edhie: Callable[..., Any], run_folder: Path) -> None:
    code, out, err = edhie("show", run_folder)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    found = load(run_folder)
    assert lines[0] == "y explained by age, L (cm): 80 rows"
    assert lines[1].startswith("draw, seed 0, stopped by evaluations after ")
    assert lines[2] == str(found.result.counts)
    assert lines[3] == "L_cm is the column 'L (cm)'"
    assert lines[5].split() == ["#", "complexity", "loss", "R²", "train", "weight", "y", "="]
    listed = lines[6 : lines.index("", 6)]
    assert len(listed) == len(found.equations) + 1
    assert found.best.model is not None
    assert listed[-1] == found.notes[0] == f"constants are fitted for {found.best.model.description}"
    chosen = next(line for line in lines[6:] if line.startswith("*"))
    assert int(chosen[1:].split()[0]) == found.index
    at = lines.index(str(found.best))
    assert lines[at + 1].startswith(f"  loss {found.best.loss:.6g}, R² = 0.")
    assert len(lines) == at + 3 + len(found.best.uncertainty.values)
    assert all(" ± " in line for line in lines[at + 3 :])


def test_another_equation(edhie: Callable[..., Any], run_folder: Path) -> None:
    first = load(run_folder).equations[0]
    assert str(first) in edhie("show", run_folder, "--index", 0).out.splitlines()
    found = json.loads(edhie("show", run_folder, "--index", 0, "--json").out)
    assert found["equation"]["expression"] == str(first.expr)
    assert found["equation"]["constants"] == list(first.expr.constants)
    assert found["selected"] != found["equation"]
    assert found["variables"] == {"age": "age", "L_cm": "L (cm)"}


@pytest.mark.parametrize("index", [-1, 1000])
def test_an_equation_that_is_not_there(index: int, edhie: Callable[..., Any], run_folder: Path) -> None:
    count = len(load(run_folder).equations)
    told = f"error: there is no equation {index}; there are {count}, numbered from 0: see them with edhie show\n"
    assert edhie("show", run_folder, "--index", index) == (1, "", told)


def test_folders_that_hold_no_fit(edhie: Callable[..., Any], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    told = f"error: there is no folder {gone}; make one with: edhie fit DATA --target NAME --out {gone}\n"
    assert edhie("show", gone) == (1, "", told)
    assert edhie("show", tmp_path).err == f"error: {tmp_path} holds no finished fit: it has no discovery.json\n"
    (tmp_path / "discovery.json").write_text("{")
    assert edhie("show", tmp_path).err.startswith(f"error: {tmp_path / 'discovery.json'} is damaged: ")
