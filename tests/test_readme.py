"""The README's Python runs, and its first block prints what the README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
PYTHON = [text for language, text in BLOCKS if language == "python"]
OUTPUT = [text for language, text in BLOCKS if not language]


def test_first_block_prints_what_the_readme_shows(capsys: pytest.CaptureFixture[str]) -> None:
    exec(PYTHON[0], {})
    assert capsys.readouterr().out == OUTPUT[0]


@pytest.mark.parametrize("block", PYTHON[1:])
def test_other_blocks_run(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(block, {})
    assert capsys.readouterr().out
