"""Files of measurements: what is read, how it is written, and what is said of those that are not right."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from edhie.errors import DataError
from edhie.evaluate.tables import open_table
from edhie.evaluate.tables import text as text_tables


def written(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_are_chosen_by_name_and_others_may_hold_anything(tmp_path: Path) -> None:
    path = written(tmp_path, '\ufeffa, site ,"b"\r\n1,lab,-2e3\r\n\r\n  , , \r\n 3.5 ,"x,y",nan\r\n')
    assert open_table(path).names == ("a", "site", "b")
    assert open_table(path).numbers(["a"]).tolist() == [[1.0], [3.5]]
    assert open_table(path).numbers([]).shape == (2, 0)
    assert list(open_table(path).texts()) == [["1", "lab", "-2e3"], [" 3.5 ", "x,y", "nan"]]


def test_rows_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).normal(size=(25, 2))
    path = written(tmp_path, "a,b\n" + "".join(f"{a},{b}\n" for a, b in table.tolist()))
    for chunk in (1, 10, 25, 100):
        monkeypatch.setattr(text_tables, "CHUNK", chunk)
        np.testing.assert_array_equal(open_table(path).numbers(["b", "a"]), table[:, ::-1])
    written(tmp_path, path.read_bytes() + b"1,inf\n")
    monkeypatch.setattr(text_tables, "CHUNK", 10)
    with pytest.raises(DataError, match=r"t.csv, line 27 holds a number that is not finite: inf in column 'b'; drop"):
        open_table(path).numbers(["a", "b"])


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_quotes_in_parts(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_tables, "CHUNK", chunk)
    path = written(tmp_path, 'a,"the\nnote"\n1,x\n2,"two\nlines"\n3,y\n"4",z\n')
    assert open_table(path).numbers(["a"]).ravel().tolist() == [1, 2, 3, 4]
    assert [row[0] for row in open_table(path).texts()] == ["1", "2", "3", "4"]
    written(tmp_path, path.read_bytes() + b"five,w\n")
    with pytest.raises(DataError, match="line 8: 'five' is not a number"):
        open_table(path).numbers(["a"])


def test_numbers_are_python_s_to_the_last_bit(tmp_path: Path) -> None:
    texts = ["0.1", "1e-320", "123456789012345678901234567890", "2.2250738585072011e-308", "+.5", "7.", "-0", "1_000"]
    path = written(tmp_path, "a\n" + "\n".join(texts) + "\n")
    assert open_table(path).numbers(["a"]).ravel().tolist() == [float(text) for text in texts]


def test_a_table_without_rows(tmp_path: Path) -> None:
    assert open_table(written(tmp_path, "a,b\n")).numbers(["a", "b"]).shape == (0, 2)


def test_gaps(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n1,\n2,nan\n3,inf\n4,5\n")
    read = open_table(path).numbers(["a", "b"], with_gaps=True)
    np.testing.assert_array_equal(read, [[1, np.nan], [2, np.nan], [3, np.nan], [4, 5]])
    written(tmp_path, "a,b\n1,x\n")
    with pytest.raises(DataError, match="'x' is not a number"):
        open_table(path).numbers(["b"], with_gaps=True)


# -- how it is written ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "notes"),
    [
        ("a,b\n1.5,2\n", "t.csv", ()),
        ("a;b\n1.5;2\n", "t.csv", ("has semicolons between columns",)),
        ("a\tb\n1.5\t2\n", "t.csv", ("has tabs between columns",)),
        ("a\tb\n1.5\t2\n", "t.tsv", ()),
        ("a\tb\n1.5\t2\n", "t.TAB", ()),
        ("a;b\n1,5;2\n", "t.csv", ("has semicolons between columns", "has decimal commas")),
        ("a\tb\n1,5\t2\n", "t.tsv", ("has decimal commas",)),
        ('"a, or so";b\n1.5;2\n', "t.csv", ("has semicolons between columns",)),
        ("\ufeffa,b\n1.5,2\n", "t.csv", ()),
        ("a,b\r1.5,2\r", "t.csv", ()),
    ],
)
def test_formats(text: str, name: str, notes: tuple[str, ...], tmp_path: Path) -> None:
    table = open_table(written(tmp_path, text, name))
    assert table.notes == notes
    assert table.names[-1] == "b"
    assert table.numbers(table.names).tolist() == [[1.5, 2.0]]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(encoding: str, tmp_path: Path) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    table = open_table(written(tmp_path, f"{mark}é\tb\r\n1.5\t2\r\n".encode(encoding)))
    assert table.notes == ("is in UTF-16", "has tabs between columns")
    assert (table.names, table.numbers(["é"]).tolist()) == (("é", "b"), [[1.5]])


# -- Parquet --------------------------------------------------------------------------


def test_parquet(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame({"a": [1, 2, None], "b": [1.5, 2.5, np.inf], "on": [True, False, True], "s": list("xyz")})
    frame = frame.astype({"a": "Int64"})
    for name in ("t.parquet", "t.pq", "t.data"):  # by its name, or by its first bytes
        frame.to_parquet(tmp_path / name)
        table = open_table(tmp_path / name)
        assert (table.names, table.notes) == (("a", "b", "on", "s"), ())
        assert table.numbers(["on"]).ravel().tolist() == [1, 0, 1]
        np.testing.assert_array_equal(table.numbers(["b", "a"], with_gaps=True), [[1.5, 1], [2.5, 2], [np.nan, np.nan]])
    assert list(table.texts())[1:] == [["2", "2.5", "False", "y"], ["", "inf", "True", "z"]]
    for column, message in (
        ("a", "column 'a' is empty in row 2"),
        ("b", "column 'b' is inf in row 2"),
        ("s", "column 's' holds the text 'x' in row 0"),
        ("c", "has no column 'c'; it has a, b, on, s"),
    ):
        with pytest.raises(DataError, match=message):
            table.numbers([column])


def test_parquet_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read as Parquet: "):
        open_table(written(tmp_path, "a,b\n1,2\n", "t.parquet"))


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    told = "t.parquet: reading Parquet needs pyarrow; install it with: pip install pyarrow, or save the table as CSV"
    with pytest.raises(DataError, match=told):
        open_table(written(tmp_path, b"PAR1", "t.parquet"))


# -- what is not right ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv is empty; write a row of names"),
        ("\n , \n", "t.csv is empty"),
        ("1,2.5\n3,4\n", r"the first row must name each column, and it holds only numbers \(1, 2.5\); write names"),
        ("a,,b\n1,2,3\n", "and column 2 has no name; write one, or remove the column"),
        ("a,b,a\n1,2,3\n", "must name each column differently, and 'a' is there 2 times; rename all but one"),
        ("a,b\n1,2\n1\n", "line 3 has 1 columns, the first 2; make them alike"),
        ("a,b\n1,5,2,5\n", "line 2 has 4 columns, the first 2; make them alike, and where commas stand in numbers"),
        ("a,b\n1,2\n\n1,two\n", "line 4: 'two' is not a number; choose other columns, or turn column 'b' into numbers"),
        ("a,b\n1,\n", "line 2: column 'b' is empty; drop such rows or fill them"),
        ("a,b\n1,NaN\n", "line 2 holds a number that is not finite: NaN in column 'b'; drop such rows or fill them"),
        ("a|b\n1|2\n", r"has no column 'b'; it has a\|b; separate columns by commas"),
        ("a b\n1 2\n", "has no column 'b'; it has a b; separate columns by commas"),
        ("a,bb\n1,2\n", "has no column 'b'; did you mean 'bb'"),
        (b"a,b\n1,\xff\n", "cannot be read: .*; save it as CSV in UTF-8"),
        (b"a,b\n" + 5000 * b"1,2\n" + b"1,\xff\n", "cannot be read: .*; save it as CSV in UTF-8"),
        (b"\xff\xfea", "cannot be read: .*; save it as CSV in UTF-8"),
        (b"\x7fELF\x00\x01", "is no text: it holds bytes that no text has; give CSV, TSV or Parquet"),
        (b"\x1f\x8b\x08", "is no text but compressed; unpack it first"),
    ],
)
def test_faults(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        open_table(written(tmp_path, text)).numbers(["b"])


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        open_table(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder; give a file of measurements"):
        open_table(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is no ordinary file; save what comes from it as one"):
        open_table(tmp_path / "pipe")


def test_many_rows_take_no_time(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(1000, 5))
    path = written(tmp_path, "a,b,c,d,e\n" + 100 * "".join(f"{','.join(map(repr, row))}\n" for row in rows.tolist()))
    since = time.perf_counter()
    read = open_table(path).numbers(["a", "b", "c", "d", "e"])
    assert time.perf_counter() - since < 3  # 0.2 s on a free machine
    np.testing.assert_array_equal(read, np.tile(rows, (100, 1)))


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("# measured in May\n# by hand\n\na,y\n1,2\n3,4\n", ("begins with remarks",)),
        ("# measured in May\n# a,y\n1,2\n3,4\n", ("begins with remarks",)),  # as NumPy writes names
        ("# a,y\n1,2\n3,4\n", ()),
        ("#a;y\n1,0;2,0\n3;4\n", ("has semicolons between columns", "has decimal commas")),
        ("\n\na,y\n1,2\n3,4\n", ()),
    ],
)
def test_remarks_stand_before_the_names(text: str, notes: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(text)
    table = open_table(tmp_path / "data.csv")
    assert table.names == ("a", "y")
    assert table.notes == notes
    assert table.numbers(("a", "y")).tolist() == [[1, 2], [3, 4]]


def test_a_fault_below_remarks_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("# one\n# two\na,y\n1,2\n3,x\n")
    with pytest.raises(DataError, match="line 5: 'x' is not a number"):
        open_table(tmp_path / "data.csv").numbers(("a", "y"))
