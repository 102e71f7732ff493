"""Tables that users bring: summaries, problems with remedies that help, and files that cannot be read."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from edhie.studio.answers.tables import scatter, summary
from edhie.studio.question import Refused
from edhie.studio.uploads import Limits
from serving import Client, serving

LIMITS = {"rows": 1000, "columns": 100}


def told(folder: Path, content: bytes, name: str = "mine.csv", **options: Any) -> dict[str, Any]:
    """The summary of a file; a remedy is applied by its options."""
    path = folder / f"table{Path(name).suffix}"
    path.write_bytes(content)
    return summary(str(path), name, options, **LIMITS)


def column(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in found["columns"] if each["name"] == name)


def test_columns_of_every_kind(tmp_path: Path) -> None:
    found = told(tmp_path, b"t,place,void,one,y\n1,a,,5,2.5\n2,b,,5,3.5\n4,a,,5,9.5\n")
    assert [each["kind"] for each in found["columns"]] == ["number", "text", "empty", "number", "number"]
    assert [each["is_constant"] for each in found["columns"]] == [False, False, False, True, False]
    t = column(found, "t")
    assert (t["min"], t["max"], t["mean"], t["distinct"]) == (1, 4, pytest.approx(7 / 3), 3)
    assert sum(t["histogram"]["counts"]) == 3
    assert len(t["histogram"]["edges"]) == len(t["histogram"]["counts"]) + 1
    assert found["suggested"] == {"target": "y", "features": ["t"], "sigma": None}
    assert (found["rows"], found["preview"][1]) == (3, ["2", "b", "", "5", "3.5"])


def test_standard_errors_are_recognised(tmp_path: Path) -> None:
    found = told(tmp_path, b"x,y,y_err\n1,2,0.1\n2,3,0.2\n3,5,0.1\n")
    assert found["suggested"] == {"target": "y", "features": ["x"], "sigma": "y_err"}


def test_missing_values_are_left_out_by_the_remedy(tmp_path: Path) -> None:
    content = b"x,y\n1,2\n,3\n3,n/a\n4,5\n"
    found = told(tmp_path, content)
    assert [(each["column"], each["row"]) for each in found["problems"]] == [("x", 3), ("y", 4)]
    assert (column(found, "x")["n_missing"], column(found, "x")["n_other"]) == (1, 0)
    remedy = found["problems"][0]["remedies"][0]
    assert not told(tmp_path, content, **remedy["options"])["problems"]


def test_rows_with_gaps_are_counted_by_the_columns_that_lack_a_number(tmp_path: Path) -> None:
    content = b"a,b,y\n1,,1\n,2,2\n3,3,3\n,4,4\n,,5\n6,6,inf\n"
    assert told(tmp_path, content)["gaps"] == []  # nothing is left out
    found = told(tmp_path, content, drop_missing=True)
    rows = {tuple(each["columns"]): each["rows"] for each in found["gaps"]}
    assert (found["rows"], rows) == (6, {("a",): 2, ("b",): 1, ("a", "b"): 1, ("y",): 1})
    wide = "\n".join([",".join(f"x{k}" for k in range(80)), ",".join("1" * 80), "1" + "," * 79, ",".join("2" * 80)])
    assert told(tmp_path, wide.encode(), drop_missing=True)["gaps"] is None


def test_a_row_of_units_is_left_out_by_one_remedy(tmp_path: Path) -> None:
    content = "Kinetik, Probe 7;;\nSubstrat [µM];Temperatur;Rate\nµM;°C;nmol/min\n0,5;20;1,5\n1;20;2\n2;25;n.b.\n"
    found = told(tmp_path, content.encode("cp1252"))
    assert [each["name"] for each in found["columns"]] == ["Substrat [µM]", "Temperatur", "Rate"]
    units, other = found["problems"]
    assert (units["row"], units["message"]) == (3, "Row 3 holds no numbers but words, such as units: µM, °C, nmol/min.")
    assert other["column"] == "Rate"
    (last,) = told(tmp_path, content.encode("cp1252"), **units["remedies"][0]["options"])["problems"]
    assert "n.b." in last["message"]


def test_rows_are_counted_as_in_the_file(tmp_path: Path) -> None:
    (problem,) = told(tmp_path, b"# a remark\n\nx,y\n1,2\n\n,3\n4,5\n")["problems"]
    assert problem["row"] == 6
    (problem,) = told(tmp_path, b"1,2\n,3\n4,5\n")["problems"]
    assert problem["row"] == 2


def test_cells_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    content = b"x,y\n1,2\n?,3\n3,4\n?,5\n<b>,6\n7,8\n9,1\n"
    (problem,) = told(tmp_path, content)["problems"]
    assert (problem["column"], problem["row"], problem["cell"]) == ("x", 3, "?")
    assert "“?” in row 3" in problem["message"]
    assert "2 more cells" in problem["message"]
    found = told(tmp_path, content, **problem["remedies"][0]["options"])
    assert not found["problems"]
    assert column(found, "x")["n_missing"] == 3


def test_a_remedy_for_cells_with_line_ends(tmp_path: Path) -> None:
    content = b'x,y\n1,2\n"no\nvalue, yet",3\n3,4\n5,5\n'
    (problem,) = told(tmp_path, content)["problems"]
    assert not told(tmp_path, content, **problem["remedies"][0]["options"])["problems"]
    with pytest.raises(Refused, match="no list"):
        told(tmp_path, content, missing="a\nb")


def test_decimal_commas(tmp_path: Path) -> None:
    found = told(tmp_path, b"x;y\n1,5;2\n2,5;3\n")
    assert column(found, "x")["max"] == 2.5
    assert any("decimal commas" in note for note in found["notes"])
    content = b'x,y\n"1,674",1\n"2,500",2\n'
    (problem,) = told(tmp_path, content)["problems"]
    assert "decimal comma" in problem["message"]
    assert "--" not in problem["message"]
    highs = [column(told(tmp_path, content, **each["options"]), "x")["max"] for each in problem["remedies"]]
    assert highs == [2.5, 2500.0]


@pytest.mark.parametrize(
    ("content", "header", "names"),
    [
        (b"1,2\n3,4\n5,6\n", "no", ["x1", "x2"]),
        (b",a,a\n0,1,2\n1,3,4\n", "mend", ["column_1", "a", "a_2"]),
        (b"a,b\n1,2\n3,4\n", None, ["a", "b"]),
    ],
)
def test_names_that_are_missing(tmp_path: Path, content: bytes, header: str | None, names: list[str]) -> None:
    found = told(tmp_path, content)
    assert [each["name"] for each in found["columns"]] == names
    assert found["options"].get("header") == header
    assert found["rows"] == (3 if header == "no" else 2)
    again = told(tmp_path, content, **found["options"])
    assert again["columns"] == found["columns"]


def test_files_of_other_formats(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"x": [1.0, 2.0, 4.0], "place": ["a", "b", "c"], "y": [2.0, np.nan, 8.0]})
    parquet, excel = io.BytesIO(), io.BytesIO()
    frame.to_parquet(parquet)
    frame.to_excel(excel, index=False)
    files = {"t.parquet": parquet.getvalue(), "t.xlsx": excel.getvalue(), "t.tsv": frame.to_csv(sep="\t").encode()}
    for name, content in files.items():
        found = told(tmp_path, content, name)
        assert (column(found, "x")["max"], column(found, "place")["kind"]) == (4, "text"), name
        assert column(found, "y")["n_missing"] == 1


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, "picture.csv", "picture.csv is no text"),
        (b"\n\n  \n", "blank.csv", "blank.csv is empty"),
        (b"x,y\n", "names.csv", "has names and no rows"),
        (b"x,y\n1,2\n1,2,3\n", "ragged.csv", "ragged.csv, line 3 has 3 columns"),
        (b"PK\x03\x04 not really", "sheet.xlsx", "cannot be read as an Excel file"),
        (b"PAR1 not really", "t.parquet", "cannot be read as Parquet"),
        (gzip.compress(b"x,y\n" + b"0,0\n" * 3_000_000), "bomb.csv.gz", "more rows than the 1,000"),
        (b"a," * 4999 + b"z\n", "wide.csv", "has 5,000 columns, and the studio reads at most 100"),
        (b"x,y\n" + b"1,2\n" * 1001, "long.csv", "has 1,001 rows, and the studio reads at most 1,000"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, content: bytes, name: str, message: str) -> None:
    with pytest.raises(Refused, match=message) as refused:
        told(tmp_path, content, name)
    assert str(tmp_path) not in str(refused.value)


def test_a_scatter_has_the_same_rows_each_time(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = np.random.default_rng(0).normal(size=(4000, 2))
    np.savetxt(path, rows, delimiter=",", header="x,y", comments="")
    one, other = (scatter(str(path), "t.csv", {}, "x", "y") for _ in range(2))
    assert one == other
    assert len(one["x"]) == 1500
    assert set(one["x"]) <= set(rows[:, 0])
    assert scatter(str(path), "t.csv", {}, "x", "x")["x"] == scatter(str(path), "t.csv", {}, "x", "x")["y"]


def test_uploads_are_limited_while_they_come(tmp_path: Path) -> None:
    with serving(tmp_path, limits=Limits(bytes=1000, rows=10, columns=3)) as client:
        assert "larger than" in client.upload(b"x" * 1001, status=413)["error"]

        def endless() -> Any:
            for _ in range(100):
                yield b"1,2,3\n" * 10

        answer = client.post("/api/tables", content=endless())  # of unknown length
        assert (answer.status_code, "larger than" in answer.json()["error"]) == (413, True)
        assert "empty" in client.upload(b"", status=400)["error"]
        assert "at most 10" in client.upload(b"x,y\n" + b"1,2\n" * 11, status=413)["error"]
        assert "at most 3" in client.upload(b"a,b,c,d\n1,2,3,4\n", status=413)["error"]
        assert not any((tmp_path / ".tables").iterdir())
        found = client.upload(b"<script>,\xe2\x80\xaey\n1,2\n2,3\n", "%3Cimg%20src%3Dx%3E%E2%80%AE.csv")
        assert found["name"] == "<img src=x>\\u202e.csv"
        again = client.ask("GET", f"/api/tables/{found['id']}", params={"decimal": ".", "header": "mend"})
        assert again["options"] == {"decimal": ".", "header": "mend"}
        client.ask("GET", f"/api/tables/{found['id']}", 400, params={"decimal": "x"})
        assert client.ask("GET", f"/api/tables/{found['id']}/scatter", params={"x": "<script>", "y": "<script>"})


def test_examples(client: Client) -> None:
    for each in client.ask("GET", "/api/setup")["examples"]:
        found = client.ask("POST", "/api/tables/example", json={"id": each["id"]})
        assert found["suggested"]["target"] == each["target"]
        assert not found["problems"]
    client.ask("POST", "/api/tables/example", 404, json={"id": "../orbits"})
