"""The pages of the documentation, and the parts of a page that tests look at."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
NOT_RUN = "<!-- not run"
FENCE = re.compile(
    r"^(?P<before>[^\n]*)\n```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```$", flags=re.DOTALL | re.MULTILINE
)


class Block(NamedTuple):
    """A block of code: its language, its text, and whether it is to be run."""

    language: str
    text: str
    is_run: bool
    end: int


def blocks(page: Path) -> list[Block]:
    """All of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = FENCE.finditer(text)
    return [Block(m["language"], m["text"], not m["before"].startswith(NOT_RUN), m.end()) for m in found]


def prose(page: Path) -> str:
    """A page without its blocks of code, and without code in lines."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))


def hook(name: str) -> ModuleType:
    """A module of `docs/hooks`, which is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_hook_{name}", DOCS / "hooks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
