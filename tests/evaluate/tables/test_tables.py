"""Files of measurements: what is read, how it is written, and what is said of those that are not right."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from edhie.errors import DataError
from edhie.evaluate.tables import open_table
from edhie.evaluate.tables import rows as row_tables


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
        monkeypatch.setattr(row_tables, "CHUNK", chunk)
        np.testing.assert_array_equal(open_table(path).numbers(["b", "a"]), table[:, ::-1])
    written(tmp_path, path.read_bytes() + b"1,inf\n")
    monkeypatch.setattr(row_tables, "CHUNK", 10)
    with pytest.raises(DataError, match=r"t.csv, line 27 holds a number that is not finite: inf in column 'b'; fill"):
        open_table(path).numbers(["a", "b"])


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_quotes_in_parts(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_tables, "CHUNK", chunk)
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
        assert table.cells["b"] == "B2"  # it is no sheet: where it would be with a row of names
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


# -- Excel, JSON lines, compressed files, standard input ------------------------------


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in ([None], ["t", "y", "site", "on"], [1, 0.25, "lab", datetime(2024, 1, 5)], [2, None, "field", None]):
        book.active.append(row)
    book.create_sheet("notes")
    book.save(tmp_path / "t.xlsx")
    table = open_table(tmp_path / "t.xlsx")
    assert table.names == ("t", "y", "site", "on")
    assert table.cells == {"t": "A3", "y": "B3", "site": "C3", "on": "D3"}
    assert table.without_text(table.names) == ("t", "y")
    assert table.numbers(["y", "t"], drop_missing=True).tolist() == [[0.25, 1.0]]
    assert table.notes == (
        "has 2 sheets, of which the first, 'Sheet', is read",
        "has columns of text or dates, which are left out: 'site', 'on'",
        "has 1 row with a missing value, which is left out",
    )
    assert table.written_step("y") is None
    with pytest.raises(DataError, match="column 'y' is empty in row 1"):
        table.numbers(["y"])
    with pytest.raises(DataError, match="column 'site' holds the text 'lab' in row 0"):
        table.numbers(["site"])


def test_excel_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    with pytest.raises(DataError, match=r"t.xlsx cannot be read as an Excel file: .*; save it as CSV"):
        open_table(written(tmp_path, b"PK\x03\x04 and no more", "t.xlsx"))


def test_excel_without_openpyxl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    told = (
        r"t.xlsx: reading Excel files needs openpyxl; install it with: pip install 'edhie\[excel\]', or save the table"
    )
    with pytest.raises(DataError, match=told):
        open_table(written(tmp_path, b"PK\x03\x04", "t.xlsx"))


JSON_LINES = (
    '{"t": 1, "y": 1.50, "site": "lab"}\n\n{"y": 2.25, "t": null, "site": "x"}\n{"t": 3e2, "y": 4, "on": true}\n'
)


def test_json_lines(tmp_path: Path) -> None:
    for name in ("t.jsonl", "t.ndjson", "t.data"):
        table = open_table(written(tmp_path, JSON_LINES.replace("on", "site"), name))
        assert table.names == ("t", "y", "site")
        assert table.cells["t"] == "A2"
        assert table.numbers(["y"]).ravel().tolist() == [1.5, 2.25, 4.0]
        assert table.numbers(["t", "y"], drop_missing=True).tolist() == [[1.0, 1.5], [300.0, 4.0]]
        assert table.written_step("y") == 0.01  # as it is written, not as it is held
        assert table.without_text(table.names) == ("t", "y")
    assert list(table.texts())[1] == ["", "2.25", "x"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (JSON_LINES, "line 4 has 'on', which the first line has not"),
        ('{"t": 1}\n{"t": 2\n', "line 2 is no JSON: "),
        ('{"t": 1}\n[2]\n', r"line 2: '\[2\]' is no JSON object"),
        ('{"t": 1}\n{"t": null}\n', "line 2: column 't' is empty; fill in a number"),
        ('{"t": "1,674"}\n', r"column 't': '1,674' can mean 1674 .* or 1\.674"),
        ("{}\n", "is empty; write a row of names"),
    ],
)
def test_faults_of_json_lines(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        open_table(written(tmp_path, text, "t.jsonl")).numbers(["t"])


@pytest.mark.parametrize("name", ["t.csv.gz", "t.npy.gz"])
def test_a_damaged_archive(name: str, tmp_path: Path) -> None:
    content = gzip.compress(b"a,b\n1,2\n")
    for damaged in (content[:10] + b"\xff" * 8 + content[18:], content[:14]):
        with pytest.raises(DataError, match="cannot be read"):
            open_table(written(tmp_path, damaged, name))


def test_json_that_is_nested_too_deeply(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 1 is no JSON: .*recursion"):
        open_table(written(tmp_path, '{"x": ' + "[" * 100_000, "t.jsonl"))


def test_an_exponent_of_thousands_of_digits(tmp_path: Path) -> None:
    table = open_table(written(tmp_path, f"a,b\n1.5e-{'1' * 5000},2\n1.25,3\n"))
    assert table.written_step("a") == 0.01


def test_a_cell_that_is_too_long(tmp_path: Path) -> None:
    for text in (f"a,b\n1,{'2' * 200_000}\n", f"a,{'b' * 200_000}\n1,2\n"):
        with pytest.raises(DataError, match="field larger than field limit"):
            open_table(written(tmp_path, text))


@pytest.mark.parametrize(("name", "text"), [("t.csv.gz", "a,b\n1.50,2\n"), ("t.TSV.GZ", "a\tb\n1.50\t2\n")])
def test_compressed_files(name: str, text: str, tmp_path: Path) -> None:
    table = open_table(written(tmp_path, gzip.compress(text.encode()), name))
    assert (table.names, table.notes) == (("a", "b"), ())
    assert table.numbers(["b", "a"]).tolist() == [[2.0, 1.5]]
    assert table.written_step("a") == 0.01
    rows = gzip.compress(b"a\n" + b"".join(b"%d\n" % (k * k) for k in range(20_000)))
    with pytest.raises(DataError, match="cannot be read: Compressed file ended"):
        open_table(written(tmp_path, rows[: len(rows) // 2])).numbers(["a"])


@pytest.mark.parametrize("is_compressed", [False, True])
def test_standard_input(is_compressed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"a;b\n1,5;2\n3,0;x\n"
    given = io.BytesIO(gzip.compress(content) if is_compressed else content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
    table = open_table(Path("-"))
    assert table.numbers(["a"]).ravel().tolist() == [1.5, 3.0]
    assert table.written_step("a") == 0.1
    with pytest.raises(DataError, match="standard input, line 3: 'x' is not a number"):
        table.numbers(["b"])


# -- missing values, and columns of text ----------------------------------------------


@pytest.mark.parametrize("missing", [[-999], ["-999"], [-999.0, "?"]])
def test_missing_values(missing: list[float | str], tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n1,2\n-999,3\n4,-999.00\n5,NA\n6,\n7,8.5\n")
    table = open_table(path, missing=missing)
    assert table.numbers(["a", "b"], drop_missing=True).tolist() == [[1, 2], [7, 8.5]]
    assert table.notes == ("has 4 rows with missing values, which are left out",)
    assert np.isnan(table.numbers(["b"], with_gaps=True)).sum() == 3
    assert table.written_step("b") == 0.1  # of 8.5; the marker is no measurement
    with pytest.raises(DataError, match=r"line 4: column 'b' has no value \(-999.00\); fill in a number, or leave"):
        table.numbers(["b"])
    assert open_table(path).numbers(["a"])[1] == -999  # where nobody says that it stands for nothing


def test_a_marker_with_decimal_commas(tmp_path: Path) -> None:
    table = open_table(written(tmp_path, "a;b\n1,5;2\n-99,9;3\n"), missing=[-99.9])
    assert table.numbers(["a", "b"], drop_missing=True).tolist() == [[1.5, 2.0]]


def test_columns_of_text_and_dates_are_told_apart(tmp_path: Path) -> None:
    text = "day,a,site,b,c,gone\n2024-01-05,1,lab,NA,x,\n2024-01-06,2,NA,1,2,\n2024-01-07,3,lab,2,3,\n"
    table = open_table(written(tmp_path, text))
    assert table.without_text(table.names) == ("a", "b", "c", "gone")
    assert table.notes == ("has columns of text or dates, which are left out: 'day', 'site'",)
    with pytest.raises(DataError, match="line 2: 'x' is not a number"):  # one such cell is a mistake, not a column
        table.numbers(["c"])


def test_thousands_are_never_taken_for_decimals(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 2, column 'b': '1,674' can mean 1674 .* or 1.674"):
        open_table(written(tmp_path, "a;b\n587;1,674\n")).numbers(["a", "b"])


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
        ("a,b\n1,\n", "line 2: column 'b' is empty; fill in a number, or leave such rows out with --drop-missing"),
        ("a,b\n1,NaN\n", "line 2 holds a number that is not finite: NaN in column 'b'; fill in a number"),
        ("a|b\n1|2\n", r"has no column 'b'; it has a\|b; separate columns by commas"),
        ("a b\n1 2\n", "has no column 'b'; it has a b; separate columns by commas"),
        ("a,bb\n1,2\n", "has no column 'b'; did you mean 'bb'"),
        (b"a,b\n1,\xff\n", "line 2: 'ÿ' is not a number"),
        (b"a,b\n1,\x81\n", "cannot be read: .*; save it as CSV in UTF-8"),
        (b"a,b\n" + 5000 * b"1,2\n" + b"1,\x81\n", "cannot be read: .*; save it as CSV in UTF-8"),
        (b"\xff\xfea", "cannot be read: .*; save it as CSV in UTF-8"),
        (b"\x7fELF\x00\x01", "is no text: it holds bytes that no text has; give CSV, TSV, Excel or Parquet"),
        (b"\x1f\x8b\x08", "cannot be read: Compressed file ended"),
        (b"\xd0\xcf\x11\xe0", "is no text but an old spreadsheet; save it as .xlsx or CSV"),
        ("a,b\n1,NA\n", r"line 2: column 'b' has no value \(NA\); fill in a number"),
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
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("a,b\n1,2\n",))
    writer.start()
    table = open_table(tmp_path / "pipe")
    writer.join()
    assert table.numbers(["b"]).tolist() == table.numbers(["b"]).tolist() == [[2.0]]


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
        ("Probe 7\nin May\n\na,y\n1,2\n3,4\n", ("begins with remarks",)),
        (
            "Probe 7, May;\na;y\n1,0;2,0\n3;4\n",
            ("has semicolons between columns", "begins with remarks", "has decimal commas"),
        ),
    ],
)
def test_remarks_stand_before_the_names(text: str, notes: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(text)
    table = open_table(tmp_path / "data.csv")
    assert table.names == ("a", "y")
    assert table.notes == notes
    assert table.numbers(("a", "y")).tolist() == [[1, 2], [3, 4]]


def test_a_first_line_with_one_cell_is_a_title_only_above_names(tmp_path: Path) -> None:
    for text, names in {
        "a\n1\n2\n": ("a",),
        '"a\nb",y\n1,2\n': ("a\nb", "y"),  # a name with a line break
        "1\na,y\n1,2\n": None,
    }.items():
        (tmp_path / "data.csv").write_text(text)
        if names is None:
            with pytest.raises(DataError):
                open_table(tmp_path / "data.csv")
        else:
            assert open_table(tmp_path / "data.csv").names == names


def test_titles_of_excel_stand_before_the_names(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Kinetics"], [], [None, "a", "y"], [None, 1, 2], [None, 3, "x"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    table = open_table(tmp_path / "t.xlsx")
    assert table.names == ("a", "y")
    assert table.notes == ("begins with remarks",)
    assert table.numbers(["a"]).tolist() == [[1], [3]]
    assert (table.positions, table.line_of(0)) == ((1, 2), 4)  # B4 and C4


def test_text_as_excel_writes_it_in_germany(tmp_path: Path) -> None:
    text = "Zeit [µs];Größe\r\n" + 5000 * "0,5;1,5\r\n" + "1;2\r\n"
    (tmp_path / "t.csv").write_bytes(text.encode("cp1252"))
    table = open_table(tmp_path / "t.csv")
    assert table.names == ("Zeit [µs]", "Größe")
    assert table.numbers(["Größe"])[-1] == 2
    assert "is not in UTF-8 and was read as Windows-1252" in table.notes
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert not any("Windows" in note for note in open_table(tmp_path / "t.csv").notes)


def test_a_fault_below_remarks_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("# one\n# two\na,y\n1,2\n3,x\n")
    with pytest.raises(DataError, match="line 5: 'x' is not a number"):
        open_table(tmp_path / "data.csv").numbers(("a", "y"))
