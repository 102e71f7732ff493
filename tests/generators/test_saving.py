"""Models in folders: odd names, and every kind of damage told as one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from safetensors.numpy import save as packed

from descriptions import unsealed
from disks import Disk
from edhie.errors import GeneratorError
from edhie.generators import HVAE, TrainConfig, load, save
from edhie.generators.base import Model
from edhie.generators.train import train
from edhie.grammar import load as load_grammar

CONFIG = TrainConfig(hidden=4, latent=3, epochs=1, device="cpu")


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    forest = load_grammar("trig").sample(200, np.random.default_rng(0), max_height=3).unique()[:40]
    return {
        kind: train(forest, TrainConfig.of(kind, hidden=4, latent=3, epochs=1, device="cpu"))[0]
        for kind in ("hvae", "gvae")
    }


@pytest.fixture
def model(models: dict[str, Model]) -> Model:
    return models["hvae"]


@pytest.fixture
def folder(model: Model, tmp_path: Path) -> Path:
    return save(tmp_path / "model", model, CONFIG)


def rewrite(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    unsealed(folder / "config.json")
    path = folder / "weights.safetensors"
    path.write_bytes(packed({name: np.ascontiguousarray(array) for name, array in change(load_file(path)).items()}))


@pytest.mark.parametrize("name", ["with a space", "ünï 😀", ":smile:", os.fsdecode(b"caf\xe9"), "-n"])
def test_folders_of_any_name(name: str, model: Model, tmp_path: Path) -> None:
    made = save(tmp_path / name, model, CONFIG, card=f"# {tmp_path / name}\n")
    assert load(made).library == model.library


@pytest.mark.parametrize("name", ["a" * 5000, "a\0b", "", "../nowhere"])
def test_what_cannot_be_a_folder_is_told(name: str) -> None:
    with pytest.raises(GeneratorError, match=r"no model folder|is not a model"):
        load(name)


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_others_may_read_it_where_the_user_lets_them(folder: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    assert all(path.stat().st_mode & 0o777 == 0o666 & ~mask for path in folder.iterdir())


def test_a_model_that_cannot_be_overwritten_stays(folder: Path, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        disk = Disk(patched)
        disk.is_full_for = lambda path: True
        with pytest.raises(GeneratorError, match=r"cannot write the model to .*: No space left on device"):
            save(folder, model, CONFIG)
    assert load(folder).library == model.library
    assert not (folder / ".part").exists()


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_weights_of_another_precision_are_taken(folder: Path, model: Model, dtype: type) -> None:
    rewrite(folder, lambda weights: {name: array.astype(dtype) for name, array in weights.items()})
    loaded = load(folder)
    codes = np.zeros((2, 3), dtype=np.float32)
    assert {array.dtype for array in loaded.weights.values()} == {np.dtype(np.float32)}
    assert list(loaded.decode(codes).forest) == list(model.decode(codes).forest)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: {name: array.astype(np.int32) for name, array in weights.items()}, "holds int32"),
        (lambda weights: weights | {"more": np.ones(2, np.float32)}, "has no weights named more"),
        (lambda weights: weights | {"root_b": weights["root_b"] * np.nan}, "root_b holds values that are not finite"),
        (lambda weights: weights | {"mean_w": np.ones(3, np.float32)}, "not the weights of a model"),
        (lambda weights: weights | {"up_w_i": np.ones((2, 2), np.float32)}, "up_w_i has the shape"),
        (lambda weights: {}, "not the weights of a model"),
    ],
    ids=["integers", "more", "nan", "a row", "shape", "none"],
)
def test_wrong_weights_are_told(folder: Path, change: Callable[[Any], Any], message: str) -> None:
    rewrite(folder, change)
    with pytest.raises(GeneratorError, match=message):
        load(folder)


def test_truncated_weights_and_those_that_numpy_has_not_are_told(folder: Path, model: HVAE) -> None:
    from safetensors.torch import save as packed_by_torch

    path = folder / "weights.safetensors"
    content = path.read_bytes()
    halved = {name: torch.tensor(weight).bfloat16() for name, weight in model.weights.items()}
    for damaged in (b"", content[:4], content[:50], content[:-1], packed_by_torch(halved)):
        path.write_bytes(damaged)
        with pytest.raises(GeneratorError, match="is damaged"):
            load(folder)


def test_symbols_in_another_order_are_told(folder: Path) -> None:
    path = folder / "symbols.json"
    unsealed(folder / "config.json")
    symbols = json.loads(path.read_text())
    symbols["symbols"].reverse()
    path.write_text(json.dumps(symbols))
    with pytest.raises(GeneratorError, match="has not the symbols of the weights, in their order"):
        load(folder)


@pytest.mark.parametrize(
    "change",
    [{"model": ["hvae"]}, {"model": None}, {"format": "1"}, {"settings": None}, {"settings": [1]}, {"settings": "x"}],
    ids=str,
)
def test_a_description_of_wrong_types_is_told(folder: Path, change: dict[str, Any]) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(unsealed(path) | change))
    with pytest.raises(GeneratorError, match=r"config\.json"):
        load(folder)


def test_a_description_without_end_is_told(folder: Path) -> None:
    (folder / "config.json").write_text("[" * 100_000)
    with pytest.raises(GeneratorError, match=r"config\.json is damaged"):
        load(folder)


@pytest.mark.parametrize("length", [float("inf"), -1, 0, "x", None, 1e30])
def test_lengths_of_no_sequence_are_told(models: dict[str, Model], tmp_path: Path, length: object) -> None:
    folder = save(tmp_path / "gvae", models["gvae"], CONFIG)
    path = folder / "config.json"
    description = unsealed(path)
    description["settings"]["length"] = length
    path.write_text(json.dumps(description))
    with pytest.raises(GeneratorError, match=r"damaged|cannot be read"):
        load(folder)


@pytest.mark.parametrize("name", ["mean.weight", "convolution_2.bias", "recurrent.weight_ih_l7"])
def test_wrong_weights_of_sequences_are_told(models: dict[str, Model], tmp_path: Path, name: str) -> None:
    folder = save(tmp_path / "gvae", models["gvae"], CONFIG)
    rewrite(
        folder,
        lambda weights: (
            weights | {name: np.array(1, np.float32).reshape(1) if "mean" in name else np.array(1, np.float32)}
        ),
    )
    with pytest.raises(GeneratorError, match=r"damaged|cannot be read"):
        load(folder)
