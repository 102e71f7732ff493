"""`edhie predict`: a table with one more column, or two."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.evaluate.tables import columnar
from edhie.fit.run_folder import load

COLUMNS = np.array([[1.5, 2.5, 4.0], [2.0, 3.0, 1.25]])


@pytest.fixture
def new(tmp_path: Path) -> Path:
    path = tmp_path / "new.csv"
    path.write_text('site,L (cm),age\nlab,2.0,1.5\n\nfield,3.0,2.5\n"a, b",1.25,4.0\n')
    return path


def test_predict(edhie: Callable[..., Any], run_folder: Path, new: Path) -> None:
    code, out, err = edhie("predict", run_folder, new)
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["site", "L (cm)", "age", "y"]
    assert [row["site"] for row in rows] == ["lab", "field", "a, b"]
    np.testing.assert_array_equal([float(row["y"]) for row in rows], load(run_folder).best.predict(COLUMNS))


def test_deviations_and_other_equations_go_into_a_file(
    edhie: Callable[..., Any], run_folder: Path, new: Path, tmp_path: Path
) -> None:
    path, equation = tmp_path / "predictions.csv", load(run_folder).equations[1]
    code, out, err = edhie("predict", run_folder, new, "--index", 1, "--std", "--out", path)
    assert (code, out, err) == (0, f"{path}: 3 predictions by {equation}\n", "")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_array_equal([float(row["y"]) for row in rows], equation.predict(COLUMNS))
    np.testing.assert_allclose([float(row["y_std"]) for row in rows], equation.standard_deviations(COLUMNS))


def test_the_table_stays_as_it_is_written(edhie: Callable[..., Any], run_folder: Path, new: Path) -> None:
    new.write_text("L (cm);age\n2,0;1,5\n1,25;4,0\n")
    code, out, err = edhie("predict", run_folder, new)
    expected = [
        repr(float(value)).replace(".", ",")
        for value in load(run_folder).best.predict(np.ascontiguousarray(COLUMNS[:, [0, 2]]))
    ]
    assert (code, out, err) == (0, f"L (cm);age;y\n2,0;1,5;{expected[0]}\n1,25;4,0;{expected[1]}\n", "")


def test_numbers_that_can_be_read_in_two_ways(edhie: Callable[..., Any], run_folder: Path, new: Path) -> None:
    new.write_text("L (cm);age\n1,125;1\n")
    code, out, err = edhie("predict", run_folder, new)
    assert (code, out) == (1, "")
    assert "column 'L (cm)': '1,125' can mean 1125 (--decimal .) or 1.125 (--decimal ,); " in err
    for mark, length in ((",", 1.125), (".", 1125.0)):
        code, out, err = edhie("predict", run_folder, new, "--decimal", mark)
        expected = load(run_folder).best.predict(np.array([[1.0], [length]])).item()
        assert (code, out, err) == (0, f"L (cm);age;y\n1,125;1;{expected!r}\n".replace(".", mark), "")


def test_rows_without_a_value(edhie: Callable[..., Any], run_folder: Path, new: Path) -> None:
    new.write_text("L (cm),age\n2.0,1.5\n,1\n1,-1e300\n1,nan\n")
    code, out, err = edhie("predict", run_folder, new)
    assert code == 0
    assert [bool(line.split(",")[2]) for line in out.splitlines()[1:]] == [True, False, False, False]
    assert err == "warning: the equation has no value in 3 of 4 rows; their cells are empty\n"


def test_only_the_columns_that_it_uses(edhie: Callable[..., Any], run_folder: Path, new: Path) -> None:
    found = load(run_folder)
    alone = next(k for k, each in enumerate(found.equations) if len(each.expr.variables) == 1)
    used = found.columns[found.train.names.index(found.equations[alone].expr.variables[0])]
    (other,) = {"age", "L (cm)"} - {used}
    new.write_text(f"{used}\n1.5\n")
    assert edhie("predict", run_folder, new, "--index", alone).code == 0
    told = f"error: {new} has no column {other!r}, which the equation uses; it has {used}\n"
    assert edhie("predict", run_folder, new) == (1, "", told)
    new.write_text("x\n1.5\n")
    told = f"error: {new} has no columns 'age', 'L (cm)', which the equation uses; it has x\n"
    assert edhie("predict", run_folder, new) == (1, "", told)


def test_a_table_that_has_the_target(edhie: Callable[..., Any], run_folder: Path, new: Path) -> None:
    new.write_text("y,L (cm),age\n1,2.0,1.5\n")
    code, out, err = edhie("predict", run_folder, new)
    assert (code, out.splitlines()[0]) == (0, "y,L (cm),age,y_predicted")
    assert err == f"{new} has a column 'y' already; the predictions are in 'y_predicted'\n"


def test_parquet(edhie: Callable[..., Any], run_folder: Path, new: Path, tmp_path: Path) -> None:
    import pandas

    expected = edhie("predict", run_folder, new).out
    path = tmp_path / "new.parquet"
    pandas.read_csv(new).to_parquet(path)
    assert edhie("predict", run_folder, path) == (0, expected, "")


def test_large_tables_are_written_as_parquet_in_batches(
    edhie: Callable[..., Any], run_folder: Path, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pandas

    monkeypatch.setattr(columnar, "BATCH", 2)
    expected = load(run_folder).best.predict(COLUMNS)
    frame = pandas.read_csv(new).assign(n=pandas.array([1, None, 3], dtype="Int64"))
    frame.loc[3] = ["x", None, 1.0, 4]
    frame.to_parquet(tmp_path / "new.parquet")
    np.savez(tmp_path / "new.npz", **{"age": COLUMNS[0], "L (cm)": COLUMNS[1]})
    for name, rows in (("new.parquet", 4), ("new.npz", 3)):
        out = tmp_path / f"{name}.pq"
        code, told, err = edhie("predict", run_folder, tmp_path / name, "--out", out)
        assert (code, told.split(" by ")[0]) == (0, f"{out}: {rows} predictions")
        assert ("no value in 1 of 4 rows" in err) == (rows == 4)
        found = pandas.read_parquet(out)
        np.testing.assert_array_equal(found["y"][:3], expected)
    read = pandas.read_parquet(tmp_path / "new.parquet.pq")
    pandas.testing.assert_frame_equal(read.drop(columns="y"), frame, check_dtype=False)
    assert read["y"].isna().tolist() == [False, False, False, True]
    err = edhie("predict", run_folder, new, "--out", tmp_path / "text.parquet").err
    assert "cannot be written as Parquet: only the columns of Parquet and NumPy files have types" in err
    assert not (tmp_path / "text.parquet").exists()


def test_faults(edhie: Callable[..., Any], run_folder: Path, new: Path, tmp_path: Path) -> None:
    code, out, err = edhie("predict", run_folder, new, "--out", new)
    assert (code, out) == (1, "")
    assert err == f"error: {new} is the table that is read; choose another file for the predictions\n"
    assert edhie("predict", run_folder, new, "--out", tmp_path).err.startswith("error: cannot write the predictions to")
    assert (
        edhie("predict", run_folder, tmp_path / "none.csv").err == f"error: there is no file {tmp_path / 'none.csv'}\n"
    )
    new.write_text("L (cm),age\nlong,1.5\n")
    assert edhie("predict", run_folder, new).err.startswith(f"error: {new}, line 2: 'long' is not a number; ")


def test_the_doubt_between_equations(edhie: Callable[..., Any], run_folder: Path, new: Path) -> None:
    found = load(run_folder)
    code, out, err = edhie("predict", run_folder, new, "--std", "--doubt", "equations")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    np.testing.assert_allclose([float(row["y_std"]) for row in rows], found.standard_deviations(COLUMNS))
