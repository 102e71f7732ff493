"""Training learns, goes on after a stop as if there had been none, and is saved whole."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from descriptions import unsealed
from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.expr.distance import edit_distances
from edhie.generators import HVAE, TrainConfig, load, save
from edhie.generators.hvae.network import HVAENetwork
from edhie.generators.saving import epochs_done, read_state, write_state
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


def test_a_training_goes_on_where_there_are_other_threads(
    forest: Forest, trained: tuple[HVAE, list[Epoch]], tmp_path: Path
) -> None:
    def stop(record: Epoch, total: int) -> None:
        if record.epoch == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(forest, replace(CONFIG, threads=2), folder=tmp_path, on_epoch=stop)
    model, history = train(forest, replace(CONFIG, device="cpu"), folder=tmp_path)
    assert len(history) == CONFIG.epochs
    for name, weight in trained[0].weights.items():
        np.testing.assert_allclose(model.weights[name], weight, atol=1e-3)


def test_batches_that_weigh_nothing_are_no_steps_when_a_training_goes_on(forest: Forest, tmp_path: Path) -> None:
    config = replace(CONFIG, batch=4, validation=0.0)
    weights = np.zeros(len(forest))
    weights[:5] = 1

    def stop(record: Epoch, total: int) -> None:
        if record.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(forest, config, weights=weights, folder=tmp_path, on_epoch=stop)
    gone_on = train(forest, config, weights=weights, folder=tmp_path)[0]
    assert same_weights(gone_on, train(forest, config, weights=weights)[0])


def test_a_kept_state_that_lacks_something_is_told(forest: Forest, tmp_path: Path) -> None:
    train(forest, replace(CONFIG, epochs=1), folder=tmp_path)
    state = read_state(tmp_path)
    assert state is not None
    description, arrays = state
    for change in ({"exp_avg.mean_w": None}, {"weight.mean_w": np.zeros((2, 2), np.float32)}):
        kept = {name: array for name, array in (arrays | change).items() if array is not None}
        write_state(tmp_path, description, kept)
        with pytest.raises(GeneratorError, match=r"damaged: .*; delete it and train again"):
            train(forest, replace(CONFIG, epochs=1), folder=tmp_path)
    write_state(tmp_path, [], arrays)  # type: ignore[arg-type]
    with pytest.raises(GeneratorError, match=r"damaged: .*; delete it and train again"):
        train(forest, replace(CONFIG, epochs=1), folder=tmp_path)


def test_the_reference_backend_learns_the_same(forest: Forest) -> None:
    few, config = forest[:12], replace(CONFIG, epochs=2, batch=6, validation=0.0)
    fast, slow = (train(few, replace(config, backend=backend))[0] for backend in ("fast", "reference"))
    for name, weight in fast.weights.items():
        np.testing.assert_allclose(slow.weights[name], weight, atol=1e-4)
    with pytest.raises(GeneratorError, match="a gvae has none"):
        TrainConfig.of("gvae", backend="reference")


def test_torch_is_left_as_it_was(forest: Forest) -> None:
    import torch

    threads, state = torch.get_num_threads(), torch.get_rng_state()
    with torch.no_grad():
        train(forest, replace(CONFIG, epochs=1, threads=threads + 1))
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)
    with torch.inference_mode():
        train(forest, replace(CONFIG, epochs=1))


def test_a_loss_that_is_no_number_ends_the_training_and_what_was_before_is_kept(
    forest: Forest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses, calls = HVAENetwork.losses, iter(range(1000))
    steps = 10  # of an epoch: nine batches and the validation

    def failing(self: HVAENetwork, *arguments: Any) -> Any:
        errors, divergences = losses(self, *arguments)
        return (errors * float("nan") if next(calls) == 2 * steps + 3 else errors), divergences

    monkeypatch.setattr(HVAENetwork, "losses", failing)
    with pytest.raises(GeneratorError, match="failed in epoch 3 of 4: the loss is nan; lower learning_rate"):
        train(forest, CONFIG, folder=tmp_path)
    assert epochs_done(tmp_path) == 2
    assert all(np.isfinite(array).all() for array in load_file(tmp_path / "training.safetensors").values())


def test_weights_that_are_no_numbers_end_the_training_though_the_last_loss_was_one(
    forest: Forest, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    step = torch.optim.Adam.step

    def failing(self: Any, *arguments: Any) -> Any:
        result = step(self, *arguments)
        with torch.no_grad():
            self.param_groups[0]["params"][0].fill_(float("nan"))
        return result

    monkeypatch.setattr(torch.optim.Adam, "step", failing)
    with pytest.raises(GeneratorError, match="failed in epoch 1 of 4: the weights are no numbers"):
        train(forest, replace(CONFIG, batch=1000))


def test_seeds_of_any_size(forest: Forest) -> None:
    assert np.isfinite(train(forest, replace(CONFIG, epochs=1, seed=10**30))[1][0].loss)


def test_a_configuration_may_hold_numpy_s_numbers(forest: Forest, tmp_path: Path) -> None:
    config = replace(CONFIG, epochs=1, hidden=np.int64(24), seed=np.int64(3), learning_rate=np.float32(0.01))
    model, _ = train(forest, config, folder=tmp_path / "kept")
    assert load(save(tmp_path / "model", model, config)).hidden_dim == 24


def test_patience_needs_expressions_kept_aside(forest: Forest) -> None:
    with pytest.raises(GeneratorError, match="patience needs held-out expressions"):
        train(forest, replace(CONFIG, patience=2, validation=0.0))


def test_expressions_kept_aside_are_measured_in_parts(forest: Forest, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(CONFIG, epochs=1, validation=0.5)
    whole = train(forest, config)[1][0].validation
    monkeypatch.setattr("edhie.generators.train.AT_ONCE", 7)
    assert train(forest, config)[1][0].validation == pytest.approx(whole, rel=0.05)


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
    for bad in (np.ones(3), np.ones((40, 1)), np.full(40, np.nan), np.r_[np.inf, np.ones(39)], -np.ones(40)):
        with pytest.raises(GeneratorError, match="40 numbers"):
            train(pair, CONFIG, weights=bad)


def test_only_ratios_of_weights_matter(forest: Forest, trained: tuple[HVAE, list[Epoch]]) -> None:
    weights = np.random.default_rng(0).random(len(forest))
    models = [train(forest, CONFIG, weights=scale * weights)[0] for scale in (1.0, 2.0**900, 2.0**-900)]
    assert same_weights(models[0], models[1])
    assert same_weights(models[0], models[2])


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
    unsealed(folder / "config.json")
    config = (folder / "config.json").read_text()
    for text, message in (
        ("{", "damaged"),
        (config.replace('"format": 1', '"format": 9'), "format 9"),
        (config.replace('"hvae"', '"xvae"'), "unknown kind of model 'xvae'"),
    ):
        (folder / "config.json").write_text(text)
        with pytest.raises(GeneratorError, match=message):
            load(folder)
    (folder / "config.json").write_text(config)
    symbols = json.loads((folder / "symbols.json").read_text())
    symbols["symbols"].pop()
    (folder / "symbols.json").write_text(json.dumps(symbols))
    with pytest.raises(GeneratorError, match=r"symbols\.json has not the symbols of the weights"):
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
        ({"latent": 0}, "latent must be a finite number, at least 1, not 0"),
        ({"learning_rate": 2.0}, "learning_rate"),
        ({"warm_up": 1.0}, "warm_up must be a finite number, at least 0 and below 1, not 1"),
        ({"schedule": "ramps"}, "did you mean 'ramp'"),
        ({"validation": 1.0}, "validation"),
        ({"divergence": -1.0}, "divergence must be a finite number, at least 0, not -1"),
        ({"divergence": float("nan")}, "finite"),
        ({"free_bits": float("inf")}, "finite"),
    ):
        with pytest.raises(GeneratorError, match=message):
            replace(CONFIG, **bad)
    with pytest.raises(GeneratorError, match="empty"):
        train(forest[:0], CONFIG)
