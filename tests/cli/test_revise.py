"""`edhie revise`: the verdict and the front, told and kept; one message for what is wrong."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from revisions import SCENARIOS

DECAY = "c*x0*exp(-c*x1)"


@pytest.fixture
def decay(tmp_path: Path) -> Path:
    """Two hundred rows that an offset is missing in."""
    data = SCENARIOS["an offset"].data()
    path = tmp_path / "decay.csv"
    np.savetxt(path, np.column_stack([data.columns.T, data.y]), delimiter=",", header="x0,x1,y", comments="")
    return path


def test_revise(edhie: Callable[..., Any], decay: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    code, printed, err = edhie("revise", DECAY, decay, "--target", "y", "--evaluations", 300, "--out", out)
    assert (code, err.splitlines()[1]) == (0, "searching (revise, seed 0) until 300 expressions")
    lines = printed.splitlines()
    assert lines[0] == "the formula is not enough: + c inserted at the top"
    assert lines[1].split() == ["distance", "loss", "R²", "y", "=", "what", "changed"]
    starred = [line for line in lines if line.startswith("*")]
    assert len(starred) == 1
    assert starred[0].split()[1] == "2"
    assert lines[-1].startswith("y = ")
    assert {"revisions.csv", "best.txt", "difference.png", "run.json"} <= {path.name for path in out.iterdir()}
    with (out / "revisions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["distance"] for row in rows] == [line.lstrip("*").split()[0] for line in lines[2:-2]]
    assert (out / "best.txt").read_text().startswith("y = ")


def test_quiet_and_json(edhie: Callable[..., Any], decay: Path) -> None:
    code, printed, err = edhie("revise", DECAY, decay, "--target", "y", "--evaluations", 200, "--quiet")
    assert (code, err, len(printed.splitlines())) == (0, "", 1)
    code, printed, _ = edhie("revise", "3*x0*exp(-x1) + 1", decay, "--target", "y", "--evaluations", 200, "--json")
    told = json.loads(printed)
    assert (code, told["is_enough"], told["folder"]) == (0, False, None)
    assert told["original_loss"] > told["steps"][0]["loss"]


def test_a_formula_may_begin_with_a_minus_sign(edhie: Callable[..., Any], decay: Path) -> None:
    code, printed, _ = edhie("revise", "-c*x0 + c", decay, "--target", "y", "--evaluations", 40, "--features", "x0")
    assert code == 0
    assert "x1" not in printed


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("c*x0*exp(-c*", "the expression ends where an operand should be at 12"),
        ("c*z", "unknown symbol 'z'; there are x0, x1, c"),
        ("sinn(x0)", "unknown function 'sinn'; did you mean 'sin'?"),
    ],
)
def test_one_message_with_a_caret(edhie: Callable[..., Any], decay: Path, formula: str, message: str) -> None:
    code, printed, err = edhie("revise", formula, decay, "--target", "y", "--quiet")
    assert (code, printed) == (1, "")
    assert f"error: {message}" in err
    assert err.rstrip().endswith("^")


def test_what_else_is_wrong(edhie: Callable[..., Any], decay: Path, tmp_path: Path) -> None:
    assert "there is no file" in edhie("revise", DECAY, tmp_path / "none.csv", "--target", "y").err
    assert "'z'" in edhie("revise", DECAY, decay, "--target", "z").err
    assert edhie("revise", DECAY, decay, "--target", "y", "--resume").code == 2
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    result = edhie("revise", DECAY, decay, "--target", "y", "--out", tmp_path / "full")
    assert (result.code, "is not empty" in result.err) == (1, True)


def test_standard_errors(edhie: Callable[..., Any], decay: Path) -> None:
    code, out, err = edhie("revise", "c*x0", decay, "--target", "y", "--sigma", "x2")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {decay} has no column 'x2'")
    code, out, err = edhie("revise", "c*x0", decay, "--target", "y", "--sigma", "x1", "--evaluations", 50, "--quiet")
    assert (code, out.startswith("y = "), "x1" in out, err) == (0, True, False, "")  # it is no feature


def test_control_c(edhie: Callable[..., Any], decay: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopping(*given: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["edhie.cli.fit"], "revised", stopping)
    code, printed, err = edhie("revise", DECAY, decay, "--target", "y", "--quiet")
    assert (code, printed, err) == (130, "", "stopped before anything was found\n")


def test_stopped_within_the_search_it_shows_what_was_found(
    edhie: Callable[..., Any], decay: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from edhie.search.revision import Revise

    step, out = Revise.step, tmp_path / "run"

    def stopping(self: Revise, rng: np.random.Generator) -> bool:
        if self._step == 2:
            raise KeyboardInterrupt
        return step(self, rng)

    asked = ("revise", DECAY, decay, "--target", "y", "--evaluations", 700, "--out", out, "--quiet")
    monkeypatch.setattr(Revise, "step", stopping)
    code, printed, err = edhie(*asked)
    assert (code, printed.startswith("y = ")) == (130, True)
    assert "--resume" in err
    monkeypatch.setattr(Revise, "step", step)
    ended = edhie(*asked, "--resume")
    assert ended.code == 0
    plain = edhie(*asked[:-2], tmp_path / "other", "--quiet")
    assert ended.out == plain.out
