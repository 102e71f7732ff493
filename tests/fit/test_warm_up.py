"""Compiling before a timed search."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from edhie.fit import warm_up as module
from edhie.generators import load


def test_a_process_warms_up_once_for_each_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []

    def run(*given: Any, strategy: str, **more: Any) -> SimpleNamespace:
        searched.append(strategy)
        return SimpleNamespace(stopped="evaluations")

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(module, "_warm", set())
    generator = load("general-1")
    for strategy in ("mosaic", "mosaic", "draw", "mosaic"):
        module.warm_up(generator, generator.library, strategy)
    assert searched == ["mosaic", "draw"]
    monkeypatch.setattr(module, "run", lambda *given, **more: SimpleNamespace(stopped="interrupted"))
    with pytest.raises(KeyboardInterrupt):
        module.warm_up(generator, generator.library, "evolve")
    assert len(module._warm) == 2
