"""The examples run in a few seconds, draw what they say, and find what they say they find."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
Example = Callable[[str], str]
LEAST_PICTURE = 15_000  # bytes: an empty figure has less


@pytest.fixture(name="told")
def make_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Example:
    """Run an example in quick mode, and give what it printed; its pictures are in `tmp_path`."""

    def run(name: str) -> str:
        monkeypatch.setattr(sys, "argv", [name, "--quick", "--out", str(tmp_path)])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return run


def numbers(pattern: str, text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(pattern, text)]


def test_from_table_to_equation_finds_rydbergs_formula(told: Example, tmp_path: Path) -> None:
    text = told("from_table_to_equation")
    (rydberg,) = numbers(r"Rydberg's constant is ([\d,]+)", text)
    assert rydberg == pytest.approx(10_967_758, rel=3e-5)
    lyman, others = numbers(r"([+-]\d+) (?:on average|for all others)", text)
    assert 150 < lyman - others < 350  # the refraction of air
    lines = re.findall(r"not in the table: ([\d.]+) ± ([\d.]+) nm; measured: ([\d.]+)", text)
    assert len(lines) == 3
    for predicted, _, measured in lines:
        assert float(predicted) == pytest.approx(float(measured), rel=1e-4)
    assert "def wavelength(lower, upper):" in text
    assert (tmp_path / "hydrogen.png").stat().st_size > LEAST_PICTURE
    assert (tmp_path / "model").is_dir()


@pytest.mark.slow
def test_what_is_taught_helps(told: Example, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = told("teach_it_your_field")
    plain, taught = numbers(r"reached in (\d+) of 3", text)[:2]
    assert plain == 0
    assert taught >= 1
    missed = numbers(r"miss the law by (\d+)%", text)
    assert missed[1] < missed[0]
    assert missed[3] < missed[2]
    assert (tmp_path / "field.png").stat().st_size > LEAST_PICTURE


def test_revising_finds_inhibition_by_the_substrate(told: Example, tmp_path: Path) -> None:
    text = told("revise_a_law")
    assert "Verdict: the formula is not enough" in text
    (left,) = numbers(r"symbols from the law; it leaves ([\d.]+\d)", text)
    (refitted,) = numbers(r"with new constants, .* leaves ([\d.]+\d)\.", text)
    assert left < 0.1 * refitted
    (top, peak), *_ = re.findall(r"The rate is highest, ([\d.]+), at a concentration of ([\d.]+);", text)
    assert float(peak) == pytest.approx(30**0.5, rel=0.1)  # where d/dS S/(2 + S + S²/15) = 0
    assert float(top) == pytest.approx(10 * 30**0.5 / (4 + 30**0.5), rel=0.02)
    for name in ("revision.png", "difference.png"):
        assert (tmp_path / name).stat().st_size > LEAST_PICTURE
