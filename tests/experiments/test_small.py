"""Measurements against their certified models: fair splits, constants fitted again, medians."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from small import SETS, model_values, read_set, refitted, rmse, set_names, split_rows, summary

HEADER = "name,rows,target,certified_model,certified_constants,residual_standard_deviation\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    x = np.linspace(0, 5, 20)
    y = np.exp(3 - 0.5 * x)
    lines = ["y,x", *(f"{b:.17g},{a:.17g}" for a, b in zip(x, y, strict=True))]
    (tmp_path / "decay.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "models.csv").write_text(HEADER + "decay,20,log(y),b1-b2*x,2.5 0.6,0\n", encoding="utf-8")
    return tmp_path


def test_constants_are_fitted_from_the_certified_ones(folder: Path) -> None:
    data = read_set(folder, "decay")
    fitted, rest = split_rows("decay", 20, 0)
    constants = refitted(data, fitted)
    np.testing.assert_allclose(constants, [3, 0.5])
    assert rmse(data.y[rest], model_values(data, constants, rest)) < 1e-12


def test_splits_depend_on_name_and_seed() -> None:
    fitted, rest = split_rows("ENSO", 168, 1)
    assert sorted([*fitted, *rest]) == list(range(168))
    assert len(fitted) == 118
    assert fitted.tolist() == split_rows("ENSO", 168, 1)[0].tolist()
    assert fitted.tolist() != split_rows("Gauss", 168, 1)[0].tolist()
    assert fitted.tolist() != split_rows("ENSO", 168, 2)[0].tolist()


def test_every_set_is_in_one_half() -> None:
    assert len(set(set_names(None))) == 13
    assert set_names("develop") + set_names("report") == set_names(None)
    assert tuple(SETS) == ("develop", "report")


def test_what_has_no_value_has_an_infinite_error() -> None:
    assert rmse(np.ones(2), np.array([1, np.nan])) == np.inf


def test_the_summary_has_medians() -> None:
    def row(name: str, split: int, rows: int, ratio: float) -> dict[str, str]:
        return {"version": "now", "set": name, "split": str(split), "rows": str(rows), "ratio": str(ratio)}

    page = summary([row("ENSO", 0, 118, 1.0), row("ENSO", 1, 118, 3.0), row("Rat42", 0, 6, 9.0)])
    assert "| ENSO | 118 | 2 |" in page
    assert "| median of sets |  | 5.5 |" in page
    assert "| above 1.5 with 12 rows or more |  | 1 of 1 |" in page
