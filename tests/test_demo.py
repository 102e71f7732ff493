"""`make demo` finds the law that its data was made with, and draws it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


def test_the_demo_finds_the_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(DEMO), run_name="__main__")
    told = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("The shortest"))
    assert "exp(" in told
    assert "exp(-0.04*x0)" in told
    assert (tmp_path / "out" / "demo.png").stat().st_size > 10_000
