"""A saved folder is whole or none, says what is wrong with it, and is held by one process at a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disks import Disk
from edhie.errors import CorpusError, GeneratorError, InUseError, SymbolError
from edhie.files import replace_file
from edhie.storage import FolderFormat, csv_text, pack, unpack

FORMAT = FolderFormat("thing", 3, "thing.json", GeneratorError, "delete it and make it again", CorpusError)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    folder = FORMAT.write(tmp_path / "deep" / "er", {"name": "ü", "n": np.int64(3)}, {"a.txt": "ä", "b.bin": b"\0"})
    assert FORMAT.read(folder, "a.txt", "b.bin") == {"kind": "thing", "format": 3, "name": "ü", "n": 3}
    assert (folder / "a.txt").read_text(encoding="utf-8") == "ä"
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "b.bin", "thing.json"]
    (folder / "other.txt").write_text("stays")
    FORMAT.write(folder, {"name": "new"}, {"a.txt": "b"})
    assert (folder / "other.txt").exists()
    assert FORMAT.read(folder)["name"] == "new"


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FORMAT.write(tmp_path, {"name": "old"}, {"a.txt": "old"})
    disk = Disk(monkeypatch)
    disk.is_full_for = lambda path: path.name == "b.txt.part"
    with pytest.raises(CorpusError, match=r"cannot write the thing to .*: No space left on device"):
        FORMAT.write(tmp_path, {"name": "new"}, {"a.txt": "new", "b.txt": ""})
    assert FORMAT.read(tmp_path)["name"] == "old"
    assert (tmp_path / "a.txt").read_text() == "old"
    assert not (tmp_path / ".part").exists()
    with pytest.raises(GeneratorError, match="the thing cannot be written as text"):
        FORMAT.write(tmp_path, {"name": object()}, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"thing\.json is damaged: .*; delete it and make it again"),
        ("[]", "is damaged: TypeError"),
        ("{}", r"is damaged: KeyError\('format'\); delete it and make it again"),
        ('{"format": 2}', "has format 2; this edhie reads format 3 of a thing"),
        ('{"format": 3, "kind": "model"}', "has the kind 'model'; this edhie reads format 3 of a thing"),
    ],
)
def test_faults_of_a_description(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "thing.json").write_text(text)
    with pytest.raises(GeneratorError, match=message):
        FORMAT.read(tmp_path)


def test_missing_folders_and_files(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", tmp_path / ("long" * 100)):
        with pytest.raises(GeneratorError, match="there is no thing folder"):
            FORMAT.read(folder)
    with pytest.raises(GeneratorError, match=r"is not a thing: it has no thing\.json"):
        FORMAT.read(tmp_path)
    FORMAT.write(tmp_path, {}, {})
    with pytest.raises(GeneratorError, match=r"is not a thing: it has no a\.txt"):
        FORMAT.read(tmp_path, "a.txt")


@pytest.mark.parametrize("fault", [ValueError("odd"), EOFError(), CorpusError("odd"), RuntimeError("odd")])
def test_any_fault_while_reading_is_damage(fault: Exception, tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match=r"is damaged: .*; delete it and make it again"), FORMAT.reading(tmp_path):
        raise fault
    with pytest.raises(GeneratorError, match="cannot be read: pass operators="), FORMAT.reading(tmp_path):
        raise SymbolError("pass operators=")


HOLDING = """
import sys, time
from pathlib import Path
from edhie.errors import GeneratorError
from edhie.storage import FolderFormat
with FolderFormat("thing", 3, "thing.json", GeneratorError, "").in_use(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_process_at_a_time_works_in_a_folder_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(folder)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        told = rf"{folder} is in use by process {child.pid} \(since 2.*\); wait for it, or choose another folder"
        with pytest.raises(InUseError, match=told), FORMAT.in_use(folder):
            pass
        os.kill(child.pid, signal.SIGKILL)
    assert (folder / ".lock").exists()
    with FORMAT.in_use(folder):
        assert folder.is_dir()
    assert list(folder.iterdir()) == []


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_file(path, b"first")

    def failing(file: Any) -> None:
        file.write(b"half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        replace_file(path, failing)
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_arrays_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    arrays = {"a": np.arange(6.0).reshape(2, 3).T, "b": np.array([1, 2], np.int16)}
    path.write_bytes(pack(arrays, {"note": json.dumps("ü")}))
    found, notes = unpack(path)
    assert notes == {"note": '"\\u00fc"'}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert csv_text(["a", "b"], [(1, "x,y")]) == 'a,b\n1,"x,y"\n'
