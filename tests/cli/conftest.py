"""Running the command line: inside this process, which is fast, or in one of its own, which is real."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from edhie.cli import main
from edhie.corpora import Corpus
from edhie.evaluate import Data
from edhie.fit import Settings, discover
from edhie.fit.run_folder import save as save_run
from edhie.generators import TrainConfig, save
from edhie.grammar import load as load_grammar
from measurements import table

COMMAND = [sys.executable, "-c", "from edhie.cli import main; main()"]


class Result(NamedTuple):
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "CLICOLOR_FORCE", "_EDHIE_COMPLETE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERMINAL_WIDTH", "160")


@pytest.fixture
def edhie(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a command in this process, written as on a command line but for its blanks."""

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["edhie", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        result = Result(code if isinstance(code, int) else int(code is not None), *capsys.readouterr())
        assert "Traceback" not in result.err
        assert "\x1b" not in result.out + result.err
        return result

    return run


@pytest.fixture
def environment() -> dict[str, str]:
    """For a process of its own that finds this edhie."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.fixture
def process(environment: dict[str, str]) -> Callable[..., Result]:
    """Run a command in a process of its own; keywords go into its environment."""

    def run(*arguments: object, **variables: str) -> Result:
        command = [*COMMAND, *map(str, arguments)]
        ended = subprocess.run(command, capture_output=True, env=environment | variables, timeout=120, check=False)
        return Result(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    return run


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of sixty small expressions."""
    forest = load_grammar("trig").sample(400, np.random.default_rng(0), max_height=3).unique()[:60]
    return Corpus("sixty", forest, {"grammar": "trig"}).save(tmp_path_factory.mktemp("corpora") / "sixty")


@pytest.fixture(scope="session")
def model_folder(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learnt next to nothing, and does all that models do."""
    from edhie.generators.train import train

    config = TrainConfig(hidden=8, latent=4, epochs=2, batch=16)
    model, _ = train(Corpus.load(corpus_folder).forest, config)
    return save(tmp_path_factory.mktemp("models") / "small", model, config)


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """Sixty measurements of a cup that cools."""
    return table(tmp_path)


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished fit of two columns, one of them with a name that is no identifier; not to be written to."""
    rng = np.random.default_rng(0)
    age, length = rng.uniform(1, 5, (2, 80))
    data = Data(
        np.array([age, length]), 3 * length * np.exp(-age) + 0.01 * rng.normal(size=80), None, ("age", "L (cm)")
    )
    settings = Settings(max_time=None, max_evaluations=1000, search="draw", guesses=["c*age + c"])
    return save_run(discover(data, settings), tmp_path_factory.mktemp("runs") / "run")
