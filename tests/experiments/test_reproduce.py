"""The commands of `make reproduce`."""

from __future__ import annotations

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
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce, "_words", lambda command: ["false" if "hvar" in command else "true"])
    with pytest.raises(SystemExit, match="these commands failed:\nedhie bench nguyen --method hvar"):
        reproduce.main(["--item", "proged-hvar", "--out", "out/reproduce-test"])
    assert capsys.readouterr().out.count(" s\n") == 2
