"""CSV files: what is read, and what is said of those that are not right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edhie.errors import DataError
from edhie.evaluate import tables
from edhie.evaluate.tables import column_names, read_numbers


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_are_chosen_by_name_and_others_may_hold_anything(tmp_path: Path) -> None:
    path = written(tmp_path, '\ufeffa, site ,"b"\r\n1,lab,-2e3\r\n\r\n  , , \r\n 3.5 ,"x,y",nan\r\n')
    assert column_names(path) == ("a", "site", "b")
    assert read_numbers(path, ["a"]).tolist() == [[1.0], [3.5]]
    assert read_numbers(path, []).shape == (2, 0)


def test_rows_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).normal(size=(25, 2))
    path = written(tmp_path, "a,b\n" + "".join(f"{a},{b}\n" for a, b in table.tolist()))
    for chunk in (1, 10, 25, 100):
        monkeypatch.setattr(tables, "CHUNK", chunk)
        np.testing.assert_array_equal(read_numbers(path, ["b", "a"]), table[:, ::-1])
    written(tmp_path, path.read_bytes() + b"1,inf\n")
    monkeypatch.setattr(tables, "CHUNK", 10)
    with pytest.raises(DataError, match=r"t.csv, line 27 holds a number that is not finite: inf in column 'b'; drop"):
        read_numbers(path, ["a", "b"])


def test_a_table_without_rows(tmp_path: Path) -> None:
    assert read_numbers(written(tmp_path, "a,b\n"), ["a", "b"]).shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv is empty; write a row of names"),
        ("\n , \n", "t.csv is empty"),
        ("1,2.5\n3,4\n", r"the first row must name each column, and it holds only numbers \(1, 2.5\); write names"),
        ("a,,b\n1,2,3\n", "and column 2 has no name; write one, or remove the column"),
        ("a,b,a\n1,2,3\n", "must name each column differently, and 'a' is there 2 times; rename all but one"),
        ("a,b\n1,2\n1\n", "line 3 has 1 columns, the first 2; make them alike"),
        ("a,b\n1,2\n\n1,two\n", "line 4: 'two' is not a number; choose other columns, or turn column 'b' into numbers"),
        ("a,b\n1,\n", "line 2: column 'b' is empty; drop such rows or fill them"),
        ("a,b\n1,NaN\n", "line 2 holds a number that is not finite: NaN in column 'b'; drop such rows or fill them"),
        ("a;b\n1;2\n", "has no column 'b'; it has a;b; separate columns by commas"),
        ("a,bb\n1,2\n", "has no column 'b'; did you mean 'bb'"),
        (b"a,b\n1,\xff\n", "cannot be read: .*; save it as CSV in UTF-8"),
    ],
)
def test_faults(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read_numbers(written(tmp_path, text), ["b"])


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        column_names(tmp_path / "none.csv")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        column_names(tmp_path)
