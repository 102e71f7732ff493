"""Decimal marks and thousands separators: a number is read as it was meant, or refused, and never guessed."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from edhie.errors import DataError
from edhie.evaluate.tables import open_table
from edhie.evaluate.tables.decimals import Use, parse_number, uses_in


def written(folder: Path, *columns: list[str], separator: str = ";") -> Path:
    """A file of columns a, b, …; each cell in quotes if the separator is a comma."""
    quote = '"' if separator == "," else ""
    rows = [[f"{quote}{cell}{quote}" for cell in row] for row in zip(*columns, strict=True)]
    lines = [separator.join("abcdef"[: len(columns)]), *(separator.join(row) for row in rows)]
    path = folder / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read(path: Path, *, decimal: str | None = None) -> list[list[float]]:
    table = open_table(path, decimal=decimal)
    return table.numbers(table.names).T.tolist()


# -- single cells ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("1674", 1674.0, 1674.0),
        ("1.5", 1.5, None),
        ("1,5", None, 1.5),
        ("1,674", 1674.0, 1.674),
        ("1.674", 1.674, 1674.0),
        ("-1,674.5", -1674.5, None),
        ("+1.674,5", None, 1674.5),
        ("1,234,567", 1234567.0, None),
        ("1.234.567", None, 1234567.0),
        ("12,34,567", None, None),
        ("1234,567", None, 1234.567),
        ("1,67", None, 1.67),
        ("0,674", None, 0.674),
        ("1,674e3", None, 1674.0),
        ("1 674", 1674.0, 1674.0),
        ("1'674.25", 1674.25, None),
        ("1’674", 1674.0, 1674.0),  # noqa: RUF001
        ("1\u00a0674,25", None, 1674.25),
        ("1 674 231", 1674231.0, 1674231.0),
        ("1 674'231", None, None),
        ("1 67", None, None),
        ("1 6745", None, None),
        ("1674 231", None, None),
        ("1,674 231", None, None),
        (" 2.5e-3 ", 2.5e-3, None),
        (",5", None, 0.5),
        ("lab", None, None),
        ("", None, None),
        ("1,2,3", None, None),
    ],
)
def test_numbers_with_either_mark(text: str, point: float | None, comma: float | None) -> None:
    assert (parse_number(text, "."), parse_number(text, ",")) == (point, comma)


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("1674", []),
        ("lab", []),
        ("1,674", [Use.EITHER_COMMA]),
        ("-999.999", [Use.EITHER_POINT]),
        ("0,674", [Use.DECIMAL_COMMA]),
        ("1674,231", [Use.DECIMAL_COMMA]),
        ("1.5", [Use.DECIMAL_POINT]),
        ("1.234,5", [Use.DECIMAL_COMMA, Use.POINT_GROUPS]),
        ("1,234.567", [Use.DECIMAL_POINT, Use.COMMA_GROUPS]),
        ("1.234.567", [Use.POINT_GROUPS]),
        ("1 674", [Use.BLANK_GROUPS]),
        ("1 674,231", [Use.DECIMAL_COMMA, Use.BLANK_GROUPS]),
        ("1.2.2024", []),
    ],
)
def test_what_a_cell_shows(text: str, uses: list[Use]) -> None:
    assert list(uses_in(text)) == uses


# -- columns --------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [";", "\t", ","])
@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["587", "1,5", "1,674"], [587, 1.5, 1.674]),
        (["587", "1,674", "1,5"], [587, 1.674, 1.5]),
        (["1.234,5", "2.500", "3,25"], [1234.5, 2500, 3.25]),
        (["1,234.5", "2,500", "3.25"], [1234.5, 2500, 3.25]),
        (["1,234,567", "2,500", "3"], [1234567, 2500, 3]),
        (["1.234.567", "2.500", "3"], [1234567, 2500, 3]),
        (["587", "1 674", "12 674,5"], [587, 1674, 12674.5]),
        (["587", "1'674", "12'674.5"], [587, 1674, 12674.5]),
        (["0,674", "1,674"], [0.674, 1.674]),
        (["1.674", "2.331"], [1.674, 2.331]),
        (["-1.234,5", "", "1"], None),
    ],
)
def test_a_column_shows_what_its_marks_are(
    cells: list[str], numbers: list[float] | None, separator: str, tmp_path: Path
) -> None:
    path = written(tmp_path, cells, ["7"] * len(cells), separator=separator)
    if numbers is None:
        with pytest.raises(DataError, match="line 3: column 'a' is empty"):
            read(path)
        assert open_table(path).numbers(["a"], with_gaps=True).ravel()[[0, 2]].tolist() == [-1234.5, 1]
    else:
        assert read(path)[0] == numbers


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_what_can_be_read_in_two_ways_is_refused(separator: str, tmp_path: Path) -> None:
    path = written(tmp_path, ["587", "1,674", "-2,331"], ["1", "2", "3"], separator=separator)
    with pytest.raises(DataError) as told:
        read(path)
    ways = "'1,674' can mean 1674 (--decimal .) or 1.674 (--decimal ,)"
    assert str(told.value) == (
        f"{path}, line 3, column 'a': {ways}; pass the option that is right (in Python decimal=), "
        "or write 1674 or 1.674 in the file"
    )
    assert read(path, decimal=".")[0] == [587, 1674, -2331]
    assert read(path, decimal=",")[0] == [587, 1.674, -2.331]
    assert open_table(path).numbers(["b"]).ravel().tolist() == [1, 2, 3]  # other columns do not matter


def test_other_columns_show_that_commas_are_decimal_marks(tmp_path: Path) -> None:
    path = written(tmp_path, ["0,5", "1,0"], ["1,674", "2,331"])
    assert read(path) == [[0.5, 1.0], [1.674, 2.331]]
    assert open_table(path).numbers(["b"]).ravel().tolist() == [1.674, 2.331]


@pytest.mark.parametrize(
    ("first", "second", "cell"),
    [
        (["1.5", "2.25"], ["1,674", "2"], "1,674"),  # thousands, or the decimal mark of another program
        (["1,5", "2,25"], ["1.674", "2"], "1.674"),
        (["1", "2"], ["1,674", "1.674"], "1,674"),
        (["1", "2"], ["1.5", "1,674"], "1,674"),
        (["1", "2"], ["0,5", "1.674"], "1.674"),
    ],
)
def test_no_mark_is_guessed_from_the_other(first: list[str], second: list[str], cell: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"column 'b': '{cell}' can mean "):
        read(written(tmp_path, first, second))


def test_thousands_points_are_not_taken_for_decimals_beside_decimal_commas(tmp_path: Path) -> None:
    path = written(tmp_path, ["0,5", "1,5"], ["1.674", "2.331"])
    with pytest.raises(DataError, match=r"column 'b': '1\.674' can mean"):
        open_table(path).numbers(["b"])  # though column a is not asked for
    assert read(path, decimal=",") == [[0.5, 1.5], [1674, 2331]]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["1.5", "2,5"], "'2,5' in line 3 has a decimal comma and '1.5' in line 2 has a decimal point"),
        (["1,234,567", "2,5"], "'2,5' in line 3 has a decimal comma and '1,234,567' in line 2 has commas between"),
        (["1.234,5", "1,234.5"], "'1.234,5' in line 2 has a decimal comma and '1,234.5' in line 3 has a decimal point"),
        (["1.234.567", "2.5"], "'1.234.567' in line 2 has points between thousands and '2.5' in line 3 has a decimal"),
    ],
)
def test_contradictions_are_told_with_both_cells(cells: list[str], told: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"column 'a': {told}.*; write all numbers of the column alike"):
        read(written(tmp_path, cells, ["1", "2"]))


def test_a_given_mark_is_kept_to(tmp_path: Path) -> None:
    path = written(tmp_path, ["1,5", "2"], ["1", "2"])
    with pytest.raises(DataError, match=r"line 2: '1,5' is not a number with the decimal mark '\.'"):
        read(path, decimal=".")
    assert read(path, decimal=",") == [[1.5, 2.0], [1.0, 2.0]]


@pytest.mark.parametrize("seed", range(20))
def test_numbers_are_read_as_they_were_meant_or_refused(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    for decimal, group in ((".", ""), (".", ","), (".", " "), (".", "'"), (",", ""), (",", "."), (",", "\u202f")):
        decimals = int(rng.integers(0, 5))
        if (decimal, group, decimals) == (",", ".", 0):
            continue  # 1.674 is a decimal point where nothing else is known
        values = np.round(rng.choice([-1, 1], 4) * 10 ** rng.uniform(-2, 7, 4), decimals) + 0.0
        texts = [f"{value:,.{decimals}f}" for value in values]
        swapped = {",": group, ".": decimal}
        cells = ["".join(swapped.get(letter, letter) for letter in text) for text in texts]
        path = written(tmp_path, cells, ["1"] * 4, separator=str(rng.choice([";", "\t", ","])))
        meant = [float(text.replace(",", "")) for text in texts]
        assert read(path, decimal=decimal)[0] == meant
        try:
            found = read(path)[0]
        except DataError as error:
            told = str(error)
        else:
            assert found == meant, cells
            continue
        assert "can mean" in told


# -- tables ---------------------------------------------------------------------------


def test_the_form_is_noted(tmp_path: Path) -> None:
    table = open_table(written(tmp_path, ["1", "1.234,5"], ["1", "2"]))
    table.numbers(["a"])
    assert table.notes == ("has semicolons between columns", "has decimal commas", "has thousands separators")
    assert table.decimal == ","
    table = open_table(written(tmp_path, *[[*["1"] * 200, "1,5"]] * 2))  # below the rows that are looked at first
    assert table.numbers(["a"])[-1] == 1.5
    assert (table.notes[-1], table.decimal) == ("has decimal commas", ",")


def test_a_first_row_of_numbers_is_no_row_of_names(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("1,5\t2,5\n3\t4\n")
    with pytest.raises(DataError, match=r"it holds only numbers \(1,5, 2,5\); write names above it"):
        open_table(path)


def test_many_rows_with_decimal_commas_take_no_time(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=1000)
    cells = 100 * [repr(value).replace(".", ",") for value in rows.tolist()]
    path = written(tmp_path, cells, cells, ["3"] * len(cells))
    since = time.perf_counter()
    numbers = read(path)
    assert time.perf_counter() - since < 5  # less than a second on a free machine
    np.testing.assert_array_equal(numbers[1], np.tile(rows, 100))


def test_decimals_as_they_are_written(tmp_path: Path) -> None:
    table = open_table(written(tmp_path, ["1,50", "2,00"], ["1", "2"], ["1e-3", "2.0"]))
    table.numbers(table.names)
    assert [table.written_step(name) for name in table.names] == [0.01, 1.0, 0.001]
