"""A file that is cut short, or in which one bit is another: an error, or all is read as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from descriptions import unsealed
from edhie.bench.runner import run_benchmark
from edhie.corpora import Corpus
from edhie.errors import EdhieError
from edhie.fit.run_folder import load as load_run
from edhie.generators import load as load_model
from edhie.generators.saving import read_state
from edhie.search.checkpoint import read_unfinished
from edhie.storage import FolderFormat
from kinds import PLAN, without_seconds

FLIPS = 12  # in each file


def model_in(folder: Path) -> object:
    model = load_model(folder)
    return model.kind, model.library.names, {name: weight.tobytes() for name, weight in model.weights.items()}


def corpus_in(folder: Path) -> object:
    corpus = Corpus.load(folder)
    return corpus.name, dict(corpus.provenance), [str(expr) for expr in corpus.forest]


def run_in(folder: Path) -> object:
    found = load_run(folder)
    result = found.result
    return (
        found.chosen, [each.as_json() for each in found.equations], found.train.columns.tobytes(), found.columns,
        result.candidates.errors.tobytes(), asdict(result.counts), result.seconds, result.history.error.tobytes(),
        [str(each.expr) for each in result.front],
    )  # fmt: skip


def training_in(folder: Path) -> object:
    state = read_state(folder)
    assert state is not None
    return state[0], {name: array.tobytes() for name, array in state[1].items()}


def checkpoint_in(folder: Path) -> object:
    found = read_unfinished(folder)
    assert found is not None
    return found.executed, found.seconds, [str(each.expr) for each in found.front], found.front.errors.tobytes()


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "model": ("model", model_in),
    "corpus": ("corpus", corpus_in),
    "run": ("run", run_in),
    "training": ("training", training_in),
    "checkpoint": ("run", checkpoint_in),
}


def damages(content: bytes) -> list[bytes]:
    """Return the content cut short at some places, and with one bit changed at some."""
    rng = np.random.default_rng(len(content))
    cut = [content[: int(place)] for place in rng.integers(0, len(content), 3)]
    changed = []
    for place in rng.integers(0, len(content), FLIPS).tolist():
        copy = bytearray(content)
        copy[place] ^= 1 << int(rng.integers(8))
        changed.append(bytes(copy))
    return cut + changed


def read_or_refused(read: Callable[[Path], object], folder: Path) -> object:
    try:
        return read(folder)
    except EdhieError as error:
        return error


@pytest.mark.parametrize("kind", READERS)
def test_damage_is_found_or_does_no_harm(kind: str, copied: Callable[[str], Path]) -> None:
    name, read = READERS[kind]
    folder = copied(name)
    whole, refused = read(folder), 0
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size):
        content = path.read_bytes()
        for damaged in damages(content):
            path.write_bytes(damaged)
            found = read_or_refused(read, folder)
            assert found == whole or str(folder) in str(found), f"{path.name} was changed, and nobody noticed"
            refused += isinstance(found, EdhieError)
        path.write_bytes(content)
    assert refused > FLIPS
    assert read(folder) == whole


def test_a_damaged_row_of_a_benchmark_is_run_again(copied: Callable[[str], Path]) -> None:
    folder = copied("results")
    path = folder / "nguyen-hvar.csv"
    whole, text = without_seconds(path), path.read_text()
    for damaged in (text.replace("NG-1,hvar,1,1,", "NG-1,hvar,1,7,"), text[:-30], text[: text.index("\n") + 5]):
        path.write_text(damaged)
        assert without_seconds(run_benchmark(PLAN, folder).path) == whole
    settings = folder / "nguyen-hvar.json"
    settings.write_text(settings.read_text()[:-20])
    with pytest.raises(EdhieError, match=r"nguyen-hvar\.json is damaged"):
        run_benchmark(PLAN, folder)


def test_folders_of_earlier_releases_have_no_digests(copied: Callable[[str], Path]) -> None:
    folder = copied("corpus")
    unsealed(folder / "corpus.json")
    assert len(Corpus.load(folder)) == 40


def test_a_write_that_was_killed_between_its_steps_is_finished_by_the_next_reader(tmp_path: Path) -> None:
    thing = FolderFormat("thing", 1, "thing.json", EdhieError, "make it again")
    thing.write(tmp_path, {"name": "old"}, {"a": "old"})
    (tmp_path / ".part").mkdir()
    for name, content in thing.files({"name": "new"}, {"a": "new", "b": "new"}).items():
        (tmp_path / ".part" / name).write_bytes(content)
    assert thing.read(tmp_path, "a")["name"] == "old"  # it was killed before: nothing has changed yet
    (tmp_path / "thing.json").unlink()
    (tmp_path / ".part" / "a").replace(tmp_path / "a")
    assert thing.read(tmp_path, "a", "b")["name"] == "new"
    assert not (tmp_path / ".part").exists()
