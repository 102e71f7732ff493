"""Two processes never write into one folder, and no command writes into a folder that is not its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from edhie.errors import InUseError
from edhie.files import is_in_use, locked

COMMANDS = ["fit", "fit --resume", "revise", "train", "bench", "corpus build", "corpus import"]
TABLE = "nguyen-hvar"
HOLD = """
import sys
from pathlib import Path
from edhie.files import locked
with locked(Path(sys.argv[1])), locked(Path(sys.argv[1]), "nguyen-hvar"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A folder in which another process works, and that process."""
    folder, paths = tmp_path / "held", os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield folder, process
        process.kill()


def test_whether_a_folder_is_in_use(held: tuple[Path, subprocess.Popen[str]], tmp_path: Path) -> None:
    folder, process = held
    assert is_in_use(folder)
    process.kill()
    process.wait()
    note = folder / ".process"
    assert note.is_file()
    assert not is_in_use(folder)
    note.write_text(note.read_text().replace(str(process.pid), str(os.getpid())))  # its number was given to another
    assert not is_in_use(folder)
    assert not is_in_use(tmp_path / "none")


def test_a_folder_in_use_is_told_in_one_line(
    held: tuple[Path, subprocess.Popen[str]], edhie: Callable[..., Any], commands: dict[str, list[object]]
) -> None:
    folder, process = held
    assert list(commands) == COMMANDS
    for name, command in commands.items():
        code, out, err = edhie(*command, folder)
        assert (code, out) == (1, ""), name
        where = folder / TABLE if name == "bench" else folder
        told = f"error: {re.escape(str(where))} is in use by process {process.pid}"
        assert re.fullmatch(rf"{told} \(since .*\); wait for it, or choose another folder\n", err), name
    process.kill()
    process.wait()
    assert edhie(*commands["corpus build"], folder).code == 0  # a lock of a process that is gone holds nobody up
    assert sorted(path.name for path in folder.iterdir() if TABLE not in path.name) == [
        "corpus.json",
        "expressions.txt",
    ]


def test_threads_of_one_process_do_not_share_a_folder(tmp_path: Path) -> None:
    refused: list[str] = []

    def work() -> None:
        try:
            with locked(tmp_path):
                time.sleep(0.1)
        except InUseError as error:
            refused.append(str(error))

    with locked(tmp_path), locked(tmp_path):  # the thread that has it may take it again
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(refused) == 1
    assert f"process {os.getpid()} " in refused[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_writes_into_a_folder_of_another_kind(
    name: str, copied: Callable[[str], Path], edhie: Callable[..., Any], commands: dict[str, list[object]]
) -> None:
    own = {"train": ("model", "training"), "corpus build": ("corpus",), "corpus import": ("corpus",)}.get(
        name, ("run",)
    )
    for kind in ("run", "model", "training", "corpus"):
        if kind in own and name != "bench":
            continue
        folder = copied(kind)
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for force in [[], ["--force"]] if name == "train" else [[]]:
            code, out, err = edhie(*commands[name], folder, *force)
            assert (code, out) == (1, "")
            what = "model" if kind == "training" else kind
            assert err == f"error: {folder} holds a {what}; choose another folder\n"
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("train", "README.md"),
        ("train", "config.json"),
        ("corpus build", "expressions.txt"),
        ("corpus import", "expressions.txt"),
        ("bench", f"{TABLE}.json"),
        ("bench", f"{TABLE}.png"),
        ("bench", f"{TABLE}.csv"),
        ("fit", "equations.csv"),
        ("fit --resume", "equations.csv"),
        ("revise", "best.txt"),
    ],
)
def test_no_command_replaces_a_file_of_the_user(
    name: str, file: str, tmp_path: Path, edhie: Callable[..., Any], commands: dict[str, list[object]]
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / file).write_text("mine")
    code, out, err = edhie(*commands[name], folder)
    assert (code, out) == (1, "")
    assert str(folder) in err
    assert [path.name for path in folder.iterdir()] == [file]
    assert (folder / file).read_text() == "mine"


def test_a_folder_that_was_made_for_nothing_is_removed(tmp_path: Path) -> None:
    with locked(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
    assert not (tmp_path / "new").exists()
