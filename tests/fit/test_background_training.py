"""Generators that do not come along: begun once in the background, found by the next fit."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.errors import InUseError
from edhie.evaluate import Data
from edhie.fit import Settings, background_training, discover
from edhie.fit.background_training import FAILED, Wanted, corpus_of, train_now, trained_or_started
from edhie.generators import load
from edhie.generators.saving import TRAINING

FEW = Wanted(2, ("+", "*", "exp"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_training.platformdirs, "user_cache_dir", lambda name: str(tmp_path))


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


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands of trainings that were begun, none of which runs."""
    pytest.importorskip("torch")
    commands: list[list[str]] = []
    monkeypatch.setattr(background_training, "_start", commands.append)
    return commands


def test_it_is_started_unless_another_process_trains_it(
    begun: list[list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "edhie"):
        assert trained_or_started(FEW) is None
    assert len(begun) == 1
    assert "the operators +, *, exp is trained in the background" in caplog.text
    with TRAINING.in_use(FEW.folder), ThreadPoolExecutor(1) as other:  # a lock is of a thread
        assert other.submit(trained_or_started, FEW).result() is None
        with pytest.raises(InUseError):
            other.submit(train_now, FEW, expressions=50, epochs=1).result()
    assert not (FEW.folder / FAILED).exists()
    assert len(begun) == 1
    assert trained_or_started(FEW) is None  # a process that was killed holds no lock
    assert len(begun) == 2


def test_where_no_process_can_be_started_the_next_fit_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")

    def fail(command: list[str]) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(background_training, "_start", fail)
    assert trained_or_started(FEW) is None


def test_what_went_wrong_is_told_and_not_tried_at_every_fit(
    begun: list[list[str]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("no device")

    monkeypatch.setattr("edhie.generators.train.train", fail)
    with pytest.raises(RuntimeError):
        train_now(FEW, expressions=50, epochs=1)
    with caplog.at_level(logging.INFO, "edhie"):
        assert trained_or_started(FEW) is None
    assert f"could not be trained; the reason is in {FEW.folder / FAILED}" in caplog.text
    assert "no device" in (FEW.folder / FAILED).read_text()
    assert begun == []
    os.utime(FEW.folder / FAILED, (0, 0))
    assert trained_or_started(FEW) is None
    assert len(begun) == 1


def test_without_torch_it_is_said_what_would_help(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background_training.importlib.util, "find_spec", lambda name: None)
    with caplog.at_level(logging.INFO, "edhie"):
        assert trained_or_started(Wanted(7)) is None
    assert "with torch (pip install 'edhie[train]') a generator for 7 variables would be trained" in caplog.text
    assert not Wanted(7).folder.exists()


def test_a_damaged_one_ends_no_fit(caplog: pytest.LogCaptureFixture) -> None:
    FEW.folder.mkdir(parents=True)
    (FEW.folder / "config.json").write_text("{}")
    assert trained_or_started(FEW) is None
    assert f"delete {FEW.folder} to train it again" in caplog.text


def own_children() -> set[str]:
    """The processes that this one would have to wait for."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended while we looked
            if path.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.add(path.parent.name)
    return found


@pytest.mark.skipif(not Path("/proc").exists(), reason="there is no list of processes")
def test_no_process_is_left_for_somebody_to_wait_for(tmp_path: Path) -> None:
    done, before = tmp_path / "done", own_children()
    background_training._start([sys.executable, "-c", f"import pathlib; pathlib.Path({str(done)!r}).touch()"])
    deadline = time.monotonic() + 30
    while not done.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert done.exists()
    assert own_children() <= before


def test_once_trained_it_is_found() -> None:
    pytest.importorskip("torch")
    assert train_now(FEW, expressions=300, epochs=1) == FEW.folder
    assert trained_or_started(FEW) == FEW.folder
    assert len(load(FEW.folder).sample(5, np.random.default_rng(0))) == 5


# -- a search that goes on ------------------------------------------------------------


def test_a_search_goes_on_with_the_generator_that_it_began_with(tmp_path: Path, begun: list[list[str]]) -> None:
    columns = np.random.default_rng(0).uniform(1, 2, (2, 40))
    data = Data(columns, np.exp(columns[0]) + 0.1 * np.sin(9 * columns[1]), None, ("a", "b"))
    settings = Settings(max_time=60, operators=["+", "*", "exp"], target_error=1e9)

    def search(folder: str, **options: Any) -> str:
        discover(data, settings, folder=tmp_path / folder, **options)
        return str(json.loads((tmp_path / folder / "run.json").read_text())["asked"]["generator"])

    assert search("first") == "general-2"
    assert len(begun) == 1
    train_now(FEW, expressions=300, epochs=1)
    assert search("first", resume=True) == "general-2"  # another one would be refused
    assert search("second") == str(FEW.folder)
    assert search("second", resume=True) == str(FEW.folder)
