"""The data of a fit: what a file says of them beyond the numbers."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edhie.cli.fit import tell
from edhie.cli.search_options import Asked
from edhie.errors import DataError
from edhie.fit.measured import Measured
from edhie.fit.run_folder import load
from measurements import small


def read_measured(path: Path, target: str, features: str, **options: Any) -> Measured:
    return Asked(path, target, features, **options).measured()


@pytest.mark.parametrize(
    ("cells", "step"),
    [
        (["1.5", "2.25", "3.125"], 0.001),
        (["1.50", "2.00", "3.50"], 0.01),  # zeros at the end count
        (["1,50", "2,00", "3,50"], 0.01),
        (["1500", "2000", "3500"], 1.0),
        (["0.333333333333333314", "0.5", "0.25"], 0.0),
    ],
)
def test_the_resolution_of_the_target(cells: list[str], step: float, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x;y\n" + "".join(f"{k};{cell}\n" for k, cell in enumerate(cells)))
    measured = read_measured(path, "y", "", validation=path)
    assert measured.problem.validation is not None
    assert (measured.problem.train.resolution.step, measured.problem.validation.resolution.step) == (step, step)


def test_standard_errors(tmp_path: Path) -> None:
    path, apart = tmp_path / "data.csv", tmp_path / "apart.csv"
    path.write_text("x,e,y\n1,0.5,2\n2,1,3\n3,1,5\n")
    apart.write_text("y,x\n1,2\n")
    measured = read_measured(path, "y", "", validation=apart, sigma="e")
    train = measured.problem.train
    assert train.names == ("x",)
    assert train.sigma is not None
    assert train.weights is not None
    assert train.sigma.tolist() == [0.5, 1, 1]
    assert train.weights.tolist() == [2, 0.5, 0.5]
    assert measured.problem.validation is not None
    assert measured.problem.validation.weights is None  # that file has no standard errors
    again = read_measured(path, "y", "x", validation=path, sigma="e").problem.validation
    assert again is not None
    assert again.weights is not None
    assert again.weights.tolist() == [2, 0.5, 0.5]


TABLE = (
    "day,x,site,z,y\n2024-01-05,1,lab,5,2.0\n2024-01-06,-999,lab,6,3.5\n2024-01-07,3,NA,8,4.0\n2024-01-08,4,x,9,4.5\n"
)


def test_columns_of_numbers_are_chosen_unless_others_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.csv"
    path.write_text(TABLE)
    measured = read_measured(path, "y", "")
    assert measured.problem.train.names == ("x", "z")
    tell(measured)
    told = " ".join(capsys.readouterr().err.split())
    assert "has columns of text or dates, which are left out: 'day', 'site'" in told
    with pytest.raises(DataError, match="'lab' is not a number; choose other columns"):
        read_measured(path, "y", "x, site")
    assert read_measured(path, "y", "", exclude="z").problem.train.names == ("x",)
    with pytest.raises(DataError, match="has no column 'zz' to exclude; did you mean 'z'"):
        read_measured(path, "y", "", exclude="zz")
    with pytest.raises(DataError, match="'x' is to be used and among those to exclude too"):
        read_measured(path, "y", "x", exclude="x")


def test_rows_with_missing_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.csv"
    path.write_text(TABLE)
    measured = read_measured(path, "y", "x", validation=path, missing="-999", drop_missing=True)
    assert measured.problem.train.columns.tolist() == [[1, 3, 4]]
    assert measured.problem.validation is not None
    assert measured.problem.validation.columns.tolist() == [[1, 3, 4]]
    assert measured.notes == ("has 1 row with a missing value, which is left out",)
    assert measured.problem.train.resolution.step == 0.1
    with pytest.raises(DataError, match=r"line 3: column 'x' has no value \(-999\); .* --drop-missing"):
        read_measured(path, "y", "x", missing="-999")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
    assert read_measured(Path("-"), "y", "z").path == Path("standard input")


def test_what_a_fit_is_told_of_the_target_reaches_its_folder(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path, out = tmp_path / "data.csv", tmp_path / "run"
    path.write_text("x,e,y\n" + "".join(f"{k},{1 + k % 3},{k / 2:.2f}\n" for k in range(30)))
    assert edhie("fit", path, "--target", "y", "--sigma", "e", *small(), "--out", out, "--quiet").code == 0
    train = load(out).train
    assert train.names == ("x",)
    assert train.sigma is not None
    assert train.sigma.tolist() == [1 + k % 3 for k in range(30)]
    assert train.resolution.step == 0.01


def test_names_of_a_stranger(edhie: Callable[..., Any], tmp_path: Path) -> None:
    """A target that is a formula, a column that looks like another, one that clears the screen."""
    path, out, target = tmp_path / "t.csv", tmp_path / "run", "=cmd|' /C calc'!A0"
    rows = [f"{k % 7},{k},{(k * k) % 11},{2 * k + k % 7}" for k in range(40)]
    path.write_text("\n".join([f"a,\u0430,\x1b[2J[red]x,{target}", *rows]), encoding="utf-8")
    code, shown, told = edhie("fit", path, "--target", target, "--evaluations", 30, "--out", out, "--no-report")
    assert code == 0
    assert "U+001B CONTROL CHARACTER" in told
    assert "columns 'a' and '\u0430' look the same: U+0430 CYRILLIC SMALL LETTER A" in told
    assert f"{target} = " in shown
    cells = (out / "equations.csv").read_text(encoding="utf-8").split(",")
    assert any(cell.startswith(f"'{target} = ") for cell in cells)
    assert not any(cell.lstrip('"').startswith("=") for cell in cells)
    code, shown, _ = edhie("show", out)
    assert "\\u001b[2J[red]x" in shown
