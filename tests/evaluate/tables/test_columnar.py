"""Parquet and NumPy files, read in batches of rows."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from edhie.errors import DataError
from edhie.evaluate.tables import columnar, open_table

TABLE = np.arange(60.0).reshape(20, 3) / 7


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "BATCH", 6)


def every_format(folder: Path, table: np.ndarray) -> list[Path]:
    """Write a table with the columns a, b and c in every format that is read in batches."""
    import pandas

    named = dict(zip("abc", table.T, strict=True))
    pandas.DataFrame(named).to_parquet(folder / "t.parquet", row_group_size=8)
    np.savez(folder / "t.npz", **named)
    np.savez_compressed(folder / "packed.npz", **named)
    np.save(folder / "rows.npy", table)
    np.save(folder / "columns.npy", np.asfortranarray(table))
    for name in ("rows", "columns"):
        (folder / f"{name}.names.txt").write_text("a\nb\n\nc\n")
    records = np.rec.fromarrays(table.T, names="a,b,c")
    np.save(folder / "records.npy", np.asarray(records))
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(records))
    (folder / "z.npy.gz").write_bytes(gzip.compress(buffer.getvalue()))
    return sorted(each for each in folder.iterdir() if each.suffix != ".txt")


def test_batches_are_the_table(tmp_path: Path) -> None:
    paths = every_format(tmp_path, TABLE)
    assert len(paths) == 7
    for path in paths:
        table = open_table(path)
        assert (table.names, table.n_rows, table.notes) == (("a", "b", "c"), 20, ())
        parts = list(table.batches(["c", "a"]))
        assert [len(part) for part in parts] == [6, 6, 6, 2]
        np.testing.assert_array_equal(np.concatenate(parts), TABLE[:, [2, 0]])
        np.testing.assert_array_equal(table.numbers(["b"]), TABLE[:, [1]])
        assert list(table.texts()) == [[str(value) for value in row] for row in TABLE]
        assert table.without_text(table.names) == table.names


def test_missing_values_are_counted_over_all_batches(tmp_path: Path) -> None:
    damaged = TABLE.copy()
    damaged[[7, 9, 19], 1] = np.nan
    damaged[8, 2] = np.inf
    for path in every_format(tmp_path, damaged):
        table = open_table(path)
        with pytest.raises(DataError, match=r"'b' is empty in row 7 \(counted from 0\), the first of 3 such rows"):
            table.numbers(["a", "b"])
        with pytest.raises(DataError, match=r"'c' is inf in row 8 \(counted from 0\), no other"):
            list(table.batches(["c"]))
        np.testing.assert_array_equal(
            table.numbers(["a", "b"], drop_missing=True), np.delete(TABLE, [7, 9, 19], 0)[:, :2]
        )
        assert table.notes == ("has 3 rows with missing values, which are left out",)


def test_the_index_of_pandas_is_no_column(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame({"a": [1, 2, None], "b": [1.5, 2.5, 3.5]}).astype({"a": "Int64"})
    frame.set_index(pandas.Index([5, 6, 7], name="site")).to_parquet(tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet")
    assert table.names == ("a", "b")
    assert list(table.texts()) == [["1", "1.5"], ["2", "2.5"], ["", "3.5"]]


def test_arrays_without_names_and_of_one_column_too_few(tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    np.save(path, TABLE.astype(np.float32))
    assert open_table(path).names == ("x0", "x1", "x2")
    np.testing.assert_array_equal(open_table(path).numbers(["x1"])[:, 0], TABLE[:, 1].astype(np.float32))
    (tmp_path / "t.names.txt").write_text("a\nb\n")
    with pytest.raises(DataError, match=r"t.npy has 3 columns and .*t.names.txt 2 names; write one name per line"):
        open_table(path)
    np.save(path, TABLE[:, 0])
    with pytest.raises(DataError, match=r"has 1 dimensions, shape \(20,\); give an array of rows × columns"):
        open_table(path)


def test_the_header_of_an_array_that_is_no_python(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.ones((4, 3)))
    content = (tmp_path / "t.npy").read_bytes()
    for damaged in (b"((4, 3", b"(4$ 3)", b"(4 L3)"):
        (tmp_path / "t.npy").write_bytes(content.replace(b"(4, 3)", damaged))
        with pytest.raises(DataError, match="cannot be read as an array of NumPy"):
            open_table(tmp_path / "t.npy")


def test_an_archive_that_is_compressed_in_an_unknown_way(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", a=np.ones(4), b=np.ones(4))
    content = bytearray((tmp_path / "t.npz").read_bytes())
    at = content.index(b"PK\x01\x02") + 10  # of the first entry in the list of contents
    content[at : at + 2] = b"\x63\x00"
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as an archive of NumPy"):
        open_table(tmp_path / "t.npz")


def test_damaged_files_and_objects_are_refused(tmp_path: Path) -> None:
    for path in every_format(tmp_path, TABLE):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) * 2 // 3])
        with pytest.raises(DataError, match=f"{path.name} cannot be read"):
            list(open_table(path).batches(["a"]))
    np.save(tmp_path / "objects.npy", np.array([[{}, 1], [2, 3]], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read as an array of NumPy: "):
        open_table(tmp_path / "objects.npy")
    np.savez(tmp_path / "objects.npz", a=np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="it holds Python objects and no numbers"):
        open_table(tmp_path / "objects.npz")
    np.savez(tmp_path / "wide.npz", a=TABLE, b=TABLE[:, 0])
    with pytest.raises(DataError, match=r"'a' has shape \(20, 3\); give one array of one dimension for a column"):
        open_table(tmp_path / "wide.npz")
    np.savez(tmp_path / "uneven.npz", a=TABLE[:, 0], b=TABLE[1:, 0])
    with pytest.raises(DataError, match="'a' has 20 rows and 'b' has 19; columns must be equally long"):
        open_table(tmp_path / "uneven.npz")
