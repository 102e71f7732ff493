"""The table of concepts names files that are there, and enough of them."""

from __future__ import annotations

import re

import pytest

from docs.pages import DOCS, ROOT

TEXT = (DOCS / "architecture.md").read_text(encoding="utf-8")
TABLE = TEXT[TEXT.index("## Where to find what") : TEXT.index("## Packages")]
FILES = re.findall(r"^\| ([^|]+) \| `([\w/]+\.py)` \|$", TABLE, flags=re.MULTILINE)


def test_there_are_concepts() -> None:
    assert len(FILES) >= 20
    assert len({concept for concept, _ in FILES}) == len(FILES)


@pytest.mark.parametrize(("concept", "file"), FILES)
def test_the_file_of_a_concept_is_there(concept: str, file: str) -> None:
    assert (ROOT / "src/edhie" / file).is_file(), concept
