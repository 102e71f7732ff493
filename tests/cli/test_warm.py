"""`edhie warm`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edhie.cli import warm as module
from edhie.expr import jit


def test_warm_compiles_then_searches_and_revises(edhie: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(module, "compile_parts", done.append)
    monkeypatch.setattr(module, "discover", lambda data, settings: done.append(settings.search))
    monkeypatch.setattr(module, "revise", lambda formula, data, settings: done.append("revise"))
    monkeypatch.setattr(jit, "note_compiled", lambda: done.append("noted"))
    monkeypatch.setattr(jit, "is_compiled", lambda: True)
    code, out, err = edhie("warm", "--jobs", 2)
    assert (code, err) == (0, "")
    assert done == [2, "noted", "mosaic", "evolve", "draw", "revise"]
    assert out.startswith("Compiled in ")
    assert edhie("warm", "--jobs", 0).code == 2


def test_nothing_can_be_kept(edhie: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path / "file"))
    code, out, err = edhie("warm")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: compiled code cannot be kept in {tmp_path / 'file'}; set NUMBA_CACHE_DIR")
