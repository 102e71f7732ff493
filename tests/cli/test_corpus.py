"""`edhie corpus`: build, import, show, list; stopping and going on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from edhie.corpora import Corpus, named_recipe, recipe_names

DRAWN = ["--grammar", "nguyen-2", "--size", 50, "--max-height", 4]
SIMPLIFIED = ["--grammar", "trig", "--size", 300, "--max-height", 4, "--simplify", "--workers", 2]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "made"


# -- build ----------------------------------------------------------------------------


def test_build(edhie: Callable[..., Any], out: Path) -> None:
    assert edhie("corpus", "build", *DRAWN, "--seed", 2, "--out", out) == (0, f"made: 50 expressions in {out}\n", "")
    corpus = Corpus.load(out)
    assert (len(corpus), corpus.name, corpus.provenance["seed"], corpus.provenance["simplify"]) == (
        50,
        "made",
        2,
        False,
    )


def test_build_by_name(edhie: Callable[..., Any], out: Path) -> None:
    assert edhie("corpus", "build", "nguyen-1", "--out", out).out == f"Nguyen-1: 20000 expressions in {out}\n"
    assert Corpus.load(out).provenance["max_height"] == named_recipe("Nguyen-1").max_height


def test_bytes_other_than_the_recipes_are_told(
    edhie: Callable[..., Any], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["edhie.cli.corpus"], "known_checksum", lambda name: "0" * 64)
    result = edhie("corpus", "build", "nguyen-1", "--out", out)
    assert result.code == 0
    assert "does not have the recipe's checksum" in result.err


def test_build_by_name_with_another_seed(edhie: Callable[..., Any], out: Path) -> None:
    assert edhie("corpus", "build", "Nguyen-2", "--seed", 7, "--out", out).out == f"made: 20000 expressions in {out}\n"
    assert json.loads((out / "corpus.json").read_text(encoding="utf-8"))["provenance"]["seed"] == 7


def test_build_physics(edhie: Callable[..., Any], out: Path) -> None:
    for name in ("Physics", "physics"):
        folder = out / name
        assert re.fullmatch(
            rf"Physics: 1\d\d expressions in {folder}\n", edhie("corpus", "build", name, "--out", folder).out
        )
    assert edhie("corpus", "build", "physics", "--out", folder).code == 1  # a corpus is not written over


def test_folders_with_odd_names(edhie: Callable[..., Any], tmp_path: Path) -> None:
    for name in ("[bold]", "[]", "é", "a b"):
        folder = tmp_path / name
        assert edhie("corpus", "build", *DRAWN, "--out", folder).out == f"{name}: 50 expressions in {folder}\n"
        assert edhie("corpus", "show", folder).out.startswith(f"{name}: 50 expressions over ")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--grammar", "ae", "--size", "10"],
        ["--grammar", "ae", "--max-height", "3"],
        ["--size", "10", "--max-height", "3"],
        ["AE4-2k", "--size", "10"],
        ["AE4-2k", "--size", "0"],
        ["AE4-2k", "--grammar", "ae"],
        ["AE4-2k", "--max-height", "4"],
        ["AE4-2k", "--simplify"],
        ["AE4-2k", "--no-simplify"],
        ["physics", "--size", "3"],
        ["AE4-2k", "--workers", "0"],
        ["AE4-2k", "--time-limit", "0"],
        ["AE4-2k", "AE5-15k"],
    ],
    ids=" ".join,
)
def test_build_wrong_usage(arguments: list[str], edhie: Callable[..., Any], out: Path) -> None:
    result = edhie("corpus", "build", *arguments, "--out", out)
    assert result.code == 2
    assert result.out == ""
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["AE4-3k"], "unknown corpus 'AE4-3k'; did you mean 'AE4-2k'?"),
        (["--grammar", "trigg", "--size", "10", "--max-height", "3"], "unknown grammar 'trigg'; did you mean 'trig'?"),
        (["--grammar", "ae", "--size", "-1", "--max-height", "3"], "size must be a whole number of at least 1, not -1"),
        (["--grammar", "ae", "--size", "1", "--max-height", "0"], "max_height must be a whole number of at least 1"),
        (["--grammar", "ae", "--size", "1", "--max-height", "3", "--seed", "-1"], "seed must be a whole number of"),
        (
            ["--grammar", "nguyen-1", "--size", "10", "--max-height", "1"],
            "the grammar 'nguyen-1' has given nothing new",
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_build_faults(arguments: list[str], message: str, edhie: Callable[..., Any], out: Path) -> None:
    code, printed, err = edhie("corpus", "build", *arguments, "--out", out)
    assert (code, printed) == (1, "")
    assert err.startswith(f"error: {message}")
    assert len(err.splitlines()) == 1


def test_build_where_nothing_can_be_built(edhie: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "below", "/proc/edhie", tmp_path / ("long" * 100)):
        told = (f"error: cannot write to {folder}: ", f"error: {folder} is a file; choose a folder")
        assert edhie("corpus", "build", *DRAWN, "--out", folder).err.startswith(told)


def test_build_twice(edhie: Callable[..., Any], out: Path) -> None:
    edhie("corpus", "build", *DRAWN, "--out", out)
    before = (out / "corpus.json").read_bytes()
    code, printed, err = edhie("corpus", "build", *DRAWN, "--out", out)
    assert (code, printed) == (1, "")
    assert err == f"error: {out} holds a corpus already; choose another folder or remove it\n"
    assert (out / "corpus.json").read_bytes() == before


@pytest.mark.slow
def test_stopped_by_ctrl_c_and_gone_on_with(
    environment: dict[str, str], edhie: Callable[..., Any], process: Callable[..., Any], out: Path
) -> None:
    command = [sys.executable, "-c", "from edhie.cli import main; main()", "corpus", "build", *map(str, SIMPLIFIED)]
    running = subprocess.Popen(
        [*command, "--out", out],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (out / ".unfinished" / "round-00000.txt").exists():
        assert running.poll() is None
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: SymPy's processes hear of it too
    printed, err = running.communicate(timeout=60)
    message = f"stopped; the part done is kept in {out}; the same command resumes\n"
    assert (running.returncode, printed, err) == (130, "", message)
    assert not (out / "corpus.json").exists()
    other = edhie("corpus", "build", *SIMPLIFIED, "--seed", 1, "--out", out)
    assert other.code == 1
    assert "holds an unfinished build of another recipe" in other.err
    assert process("corpus", "build", *SIMPLIFIED, "--out", out) == (0, f"made: 300 expressions in {out}\n", "")
    assert sorted(path.name for path in out.iterdir()) == ["corpus.json", "expressions.txt"]


def test_stopped_with_nothing_to_keep(edhie: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("edhie.cli.corpus"), "build", stop)
    assert edhie("corpus", "build", *DRAWN, "--out", out) == (130, "", "stopped; nothing was made\n")


def test_ctrl_c_inside_compiled_code_is_ctrl_c(
    edhie: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, out: Path
) -> None:
    def stop(*arguments: object, **options: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    monkeypatch.setattr(import_module("edhie.cli.corpus"), "build", stop)
    assert edhie("corpus", "build", *DRAWN, "--out", out).code == 130


# -- import ---------------------------------------------------------------------------


def test_import(edhie: Callable[..., Any], tmp_path: Path, out: Path) -> None:
    file = tmp_path / "laws.txt"
    file.write_text("m*v^2/2\n\\frac{q}{r^2}\nm*c^2\n", encoding="utf-8")
    assert edhie("corpus", "import", file, "--out", out, "--variable", "c") == (
        0,
        f"laws: 3 expressions in {out}\n",
        "",
    )
    assert (out / "expressions.txt").read_text(encoding="utf-8") == "m*v^2/2\nq/r^2\nm*c^2\n"
    assert Corpus.load(out).library.constant is None
    assert edhie("corpus", "import", file, "--out", out).err.startswith(f"error: {out} holds a corpus already")


def test_import_options(edhie: Callable[..., Any], tmp_path: Path) -> None:
    table = tmp_path / "laws.csv"
    table.write_text('name,law\nkinetic,0.5*m*v^2\nodd,"max(x, 2)"\n', encoding="utf-8")
    result = edhie("corpus", "import", table, "--column", "law", "--numbers", "constants", "--generic-variables",
                   "--notation", "infix")  # fmt: skip
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("laws: 2 expressions over * ^2 max x0 x1 c\n")
    assert result.out.endswith("    c*x0*x1^2\n    max(x0, c)\n")


def test_import_bad_lines(edhie: Callable[..., Any], tmp_path: Path, out: Path) -> None:
    file = tmp_path / "laws.txt"
    file.write_text("x\nx +\n[red]\ny\n", encoding="utf-8")
    code, printed, err = edhie("corpus", "import", file, "--out", out)
    assert (code, printed) == (1, "")
    assert f"2 of 4 formulas in {file} cannot be read (leave them out with --skip-bad):\nline 2: " in err
    assert not out.exists()
    code, printed, err = edhie("corpus", "import", file, "--out", out, "--skip-bad")
    assert (code, printed) == (0, f"laws: 2 expressions in {out}\n")
    assert re.findall(r"left out, line (\d+): ", err) == ["2", "3"]
    assert "'[red]'" in err


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("none.txt", None, [], "there is no file "),
        ("folder", "", [], ""),
        ("empty.txt", b"", [], "empty.txt holds no formulas"),
        ("latin.txt", b"\xe4\n", [], "latin.txt is not text in UTF-8: "),
        ("table.csv", b"a,b\nx,y\n", [], "say which column holds the formulas with --column (a, b)"),
        ("table.csv", b"law\nx\n", ["--column", "laws"], "has no column 'laws'; did you mean 'law'?"),
        ("laws.txt", b"x\n", ["--variable", "1x"], "'1x' cannot name a variable"),
    ],
)
def test_import_faults(
    name: str, content: bytes | None, options: list[str], message: str, edhie: Callable[..., Any], tmp_path: Path
) -> None:
    if content == "":
        (tmp_path / name).mkdir()
    elif content is not None:
        (tmp_path / name).write_bytes(content)
    code, printed, err = edhie("corpus", "import", tmp_path / name, *options)
    assert (code, printed) == (1, "")
    assert err.startswith("error: ")
    assert message in err


# -- show and list --------------------------------------------------------------------


def test_show(edhie: Callable[..., Any], out: Path) -> None:
    edhie("corpus", "build", *DRAWN, "--out", out)
    code, printed, err = edhie("corpus", "show", out, "-n", 3)
    assert (code, err) == (0, "")
    corpus, lines = Corpus.load(out), printed.splitlines()
    assert lines[0] == f"made: 50 expressions over {corpus.library}"
    assert "  grammar: nguyen-2" in lines
    assert "  seed: 0" in lines
    assert [line.strip() for line in lines[-3:]] == [str(expr) for expr in corpus.forest[:3]]
    heights = next(line for line in lines if line.startswith("  heights: "))
    assert sum(int(number) for number in re.findall(r"\d: (\d+)", heights)) == 50
    assert f"largest {corpus.forest.sizes.max()}" in heights
    assert len(edhie("corpus", "show", out, "--count", 0).out.splitlines()) == len(lines) - 3


def test_show_nothing(edhie: Callable[..., Any], out: Path) -> None:
    edhie("corpus", "build", *DRAWN, "--out", out)
    corpus = Corpus.load(out)
    Corpus("[none]", corpus.forest[:0], {"left out": {}, "by": ["me"]}).save(out)
    assert edhie("corpus", "show", out).out == f"[none]: 0 expressions over {corpus.library}\n  left out: nothing\n"


def test_show_faults(edhie: Callable[..., Any], tmp_path: Path) -> None:
    assert edhie("corpus", "show", tmp_path / "none") == (
        1,
        "",
        f"error: there is no corpus folder {tmp_path / 'none'}\n",
    )
    assert edhie("corpus", "show", tmp_path) == (1, "", f"error: {tmp_path} is not a corpus: it has no corpus.json\n")
    (tmp_path / "corpus.json").write_bytes(b"\x00\xff")
    (tmp_path / "expressions.txt").write_bytes(b"x\n")
    assert edhie("corpus", "show", tmp_path).code == 1


def test_list(edhie: Callable[..., Any]) -> None:
    code, printed, err = edhie("corpus", "list")
    assert (code, err) == (0, "")
    rows = [line.split() for line in printed.splitlines()]
    assert [row[0] for row in rows[1:]] == [*recipe_names(), "Physics"]
    assert rows[1] == ["AE4-2k", "ae", "2000", "4", "yes"]
    assert rows[7] == ["Nguyen-1", "nguyen-1", "20000", "7", "no"]
