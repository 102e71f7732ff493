"""Generators that do not come along: begun once in the background, found by the next fit."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from edhie.discovery import background
from edhie.discovery.background import MARK, Wanted, corpus_of, train_now, trained_or_begun

FEW = Wanted(2, ("+", "*", "exp"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background.platformdirs, "user_cache_dir", lambda name: str(tmp_path))


def test_the_corpus_has_the_operators_asked_for_alone() -> None:
    forest = corpus_of(FEW, 300)
    assert len(forest.unique()) == len(forest) == 300
    assert set(forest.library.names) == {"+", "*", "exp", "x0", "x1", "c"}
    many = corpus_of(Wanted(8), 200)
    assert many.library.variables == tuple(f"x{k}" for k in range(8))


def test_what_comes_along_is_shipped() -> None:
    assert Wanted(6).is_shipped
    assert not Wanted(7).is_shipped
    assert not FEW.is_shipped


def test_it_is_begun_once_and_said(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("torch")
    begun: list[list[str]] = []
    monkeypatch.setattr(background.subprocess, "Popen", lambda command, **options: begun.append(command))
    with caplog.at_level(logging.WARNING, "edhie"):
        assert trained_or_begun(FEW) is None
        assert trained_or_begun(FEW) is None  # another one is at it
    assert len(begun) == 1
    assert "the operators +, *, exp is trained in the background" in caplog.text
    assert (FEW.folder / MARK).exists()


def test_once_trained_it_is_found() -> None:
    pytest.importorskip("torch")
    assert train_now(FEW, expressions=300, epochs=1) == FEW.folder
    assert FEW.is_there
    assert not (FEW.folder / MARK).exists()
    model = trained_or_begun(FEW)
    assert model is not None
    assert len(model.sample(5, np.random.default_rng(0))) == 5
