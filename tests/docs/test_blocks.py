"""The Python of the documentation runs, page by page; what is too slow to run compiles, and its imports are there."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

from docs.pages import DOCS, PAGES, ROOT, Block, blocks

INCLUDED = "--8<--"  # a script that has tests of its own


def python(page: Path) -> list[Block]:
    return [each for each in blocks(page) if each.language == "python" and INCLUDED not in each.text]


WITH_PYTHON = [page for page in PAGES if python(page)]


def name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def test_there_are_blocks() -> None:
    assert len(WITH_PYTHON) >= 5


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_python_runs_and_prints_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "examples" / "data" / "orbits.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}  # a page is read from top to bottom, and so it is run
    listed = blocks(page)
    for block, after in zip(listed, [*listed[1:], None], strict=True):
        if block not in python(page) or not block.is_run:
            continue
        exec(compile(block.text, str(page), "exec"), names)
        printed = capsys.readouterr().out
        assert printed
        if after is not None and after.language == "text":  # an output that is the same everywhere
            assert printed == after.text


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_python_compiles_and_its_imports_are_there(page: Path) -> None:
    for block in python(page):
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(str(node.module))
                assert all(hasattr(module, each.name) for each in node.names), ast.unparse(node)
            elif isinstance(node, ast.Import):
                assert all(importlib.util.find_spec(each.name) for each in node.names)
