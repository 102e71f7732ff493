"""`make demo` finds Kepler's third law in the orbits, and draws and reports it."""

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
    lines = capsys.readouterr().out.splitlines()
    told = next(line for line in lines if line.startswith("The shortest"))
    assert any(line.startswith("│") and told.partition(" = ")[2] in line for line in lines)  # in the table too
    assert "0.00889" in told
    assert "axis" in told
    assert "mass" in told
    assert (tmp_path / "out" / "demo.png").stat().st_size > 10_000
    assert "<math" in (tmp_path / "out" / "demo.html").read_text(encoding="utf-8")
