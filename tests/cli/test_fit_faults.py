"""What `edhie fit` refuses: one message each, that says what, where and what to do, and nothing is left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disks import Disk
from measurements import GOOD, NOISE, small, table

WIDE = ",".join(f"v{k}" for k in range(2000)) + ",y\n" + 20 * ("1," * 2000 + "2\n")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (None, [], "there is no file {path}"),
        ("", [], "{path} is empty; write a row of names"),
        ("1,2,3\n4,5,6\n", [], "{path}: the first row must name each column, and it holds only numbers (1, 2, 3)"),
        (GOOD.replace("y", "yield_"), ["--target", "yeld_"], "{path} has no column 'yeld_'; did you mean 'yield_'?"),
        (GOOD, ["--target", "speed"], "{path} has no column 'speed'; it has a, b, y"),
        (GOOD, ["--features", "a,bb"], "{path} has no column 'bb'; did you mean 'b'?"),
        (GOOD, ["--features", "a,a"], "the features name 'a' twice; name it once"),
        (GOOD, ["--features", "a,y"], "'y' is the target and among the features too"),
        (GOOD.replace("2,3,5", "2,lab,5"), [], "{path}, line 3: 'lab' is not a number; choose other columns, or turn"),
        (GOOD.replace("2,3,5", "2,nan,5"), [], "{path}, line 3 holds a number that is not finite: nan in column 'b'"),
        (GOOD.replace("2,3,5", "inf,3,5"), [], "{path}, line 3 holds a number that is not finite: inf in column 'a'"),
        (GOOD.replace("2,3,5", "2,3,1e999"), [], "{path}, line 3 holds a number that is not finite: 1e999 in column"),
        (GOOD.replace("2,3,5", "2,,5"), [], "{path}, line 3: column 'b' is empty; fill in a number, or leave"),
        (GOOD.replace("2,3,5", "2,3"), [], "{path}, line 3 has 2 columns, the first 3; make them alike"),
        (GOOD.replace("2,3,5", "2,5,3,5,5,5"), [], "{path}, line 3 has 6 columns, the first 3; make them alike, and"),
        ("a,b,y\n1,2,3\n", [], "{path} has 1 row of numbers; give at least 2"),
        ("a,b,y\n", [], "{path} has no rows of numbers; give at least 2"),
        ("y\n1\n2\n", [], "{path} has no column of numbers besides 'y'; give at least one to"),
        ("a,y\n1,7\n2,7\n3,7\n", [], "{path}: column 'y' is 7 in every row, so there is nothing to explain; choose"),
        ("a,a,y\n1,2,3\n2,3,4\n", [], "{path}: the first row must name each column differently, and 'a' is there 2"),
        ("a,b,d,y\n1,2,3,4\n2,3,4,6\n", [], "{path} has more variables (3) than rows (2); give more rows, or choose"),
        (WIDE, [], "{path} has more variables (2000) than rows (20); give more rows, or choose fewer features"),
        (b"\x00\x01\x02" * 50, [], "{path} is no text: it holds bytes that no text has; give CSV, TSV, Excel"),
        (b"a,y\n\xc3\x28,\x81\n", [], "{path} cannot be read: 'utf-8' codec can't decode"),
        ("a;y\n1;587\n2;1,674\n", [], "{path}, line 3, column 'y': '1,674' can mean 1674 (--decimal .) or 1.674 (--"),
        ("a;y\n1;5,5\n2;1.5\n", [], "{path}, column 'y': '5,5' in line 2 has a decimal comma and '1.5' in line 3 has"),
        ("a;y\n1;5,5\n2;1.5\n", ["--decimal", ","], "{path}, line 3: '1.5' is not a number with the decimal mark ','"),
        ("a,y\n2,7\n2,7\n2,7\n", [], "{path}: all 3 rows are the same, so there is nothing to tell them apart; give"),
        ("a,b,y\n2,1,7\n2,1,8\n", [], "{path}: 'a', 'b': the same in every row, so nothing can explain 'y'; add"),
        (GOOD, ["--sigma", "bb"], "{path} has no column 'bb'; did you mean 'b'?"),
        (GOOD, ["--sigma", "y"], "'y' is the target and the sigma; give the column of its standard errors"),
        (GOOD, ["--sigma", "b", "--features", "a,b"], "'b' is the sigma and among the features too; leave it out"),
        (GOOD.replace("2,3,5", "2,0,5"), ["--sigma", "b"], "{path}: column 'b' is 0 in row 2 below the names; stand"),
        (GOOD.replace("2,3,5", "2,-3,5"), ["--sigma", "b"], "{path}: column 'b' is -3 in row 2 below the names; stand"),
        (GOOD.replace("2,3,5", "2,,5"), ["--sigma", "b"], "{path}, line 3: column 'b' is empty; fill in a number"),
        (GOOD.replace("2,3,5", "2,nan,5"), ["--sigma", "b"], "{path}, line 3 holds a number that is not finite: nan"),
        (GOOD.replace("2,3,5", "2,big,5"), ["--sigma", "b"], "{path}, line 3: 'big' is not a number; choose other"),
        (GOOD, ["--operators", "+,sinn"], "unknown operator 'sinn' in --operators; did you mean 'sin'?"),
        (GOOD, ["--operators", "+,zzz"], "unknown operator 'zzz' in --operators; there are + - * / "),
        (GOOD, ["--model", "nowhere"], "there is no model folder nowhere"),
        (GOOD, ["--model", "nguyen-1", "--search", "draw"], "the search 'draw' needs a generator for 2 variables"),
    ],
)  # fmt: skip
def test_faults(
    text: str | bytes | None, options: list[str], message: str, edhie: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "data.csv"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = edhie("fit", path, "--target", "y", *options, "--out", tmp_path / "out", "--quiet")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message.format(path=path)}")
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_in_place_of_data(edhie: Callable[..., Any], tmp_path: Path) -> None:
    told = f"error: {tmp_path} is a folder; give a file of measurements: CSV, TSV, Excel or Parquet\n"
    assert edhie("fit", tmp_path, "--target", "y") == (1, "", told)


def test_a_model_that_is_none(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    told = f"error: {tmp_path} is not a model: it has no config.json\n"
    assert edhie("fit", cup, "--target", "T", "--model", tmp_path, "--quiet") == (1, "", told)


# -- the folder -----------------------------------------------------------------------


def test_a_folder_that_is_taken(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ["fit", cup, "--target", "T", *small(), "--out"]
    assert edhie(*options, out).code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    taken = f"error: {out} holds a search already; resume it with --resume, or choose another folder\n"
    assert edhie(*options, out) == (1, "", taken)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    (tmp_path / "other").mkdir()
    assert edhie(*options, tmp_path / "other", "--quiet").code == 0
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("")
    assert edhie(*options, tmp_path / "notes").err.startswith(f"error: {tmp_path / 'notes'} is not empty; choose")
    assert "holds something other than a search" in edhie(*options, tmp_path / "notes", "--resume").err
    assert edhie(*options, cup).err == f"error: {cup} is a file; choose a folder\n"
    assert edhie(*options, cup / "run").err.startswith(f"error: cannot write to {cup / 'run'}: {cup} is a file")


def test_going_on_with_other_data(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    options = ["--target", "T", *small(), "--out", tmp_path / "run", "--quiet"]
    assert edhie("fit", cup, *options).code == 0
    other = table(tmp_path, "other.csv", rows=61)
    code, out, err = edhie("fit", other, *options, "--resume")
    assert (code, out) == (1, "")
    assert "data differ from the saved search; pass the same, or another folder" in err


def test_a_folder_that_is_read_only(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)  # nothing is read-only to root
    out = tmp_path / "locked" / "run"
    told = f"error: cannot write to {out}: {tmp_path} is read-only; choose another folder\n"
    assert edhie("fit", cup, "--target", "T", *small(), "--out", out) == (1, "", told)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def test_a_disk_that_is_full_before_the_search(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, disk: Disk
) -> None:
    disk.is_full_for = lambda path: True
    told = f"error: cannot write the search to {tmp_path / 'run'}: No space left on device\n"
    assert edhie("fit", cup, "--target", "T", *small(), "--out", tmp_path / "run", "--quiet") == (1, "", told)


def test_a_disk_that_is_full_at_the_end(edhie: Callable[..., Any], cup: Path, tmp_path: Path, disk: Disk) -> None:
    out = tmp_path / "run"
    options = ["fit", cup, "--target", "T", *small(), "--out", out, "--quiet"]
    disk.is_full_for = lambda path: path.name != "run.json.part"
    code, printed, err = edhie(*options)
    assert (code, printed.startswith("T = ")) == (1, True)  # what was found is shown all the same
    reason = "No space left on device"
    assert err.splitlines() == [
        f"warning: cannot write the search to {out}: {reason}; results are kept in memory only",
        f"warning: cannot write the result to {out}: {reason}; it is returned, and saved nowhere else",
        f"error: cannot write the fit to {out}: {reason}",
    ]
    assert [path.name for path in out.iterdir()] == ["run.json"]
    disk.is_full_for = lambda path: False
    assert edhie(*options, "--resume") == (0, printed, "")


def test_a_checkpoint_that_finds_no_place(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edhie.search.checkpoint.WRITE_SECONDS", 0.0)
    out = tmp_path / "run"
    options = ["fit", cup, "--target", "T", *small("evolve", 700), "--out", out, "--quiet"]
    disk.is_full_for = lambda path: path.name == "checkpoint.npz.part"
    code, printed, err = edhie(*options)
    assert (code, printed.startswith("T = ")) == (0, True)  # the equations are kept
    told = f"warning: cannot write the search to {out}: No space left on device; results are kept in memory only"
    assert set(err.splitlines()) == {told}
    assert edhie("show", out).code == 0


def test_a_folder_that_is_removed_on_the_way(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from edhie.search.sampling import Draw

    out, step = tmp_path / "run", Draw.step

    def removing(self: Draw, rng: np.random.Generator) -> bool:
        shutil.rmtree(out, ignore_errors=True)
        return step(self, rng)

    monkeypatch.setattr(Draw, "step", removing)
    options = ["fit", cup, "--target", "T", "--out", out, "--quiet"]
    code, printed, err = edhie(*options, *small())
    assert (code, printed.startswith("T = "), err) == (0, True, "")
    monkeypatch.undo()
    assert edhie("show", out).code == 0
    assert edhie(*options, *small(evaluations=400), "--resume").code == 0


def test_a_full_disk_when_the_equations_are_written(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, disk: Disk
) -> None:
    disk.is_full_for = lambda path: path.name == "equations.csv.part"
    code, out, err = edhie("fit", cup, "--target", "T", *small(), "--out", tmp_path / "run", "--quiet")
    assert (code, out.startswith("T = ")) == (1, True)  # what was found is shown all the same
    assert err == f"error: cannot write the fit to {tmp_path / 'run'}: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is not here")
def test_a_full_disk_behind_the_output(environment: dict[str, str], cup: Path) -> None:
    command = [sys.executable, "-c", "from edhie.cli import main; main()", "fit", str(cup), "--target", "T", "--quiet"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*command, *map(str, small())], stdout=full, stderr=subprocess.PIPE, env=environment, text=True, check=False
        )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[0] == "error: [Errno 28] No space left on device"


def test_going_on_needs_a_folder(edhie: Callable[..., Any], cup: Path) -> None:
    code, out, err = edhie("fit", cup, "--target", "T", "--resume")
    assert (code, out) == (2, "")
    assert "--resume needs the folder of the search; give it with --out" in err


def test_nothing_found_is_told(edhie: Callable[..., Any], tmp_path: Path) -> None:
    path = table(tmp_path, T=NOISE)
    code, out, err = edhie("fit", path, "--target", "T", "--max-time", 1e-9)
    assert (code, out) == (1, "")
    none = "none of 0 expressions has a value in every row"
    assert err.splitlines()[-1].startswith(f"error: no equation was found: {none}; search longer")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", ""])
def test_a_cluster_that_is_not_there(
    address: str, edhie: Callable[..., Any], cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("edhie.dask_cluster.CONNECT_SECONDS", 0.4)
    code, out, err = edhie("fit", cup, "--target", "T", "--quiet", "--cluster", address)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: no Dask scheduler answers at {address or 'an empty address'}")
    assert len(err.splitlines()) == 1
