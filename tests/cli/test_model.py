"""`edhie model`: list and show; models by name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edhie.cli.options import complete_model
from edhie.generators import load, saving


@pytest.fixture
def library(model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shelf of shipped models with one on it."""
    shutil.copytree(model_folder, tmp_path / "shelf" / "nguyen-9")
    (tmp_path / "shelf" / "nguyen-9" / "README.md").write_text("# Nine\n\nlearnt from [nothing]\n", encoding="utf-8")
    monkeypatch.setattr(saving, "SHIPPED", tmp_path / "shelf")
    return tmp_path / "shelf"


@pytest.mark.usefixtures("library")
def test_list(edhie: Callable[..., Any], model_folder: Path) -> None:
    symbols = load(model_folder).library
    expected = f"name      kind  dimensions  symbols\nnguyen-9  hvae           4  {symbols}\n"
    assert edhie("model", "list") == (0, expected, "")


def test_the_list_of_what_is_there(edhie: Callable[..., Any]) -> None:
    code, out, err = edhie("model", "list")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[1:]] == saving.shipped_names()


@pytest.mark.usefixtures("library")
def test_models_by_name(edhie: Callable[..., Any], model_folder: Path) -> None:
    assert edhie("sample", "Nguyen-9").out == edhie("sample", model_folder).out != ""
    assert complete_model("ng") == complete_model("") == ["nguyen-9"]
    assert complete_model("x") == []
    result = edhie("sample", "nguyen-8")
    assert (result.code, result.out) == (1, "")
    assert result.err == "error: there is no model folder nguyen-8; did you mean 'nguyen-9'?\n"


@pytest.mark.usefixtures("library")
def test_show(edhie: Callable[..., Any], model_folder: Path) -> None:
    assert edhie("model", "show", "nguyen-9") == (0, "# Nine\n\nlearnt from [nothing]\n", "")
    code, out, err = edhie("model", "show", model_folder)
    assert (code, err) == (0, "")
    assert out.endswith("; it has no card\n")


def test_a_card_that_cannot_be_read(edhie: Callable[..., Any], library: Path) -> None:
    (library / "nguyen-9" / "README.md").write_bytes(b"\xff")
    code, out, err = edhie("model", "show", "nguyen-9")
    assert (code, out) == (1, "")
    assert err.startswith("error: the card of nguyen-9 cannot be read: ")
