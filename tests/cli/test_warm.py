"""`edhie warm`."""

from __future__ import annotations

from collections.abc import Callable
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
