"""Training learns, goes on after a stop as if there had been none, and is saved whole."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.expr.distance import edit_distances
from edhie.generators import HVAE, TrainConfig, load, save
from edhie.generators.train import Epoch, train
from edhie.grammar import load as load_grammar

CONFIG = TrainConfig(hidden=24, latent=12, epochs=4, batch=32, seed=3)


@pytest.fixture(scope="module")
def forest() -> Forest:
    drawn = load_grammar("trig").sample(2000, np.random.default_rng(0), max_height=4).unique()
    return drawn[:300]


@pytest.fixture(scope="module")
def trained(forest: Forest) -> tuple[HVAE, list[Epoch]]:
    return train(forest, CONFIG)


def same_weights(a: HVAE, b: HVAE) -> bool:
    return all(np.array_equal(a.weights[name], b.weights[name]) for name in a.weights)


def test_training_learns(forest: Forest) -> None:
    model, history = train(forest, replace(CONFIG, epochs=100, hidden=48))
    assert history[-1].reconstruction < 0.2 * history[0].reconstruction
    decoded = model.decode(model.encode(forest)[0]).forest
    assert edit_distances(forest, decoded).mean() < 0.5


def test_same_seed_same_weights_whatever_the_global_seed(forest: Forest, trained: tuple[HVAE, list[Epoch]]) -> None:
    import torch

    torch.manual_seed(99)
    assert same_weights(train(forest, CONFIG)[0], trained[0])
    assert not same_weights(train(forest, replace(CONFIG, seed=4))[0], trained[0])


def test_a_stopped_training_goes_on_as_if_it_had_not_been(
    forest: Forest, trained: tuple[HVAE, list[Epoch]], tmp_path: Path
) -> None:
    def stop(record: Epoch, total: int) -> None:
        if record.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(forest, CONFIG, folder=tmp_path, on_epoch=stop)
    seen: list[int] = []
    model, history = train(forest, CONFIG, folder=tmp_path, on_epoch=lambda record, total: seen.append(record.epoch))
    assert seen == [2, 3]
    assert len(history) == CONFIG.epochs
    assert same_weights(model, trained[0])


def test_another_configuration_does_not_go_on_from_it(forest: Forest, tmp_path: Path) -> None:
    train(forest, replace(CONFIG, epochs=1), folder=tmp_path)
    with pytest.raises(GeneratorError, match="another configuration"):
        train(forest, CONFIG, folder=tmp_path)
    (tmp_path / "training.safetensors").write_text("{")
    with pytest.raises(GeneratorError, match="damaged"):
        train(forest, CONFIG, folder=tmp_path)


def test_fine_tuning_moves_towards_what_it_is_given(forest: Forest) -> None:
    base, _ = train(forest, replace(CONFIG, epochs=20))
    few = forest[:20]
    tuned, history = train(few, replace(CONFIG, epochs=30, validation=0.0), start=base)
    assert history[0].reconstruction < 8
    assert np.isnan(history[0].validation)

    def error(model: HVAE) -> float:
        return float(edit_distances(few, model.decode(model.encode(few)[0]).forest).mean())

    assert error(tuned) < error(base)
    with pytest.raises(GeneratorError, match="hidden size 24"):
        train(few, replace(CONFIG, hidden=25), start=base)


def test_weights_decide_what_is_learnt(forest: Forest) -> None:
    pair = forest[forest.sizes == 5][:40]
    weights = np.r_[np.ones(20), np.zeros(20)]
    model, _ = train(pair, replace(CONFIG, epochs=60, validation=0.0), weights=weights)
    errors = edit_distances(pair, model.decode(model.encode(pair)[0]).forest)
    assert errors[:20].mean() < errors[20:].mean()
    with pytest.raises(GeneratorError, match="40 numbers"):
        train(pair, CONFIG, weights=np.ones(3))


def test_patience_stops_early(forest: Forest) -> None:
    config = replace(CONFIG, epochs=200, patience=2, learning_rate=0.05, validation=0.3)
    _, history = train(forest, config)
    assert len(history) < 200


def test_save_and_load_decode_the_same(trained: tuple[HVAE, list[Epoch]], tmp_path: Path) -> None:
    save(tmp_path / "model", trained[0], CONFIG, card="# A model\n")
    loaded = load(tmp_path / "model")
    codes = np.random.default_rng(0).standard_normal((200, 12)).astype(np.float32)
    assert loaded.library == trained[0].library
    assert list(loaded.decode(codes).forest) == list(trained[0].decode(codes).forest)


def test_a_wrong_or_damaged_folder_is_told(trained: tuple[HVAE, list[Epoch]], tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match="no model folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(GeneratorError, match=r"has no config\.json"):
        load(tmp_path)
    folder = save(tmp_path / "model", trained[0], CONFIG)
    config = (folder / "config.json").read_text()
    for text, message in (
        ("{", "damaged"),
        (config.replace('"format": 1', '"format": 9'), "format 9"),
        (config.replace('"hvae"', '"xvae"'), "unknown kind of model, 'xvae'"),
    ):
        (folder / "config.json").write_text(text)
        with pytest.raises(GeneratorError, match=message):
            load(folder)
    (folder / "config.json").write_text(config)
    symbols = json.loads((folder / "symbols.json").read_text())
    symbols["symbols"].pop()
    (folder / "symbols.json").write_text(json.dumps(symbols))
    with pytest.raises(GeneratorError, match="up_w_i has the shape"):
        load(folder)
    (folder / "weights.safetensors").write_bytes(b"garbage")
    with pytest.raises(GeneratorError, match="damaged"):
        load(folder)


def test_a_saved_model_works_where_torch_cannot_be_imported(trained: tuple[HVAE, list[Epoch]], tmp_path: Path) -> None:
    folder = save(tmp_path / "model", trained[0], CONFIG)
    code = f"""
import sys
sys.modules["torch"] = None
import numpy as np
from edhie.generators import load
model = load({str(folder)!r})
forest = model.sample(20, np.random.default_rng(0))
assert len(model.encode(forest)[0]) == 20
try:
    import edhie.generators.train
except Exception as error:
    print(error)
"""
    out = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert "pip install 'edhie[train]'" in out


def test_bad_configurations_are_told(forest: Forest) -> None:
    for bad, message in (
        ({"latent": 0}, "latent must be at least 1"),
        ({"learning_rate": 2.0}, "learning_rate"),
        ({"schedule": "ramps"}, "did you mean 'ramp'"),
        ({"validation": 1.0}, "validation"),
        ({"divergence": -1.0}, "negative"),
    ):
        with pytest.raises(GeneratorError, match=message):
            replace(CONFIG, **bad)
    with pytest.raises(GeneratorError, match="empty"):
        train(forest[:0], CONFIG)
