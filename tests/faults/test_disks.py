"""Full and read-only disks: a clear error, nothing half written, and the same command resumes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from disks import Disk

FULL = "No space left on device"


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("name", "last"),
    [("train", "training.safetensors.part"), ("train", "weights.safetensors.part"), ("bench", "nguyen-hvar.csv"),
     ("corpus build", "expressions.txt.part"), ("corpus import", "corpus.json.part"), ("revise", "revisions.csv.part")],
)  # fmt: skip
def test_a_disk_that_becomes_full(
    name: str, last: str, edhie: Callable[..., Any], commands: dict[str, list[object]], tmp_path: Path, monkeypatch: Any
) -> None:
    out, disk = tmp_path / "out", Disk(monkeypatch)
    disk.is_full_for = lambda path: path.name == last
    code, printed, err = edhie(*commands[name], out)
    assert code == 1
    assert printed.startswith("T = ") == (name == "revise")  # what was found is shown all the same
    assert err.splitlines()[-1].startswith("error: cannot write ")
    assert err.splitlines()[-1].endswith(FULL)
    assert str(out) in err
    assert not [path for path in files_in(out) if ".part" in path or ".lock" in path] if out.exists() else True
    disk.is_full_for = lambda path: False
    more = ["--resume"] if name == "revise" else []
    assert edhie(*commands[name], out, *more).code == 0


@pytest.mark.parametrize("name", ["fit", "revise", "train", "bench", "corpus build", "corpus import"])
def test_a_folder_that_is_read_only(
    name: str, edhie: Callable[..., Any], commands: dict[str, list[object]], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)  # nothing is read-only to root
    told = f"error: cannot write to {tmp_path / 'a' / 'b'}: {tmp_path} is read-only; choose another folder\n"
    assert edhie(*commands[name], tmp_path / "a" / "b") == (1, "", told)
    assert not (tmp_path / "a").exists()


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a small disk; only the administrator may."""
    place = tmp_path / "disk"
    place.mkdir()
    done: list[bool] = []

    def mount(options: str) -> Path:
        more = ["-o", options]
        if subprocess.run(["mount", "-t", "tmpfs", *more, "tmpfs", place], capture_output=True, check=False).returncode:
            pytest.skip("no disk can be mounted here")
        done.append(True)
        return place

    yield mount
    if done:
        subprocess.run(["umount", place], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting is for the administrator")
def test_a_real_disk_that_is_full_or_read_only(
    edhie: Callable[..., Any], commands: dict[str, list[object]], mounted: Callable[[str], Path]
) -> None:
    disk = mounted("size=8k")
    for name in ("fit", "train", "bench", "corpus build"):
        code, printed, err = edhie(*commands[name], disk / name.replace(" ", "-"))
        assert code == 1, name
        assert err.splitlines()[-1].startswith("error: cannot write "), err
        assert FULL in err.splitlines()[-1]
        assert printed.startswith("T = ") == (name == "fit")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for name in ("fit", "train", "bench", "corpus build"):
        code, _, err = edhie(*commands[name], disk / f"new-{name.replace(' ', '-')}")
        assert code == 1
        assert "ead-only" in err
