"""The commands of `make reproduce`."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

import reproduce
from edhie.bench import runner, workers
from edhie.cli import main
from edhie.cli.terminal import UNAVAILABLE
from paper_items import RESULTS, items


def test_quick_commands_write_into_the_scratch_folder(capsys: pytest.CaptureFixture[str]) -> None:
    reproduce.main(["--list"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(set(lines)) > 10  # figures share a command, which is run once
    assert all("out/reproduce" in line for line in lines)


def test_one_item_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    reproduce.main(["--list", "--profile", "full", "--item", "noise"])
    assert capsys.readouterr().out == "python experiments/noise.py --results experiments/results\n"


def test_a_failed_command_is_reported_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, words_of = tmp_path / "two words", reproduce._words

    def harmless(command: str) -> list[str]:
        words = words_of(command)
        assert str(out) in words
        return ["sh", "-c", f"exit {UNAVAILABLE}"] if "proged" in words else ["false" if "hvar" in words else "true"]

    monkeypatch.setattr(reproduce, "_words", harmless)
    with pytest.raises(SystemExit, match="these commands failed:\nedhie bench nguyen --method hvar"):
        reproduce.main(["--item", "proged-hvar", "--out", str(out)])
    told = capsys.readouterr().out
    assert len(re.findall(r"^\d+ s$", told, re.MULTILINE)) == told.count("[") >= 2
    assert "left out, since a package is missing:\nedhie bench nguyen --method proged" in told


def test_a_missing_package_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "_words", lambda command: ["sh", "-c", f"exit {UNAVAILABLE}"])
    reproduce.main(["--item", "feynman", "--out", str(tmp_path)])


BENCHES = [command for item in items() for command in item.full if command.startswith("edhie bench")]


@pytest.mark.parametrize("command", [each for each in BENCHES if "pysr" not in each])
def test_committed_runs_are_not_repeated(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone has neither learning curves nor models nor other packages."""
    words = shlex.split(command)
    stem = f"{words[2]}-{words[words.index('--method') + 1]}"
    for path in RESULTS.glob(f"{stem}.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(runner, "check_installed", None)
    monkeypatch.setattr(runner, "needed_training", None)
    monkeypatch.setattr(workers, "submit", None)
    monkeypatch.setattr(sys, "argv", [*words[:-1], str(tmp_path)])
    with pytest.raises(SystemExit, match="0"):
        main()
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert files == {path.name: path.read_bytes() for path in RESULTS.glob(f"{stem}.*")}
