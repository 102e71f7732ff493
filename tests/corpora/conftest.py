"""Corpora that several tests look at, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from edhie.corpora import Recipe, build

SMALL = Recipe("trig", 300, 4, simplify=True, name="small")  # of more than one round


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small simplified corpus."""
    folder = tmp_path_factory.mktemp("built") / "small"
    build(SMALL, folder, workers=2)
    return folder
