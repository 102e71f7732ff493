"""`edhie fit` stopped, by Ctrl-C or killed, and gone on with."""

from __future__ import annotations

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

from edhie.events import Improved
from edhie.fit.run_folder import load
from edhie.results import SearchResult
from measurements import NOISE, small, table
from searches import assert_same

cli_fit = import_module("edhie.cli.fit")
SOON = "import edhie.search.checkpoint as c; c.WRITE_SECONDS = 0.2; from edhie.cli import main; main()"


@pytest.mark.parametrize(
    ("strategy", "first", "more"),
    [
        pytest.param("draw", 300, 2500, marks=pytest.mark.slow),
        pytest.param("evolve", 700, 1500, marks=pytest.mark.slow),
        ("mosaic", 60, 900),
    ],
)
def test_gone_on_with_it_ends_as_at_once(
    strategy: str, first: int, more: int, edhie: Callable[..., Any], tmp_path: Path
) -> None:
    path = table(tmp_path, T=NOISE)
    options = ["fit", path, "--target", "T", "--seed", 3, "--quiet"]
    assert edhie(*options, *small(strategy, first), "--out", tmp_path / "parts").code == 0
    assert SearchResult.load(tmp_path / "parts").counts.executed == first
    resumed = edhie(*options, *small(strategy, more), "--out", tmp_path / "parts", "--resume")
    at_once = edhie(*options, *small(strategy, more), "--out", tmp_path / "whole")
    assert resumed == at_once
    assert_same(SearchResult.load(tmp_path / "parts"), SearchResult.load(tmp_path / "whole"))
    again = edhie(*options, *small(strategy, more), "--out", tmp_path / "parts", "--resume")
    assert again == at_once
    assert (tmp_path / "parts" / "best.txt").read_text() == (tmp_path / "whole" / "best.txt").read_text()


def test_going_on_begins_at_the_last_whole_step(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edhie.search.checkpoint.WRITE_SECONDS", 0.0)
    monkeypatch.setattr("edhie.search.watching.PROGRESS_SECONDS", 0.0)
    options = ["fit", cup, "--target", "T", "--out", tmp_path / "run"]
    assert edhie(*options, *small("evolve", 1200)).code == 0
    err = edhie(*options, *small("evolve", 2000), "--resume").err
    after = int(err.splitlines()[1].rpartition("going on after ")[2].replace(",", ""))
    assert 0 < after < 1200
    assert edhie("fit", cup, "--target", "T", "--out", tmp_path / "at-once", *small("evolve", 2000)).code == 0
    assert_same(SearchResult.load(tmp_path / "run"), SearchResult.load(tmp_path / "at-once"))


def test_going_on_where_there_is_nothing_begins(edhie: Callable[..., Any], cup: Path, tmp_path: Path) -> None:
    assert edhie("fit", cup, "--target", "T", *small(), "--out", tmp_path / "new", "--resume").code == 0


def begun(environment: dict[str, str], path: Path, out: Path) -> subprocess.Popen[bytes]:
    """A search without end, in a process of its own, that has found something and left a checkpoint."""
    options = ["fit", str(path), "--target", "T", "--max-time", "0", "--search", "evolve", "--out", str(out)]
    command = [sys.executable, "-c", SOON, *options, "--no-report"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        line = process.stderr.readline()
        if b"  error " in line or not line:
            break
    while time.monotonic() < deadline and not (out / "checkpoint.npz").exists():
        time.sleep(0.05)
    return process


def test_ctrl_c_shows_and_keeps_what_was_found(environment: dict[str, str], tmp_path: Path) -> None:
    path, out = table(tmp_path, T=NOISE), tmp_path / "run"
    with begun(environment, path, out) as process:
        process.send_signal(signal.SIGINT)
        printed, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed.decode().splitlines()[-2].startswith("T = ")
    kept = f"{out} keeps it; resume with the same command and --resume"
    assert err.decode().splitlines()[-1] == f"stopped: this was found so far; {kept}"
    assert load(out).result.stopped == "interrupted"
    assert (out / "best.txt").exists()


def test_killed_it_goes_on(environment: dict[str, str], edhie: Callable[..., Any], tmp_path: Path) -> None:
    path, out = table(tmp_path, T=NOISE), tmp_path / "run"
    with begun(environment, path, out) as process:
        process.kill()
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    code, printed, err = edhie("show", out)
    assert code == 0
    assert re.match(r"[\d,]+ expressions executed in .* s; the best so far, none of them chosen:\ncomplexity ", printed)
    assert len(printed.splitlines()) > 2
    killed = rf"{out} holds a search that did not end; process {process.pid} \(since .*\) works in it, or was killed; "
    assert re.fullmatch(rf"{killed}resume it with the same command and --resume\n", err)
    code, printed, err = edhie("export", out, "--format", "c")
    assert (code, printed) == (1, "")
    resumed = f"edhie fit DATA --target NAME --out {out} --resume"
    assert err == f"error: {out} holds a search that did not end; resume it first: {resumed}\n"
    options = ["--target", "T", "--max-time", 1e-9, "--search", "evolve", "--no-report", "--out", out, "--resume"]
    code, printed, err = edhie("fit", path, *options)
    assert code == 0
    assert "going on after " in err.splitlines()[1]
    assert edhie("show", out).code == 0


def test_ctrl_c_in_the_first_step(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: Any, event: Any) -> None:
        if isinstance(event, Improved):
            raise KeyboardInterrupt

    monkeypatch.setattr("edhie.view.SearchView.__call__", stop)
    options = ["fit", cup, "--target", "T", *small(), "--out"]
    code, out, err = edhie(*options, tmp_path / "run")
    assert (code, out) == (130, f"{tmp_path / 'run'}: 0 equations are kept\n")
    assert err.splitlines()[-1].startswith("stopped: nothing was found yet; ")
    monkeypatch.undo()
    assert edhie(*options, tmp_path / "run", "--resume").code == 0
    assert edhie(*options, tmp_path / "whole").code == 0
    assert_same(SearchResult.load(tmp_path / "run"), SearchResult.load(tmp_path / "whole"))


def test_ctrl_c_before_the_search(edhie: Callable[..., Any], cup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(cli_fit, "discover", stop)
    stopped = 130, "", "stopped before anything was found\n"
    assert edhie("fit", cup, "--target", "T", "--max-time", 5, "--quiet") == stopped


def test_ctrl_c_while_it_is_kept(
    edhie: Callable[..., Any], cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_fit, "save", stop)
    options = ["fit", cup, "--target", "T", *small(), "--quiet", "--out", tmp_path / "run"]
    code, out, err = edhie(*options)
    assert (code, out.startswith("T = ")) == (130, True)
    told = f"stopped while {tmp_path / 'run'} was written; the same command with --resume writes it again\n"
    assert err == told
    monkeypatch.undo()
    assert edhie(*options, "--resume") == (0, out, "")
