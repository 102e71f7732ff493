"""Folders of models, runs and corpora, whose digests are taken out so that damage reaches the readers."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from edhie.corpora import Corpus
from edhie.evaluate import Data
from edhie.expr.standard_libraries import nguyen
from edhie.fit import Settings, discover
from edhie.fit.run_folder import load as load_run
from edhie.fit.run_folder import save as save_run
from edhie.generators import TrainConfig, save
from edhie.generators import load as load_model
from edhie.generators.hvae.hvae import HVAE, shapes
from edhie.grammar import load as load_grammar
from edhie.search.checkpoint import read_unfinished
from edhie.storage import CHECKSUM, FILES
from fuzz.kind import Kind, temporary
from fuzz.mutation import changed_json, damaged, mutated

HIDDEN, LATENT = 8, 4
MOST_EQUATIONS = 100  # that are printed: each takes a millisecond
PIECES = ("{", "}", "[", "]", ",", ":", '"', "null", "1", "-1", "x", "\n", '"format"', "1e999", "+", "*", "sin(", ")")
DESCRIPTIONS = ("config.json", "corpus.json", "discovery.json", "result.json", "run.json")
SHA = "sha256"

Files = dict[str, bytes]


def make_model(place: Path) -> None:
    library, rng = nguyen(2), np.random.default_rng(0)
    expected = shapes(len(library), HIDDEN, LATENT)
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in expected.items()}
    save(place, HVAE(library, weights), TrainConfig(hidden=HIDDEN, latent=LATENT))


def make_corpus(place: Path) -> None:
    forest = load_grammar("trig").sample(60, np.random.default_rng(0), max_height=3).unique()[:20]
    Corpus("twenty", forest).save(place)


def make_run(place: Path) -> None:
    x = np.linspace(1, 5, 12)
    data = Data(x[np.newaxis], 3 * np.exp(-x) + 0.01 * np.sin(40 * x), None, ("x",))
    save_run(discover(data, Settings(max_time=None, max_evaluations=40, search="draw"), folder=place), place)


@cache
def seed(make: Callable[[Path], None]) -> Files:
    """Return the files of a sound folder, without digests."""
    with temporary() as made:
        folder = Path(made) / "folder"
        make(folder)
        found = {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file() and each.name[0] != "."}
    for name in DESCRIPTIONS:
        if name in found:
            description = json.loads(found[name])
            found[name] = json.dumps({k: v for k, v in description.items() if k not in (CHECKSUM, FILES)}).encode()
    return found


def damage(make: Callable[[Path], None], *names: str) -> Callable[[random.Random], Files]:
    """Return a maker of folders in which one or two of these files are damaged."""

    def made(rng: random.Random) -> Files:
        files = dict(seed(make))
        chosen = [name for name in names if name in files]
        for name in rng.sample(chosen, 2 if rng.random() < 0.1 else 1):
            files[name] = changed(rng, name, files[name])
            _seal(files, name)
        return files

    return made


def changed(rng: random.Random, name: str, content: bytes) -> bytes:
    """Return the content of a file after changes that suit its format."""
    if rng.random() < 0.15 or name.endswith(".npz"):
        return damaged(rng, content)
    if name.endswith(".safetensors") and len(content) > 8:
        length = int.from_bytes(content[:8], "little")
        header = changed_json(rng, json.loads(content[8 : 8 + length])).encode(errors="surrogatepass")
        return len(header).to_bytes(8, "little") + header + content[8 + length :]
    text = content.decode(errors="replace")
    if name.endswith(".json"):
        text = changed_json(rng, json.loads(text))
    elif name.endswith(".jsonl"):
        lines = text.splitlines()
        at = rng.randrange(len(lines))
        text = "\n".join([*lines[:at], changed_json(rng, json.loads(lines[at])), *lines[at + 1 :]])
    else:
        text = mutated(rng, (text,), PIECES)
    return text.encode(errors="surrogatepass")


def _seal(files: Files, name: str) -> None:
    """Write the digest that a description keeps of a file anew, so that the file is read."""
    for described, kept in (("corpus.json", "expressions.txt"), ("result.json", "candidates.jsonl")):
        if name == kept and described in files:
            with suppress(ValueError, TypeError, RecursionError):  # where the description is damaged, too
                description = json.loads(files[described])
                files[described] = json.dumps(description | {SHA: hashlib.sha256(files[kept]).hexdigest()}).encode()


def written(given: Files, place: Path) -> Path:
    folder = place / "folder"
    folder.mkdir(exist_ok=True)
    for each in folder.iterdir():
        if each.name not in given:
            each.unlink()
    for name, content in given.items():
        (folder / name).write_bytes(content)
    return folder


def read_model(given: Files, rng: random.Random, place: Path) -> None:
    """Load a model and draw from it."""
    assert len(load_model(written(given, place)).sample(2, np.random.default_rng(0))) <= 2


def read_corpus(given: Files, rng: random.Random, place: Path) -> None:
    assert len(Corpus.load(written(given, place))) >= 0


def read_run(given: Files, rng: random.Random, place: Path) -> None:
    """Load a run as `edhie show` and `edhie predict` do, or a search that did not end."""
    folder = written(given, place)
    if rng.random() < 0.2:
        read_unfinished(folder)
        return
    found = load_run(folder, whole=rng.random() < 0.5)
    for each in found.equations[:MOST_EQUATIONS]:
        each.text()
        each.predict(found.train.columns)


def whole(make: Callable[[Path], None], read: Callable[[Files, random.Random, Path], None]) -> Callable[[Path], None]:
    """Return a function that reads the sound folder, in all ways."""

    def read_it(place: Path) -> None:
        for number in range(12):
            read(seed(make), random.Random(number), place)

    return read_it


RUN = (
    "discovery.json", "data.safetensors", "result.json", "candidates.jsonl", "symbols.json", "history.csv", "run.json",
    "checkpoint.npz",
)  # fmt: skip
KINDS = (
    Kind(
        "folder (model)",
        20,
        damage(make_model, "config.json", "symbols.json", "weights.safetensors"),
        read_model,
        whole(make_model, read_model),
    ),
    Kind(
        "folder (corpus)",
        20,
        damage(make_corpus, "corpus.json", "expressions.txt"),
        read_corpus,
        whole(make_corpus, read_corpus),
    ),
    Kind("folder (run)", 20, damage(make_run, *RUN), read_run, whole(make_run, read_run)),
)
