"""The commands of `make reproduce`."""

from __future__ import annotations

from pathlib import Path

import pytest

import reproduce


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
        return ["false" if "hvar" in words else "true"]

    monkeypatch.setattr(reproduce, "_words", harmless)
    with pytest.raises(SystemExit, match="these commands failed:\nedhie bench nguyen --method hvar"):
        reproduce.main(["--item", "proged-hvar", "--out", str(out)])
    assert capsys.readouterr().out.count(" s\n") == 2
