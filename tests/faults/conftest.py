"""Small folders of every kind, and the command line in this process."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from edhie.cli import main
from kinds import make_one_of_each
from measurements import table


class Ended(NamedTuple):
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture
def edhie(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Run a command in this process."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["edhie", *map(str, arguments)])
        capsys.readouterr()
        before = signal.getsignal(signal.SIGTERM)
        with pytest.raises(SystemExit) as ended:
            main()
        assert signal.getsignal(signal.SIGTERM) is before
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """Sixty measurements of a cup that cools."""
    return table(tmp_path)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of every kind: corpus, training, model, run and results."""
    place = tmp_path_factory.mktemp("made")
    make_one_of_each(place)
    return place


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a copy of a folder of a kind, which may be damaged."""

    def copy(kind: str) -> Path:
        return Path(shutil.copytree(made / kind, tmp_path / "copies" / kind))

    return copy


@pytest.fixture
def commands(made: Path, cup: Path) -> dict[str, list[object]]:
    """Commands that write a folder, up to its name."""
    table = made / "corpus" / "expressions.txt"
    fit = ["--target", "T", "--search", "evolve", "--evaluations", 1500, "--quiet", "--no-report", "--out"]
    revise = ["--target", "T", "--evaluations", 60, "--quiet", "--out"]
    return {
        "fit": ["fit", cup, *fit],
        "fit --resume": ["fit", cup, "--resume", *fit],
        "revise": ["revise", "c*t + c", cup, *revise],
        "train": ["train", made / "corpus", "--hidden", 8, "--latent", 4, "--epochs", 2, "--out"],
        "bench": "bench nguyen --method hvar --problems NG-1 --runs 1 --evaluations 100 --out".split(),
        "corpus build": "corpus build --grammar trig --size 20 --max-height 3 --out".split(),
        "corpus import": ["corpus", "import", table, "--out"],
    }
