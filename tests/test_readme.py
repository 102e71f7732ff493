"""The README's Python prints what the README shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(name: str) -> list[tuple[str, str]]:
    """Return language and text of the code blocks of a page."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def test_first_block_prints_what_the_readme_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (_, code), (_, output) = [each for each in blocks("README.md") if each[0] in ("python", "")][:2]
    exec(code, {})
    assert capsys.readouterr().out == output
