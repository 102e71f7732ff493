"""`edhie encode` and `edhie decode`: there and back, by CSV, .npy, arguments, files and pipes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.expr import Forest, parse
from edhie.generators import load
from edhie.generators.base import Decoded

FORMULAS = ["x0 + sin(x0)", "c*x0", "cos(c)"]


@pytest.fixture
def means(model_folder: Path) -> Any:
    model = load(model_folder)
    return model.encode(Forest.from_exprs([parse(text, model.library) for text in FORMULAS], model.library))[0]


def test_encode(edhie: Callable[..., Any], model_folder: Path, means: Any) -> None:
    code, out, err = edhie("encode", model_folder, *FORMULAS)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[::3] == FORMULAS
    assert [line.split()[0] for line in lines[1:3]] == ["mean", "spread"]
    shown = [[float(number) for number in line.split()[1:]] for line in lines[1::3]]
    assert np.allclose(shown, means, atol=0.0006)


def test_json_has_every_digit(edhie: Callable[..., Any], model_folder: Path, means: Any) -> None:
    rows = [json.loads(line) for line in edhie("encode", model_folder, *FORMULAS, "--json").out.splitlines()]
    assert [row["expression"] for row in rows] == FORMULAS
    assert np.array_equal(np.array([row["mean"] for row in rows], dtype=np.float32), means)
    assert all(len(row["spread"]) == 4 and min(row["spread"]) > 0 for row in rows)


@pytest.mark.parametrize("name", ["codes.csv", "codes.npy"])
def test_there_and_back(name: str, edhie: Callable[..., Any], model_folder: Path, means: Any, tmp_path: Path) -> None:
    file = tmp_path / name
    assert edhie("encode", model_folder, *FORMULAS, "--out", file) == (0, f"3 codes of 4 numbers in {file}\n", "")
    expected = [str(expr) for expr in load(model_folder).decode(means).forest]
    assert edhie("decode", model_folder, file) == (0, "".join(f"{text}\n" for text in expected), "")
    rows = [json.loads(line) for line in edhie("decode", model_folder, file, "--json").out.splitlines()]
    assert [(row["row"], row["expression"]) for row in rows] == list(enumerate(expected))


def test_a_table_of_bare_numbers(edhie: Callable[..., Any], model_folder: Path, means: Any, tmp_path: Path) -> None:
    bare, named = tmp_path / "bare.csv", tmp_path / "named.csv"
    rows = "".join(",".join(map(str, row)) + "\n" for row in means.tolist())
    bare.write_text(f"{rows}\n")
    named.write_text(f"a,b,c,d\n{rows}")
    assert edhie("decode", model_folder, bare).out == edhie("decode", model_folder, named).out != ""


def test_files_and_pipes(
    edhie: Callable[..., Any], model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n".join([FORMULAS[1], "", FORMULAS[2]])
    file = tmp_path / "formulas.txt"
    file.write_text(text)
    expected = edhie("encode", model_folder, *FORMULAS).out
    assert edhie("encode", model_folder, FORMULAS[0], "--file", file).out == expected
    for arguments in ([FORMULAS[0], "--file", "-"], []):
        monkeypatch.setattr("sys.stdin", io.StringIO(text if arguments else "\n".join(FORMULAS)))
        assert edhie("encode", model_folder, *arguments).out == expected


def test_nothing_to_encode(
    edhie: Callable[..., Any], model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert edhie("encode", model_folder) == (1, "", "error: standard input holds no formulas\n")
    terminal = io.StringIO("")
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", terminal)
    result = edhie("encode", model_folder)
    assert result.code == 2
    assert "give formulas, or a file of them with --file" in result.err
    assert edhie("encode", model_folder, "--file", tmp_path / "none").err.endswith(
        "none cannot be read: No such file or directory\n"
    )


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("x0 + y", "unknown symbol 'y'; there are x0, c at 5 in 'x0 + y'\n  x0 + y\n       ^\n"),
        ("x0 +", "x0 +\n      ^\n"),
        ("exp(x0)", "the function 'exp' is not in the library"),
        ("-sin(x0)", "a minus sign needs 'neg' in the library"),
        ("3*x0", "the number 3 is not in the library (+ - * / sin cos x0 c); write c for a number at 0 in '3*x0'\n"),
    ],
    ids=["symbol", "end", "function", "sign", "number"],
)
def test_formulas_that_the_model_cannot_read(
    formula: str, message: str, edhie: Callable[..., Any], model_folder: Path, tmp_path: Path
) -> None:
    for command in (["encode"], ["neighbours"], ["interpolate", "x0"]):
        code, out, err = edhie(command[0], model_folder, *command[1:], formula)
        assert (code, out) == (1, "")
        assert err.startswith("error: ")
        assert message in err
    file = tmp_path / "formulas.txt"
    file.write_text(f"x0\n{formula}\n")
    assert edhie("encode", model_folder, "--file", file).err.startswith(f"error: {file}, line 2: ")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "there is no file"),
        ("none.npy", None, "there is no file"),
        ("empty.csv", b"", "is empty; write a row of names, then one row of numbers"),
        ("names.csv", b"z0,z1,z2,z3\n", "holds no numbers"),
        ("short.csv", b"1,2\n3,4\n", "holds codes of 2 numbers; this model's have 4"),
        ("ragged.csv", b"1,2,3,4\n1,2,3\n", "line 2 has 3 columns, the first 4; make them alike"),
        ("text.csv", b"z0,z1,z2,z3\n1,2,3,4\n1,2,three,4\n", "line 3: 'three' is not a number"),
        ("nan.csv", b"1,2,3,nan\n", "codes must be finite numbers"),
        ("latin.csv", b"\xe4\x81", "cannot be read"),
        ("text.npy", b"1,2,3,4\n", "cannot be read as an array of numbers"),
        ("empty.npy", b"", "cannot be read as an array of numbers"),
    ],
)
def test_codes_that_cannot_be_read(
    name: str, content: bytes | None, message: str, edhie: Callable[..., Any], model_folder: Path, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    code, out, err = edhie("decode", model_folder, tmp_path / name)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert message in err


def test_an_array_of_another_shape(edhie: Callable[..., Any], model_folder: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "flat.npy", np.zeros(4))
    assert "holds codes of the shape (4,)" in edhie("decode", model_folder, tmp_path / "flat.npy").err
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    assert edhie("decode", model_folder, tmp_path / "objects.npy").code == 1


def test_codes_cannot_be_written(edhie: Callable[..., Any], model_folder: Path, tmp_path: Path) -> None:
    code, out, err = edhie("encode", model_folder, "x0", "--out", tmp_path / "none" / "codes.csv")
    assert (code, out) == (1, "")
    assert err.startswith("error: cannot write codes to ")


def test_codes_that_give_none_keep_their_lines(
    edhie: Callable[..., Any], model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(model_folder)
    whole = type(model).decode

    def failing(self: Any, codes: Any, **options: Any) -> Decoded:
        return Decoded(whole(self, codes[1::2], **options).forest, np.arange(1, len(codes), 2), len(codes))

    np.save(tmp_path / "z.npy", np.zeros((3, 4)))
    monkeypatch.setattr(type(model), "decode", failing)
    lines = edhie("decode", model_folder, tmp_path / "z.npy").out.splitlines()
    assert lines[::2] == ["(no expression)"] * 2
    assert lines[1] != "(no expression)"
    rows = edhie("decode", model_folder, tmp_path / "z.npy", "--json").out.splitlines()
    assert json.loads(rows[0]) == {"row": 0, "expression": None}


def test_columns_are_taken_by_their_names(
    edhie: Callable[..., Any], model_folder: Path, means: Any, tmp_path: Path
) -> None:
    straight, shuffled = tmp_path / "straight.csv", tmp_path / "shuffled.csv"
    rows = (30 * means).tolist()
    straight.write_text("z0,z1,z2,z3\r\n" + "".join(",".join(map(str, row)) + "\r\n" for row in rows))
    shuffled.write_text("z3,z1,note,z0,z2\n" + "".join(f"{d},{b},x,{a},{c}\n" for a, b, c, d in rows))
    assert edhie("decode", model_folder, straight) == edhie("decode", model_folder, shuffled)
    for names, message in (("z0,z1,z2,z2", "'z2' is there 2 times"), ("z0,z1,z2,z4", "one is missing or duplicated")):
        shuffled.write_text(f"{names}\n1,2,3,4\n")
        code, _, err = edhie("decode", model_folder, shuffled)
        assert code == 1
        assert message in err


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e300"])
def test_codes_that_are_no_numbers_are_told_with_their_place(
    number: str, edhie: Callable[..., Any], model_folder: Path, tmp_path: Path
) -> None:
    table, array = tmp_path / "codes.csv", tmp_path / "CODES.NPY"
    table.write_text(f"1,2,3,4\n1,{number},3,4\n")
    with array.open("wb") as file:
        np.save(file, np.array([[1, 2, 3, 4], [1, float(number), 3, 4]]))
    for path in (table, array):
        expected = f"error: {path}, code 2 of 2: codes must be finite numbers\n"
        assert edhie("decode", model_folder, path) == (1, "", expected)


def test_arrays_of_anything_else_are_told(edhie: Callable[..., Any], model_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "codes.npy"
    for array in (np.ones((1, 4)) * 1j, np.array([["1", "2", "3", "4"]])):
        np.save(path, array)
        code, out, err = edhie("decode", model_folder, path)
        assert (code, out) == (1, "")
        assert "cannot be read as an array of numbers" in err
