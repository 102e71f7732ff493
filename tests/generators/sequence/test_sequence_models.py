"""GVAE and CVAE: NumPy agrees with torch, what is no expression is counted, and bad requests are told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from descriptions import unsealed
from edhie.errors import GeneratorError, SymbolError
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.distance import edit_distances
from edhie.expr.symbols import variable
from edhie.generators import CVAE, GVAE, TrainConfig, load, save
from edhie.generators.base import Model
from edhie.generators.network import SequenceNetwork
from edhie.generators.network import fresh_network as fresh
from edhie.generators.sequence.model import SequenceModel
from edhie.generators.train import Epoch, train
from edhie.grammar import PCFG
from edhie.grammar import load as load_grammar
from strategies import LIBRARIES

GRAMMAR = load_grammar("trig")
KINDS = ("gvae", "cvae")


def config(kind: str, **changes: object) -> TrainConfig:
    return TrainConfig.of(kind, **{"hidden": 24, "latent": 12, "epochs": 4, "batch": 32, "device": "cpu", **changes})


@pytest.fixture(scope="module")
def forest() -> Forest:
    return GRAMMAR.sample(2000, np.random.default_rng(0), max_height=4).unique()[:300]


@pytest.fixture(scope="module", params=KINDS)
def network(request: pytest.FixtureRequest, forest: Forest) -> SequenceNetwork:
    """Untrained, with weights far from the origin: sequences of all kinds."""
    torch.manual_seed(0)
    found = fresh(forest, config(request.param), None)
    assert isinstance(found, SequenceNetwork)
    with torch.no_grad():
        for weight in found.parameters():
            weight *= 2
    return found


@pytest.fixture(scope="module")
def model(network: SequenceNetwork) -> SequenceModel:
    return network.trained({name: weight.detach().numpy() for name, weight in network.state_dict().items()})


@pytest.fixture(scope="module")
def easy() -> Forest:
    return GRAMMAR.sample(600, np.random.default_rng(0), max_height=3).unique()[:48]


@pytest.fixture(scope="module", params=KINDS)
def trained(request: pytest.FixtureRequest, easy: Forest) -> tuple[Model, list[Epoch]]:
    return train(easy, config(request.param, epochs=60, hidden=32, batch=8, learning_rate=0.005, validation=0.0))


def random_codes(model: Model, n: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((n, model.latent_dim)).astype(np.float32)


def test_encoding_agrees_with_torch(model: SequenceModel, network: SequenceNetwork, forest: Forest) -> None:
    with torch.no_grad():
        expected = network.encode(network.prepare(forest))
    for ours, torch_s in zip(model.encode(forest), expected, strict=True):
        np.testing.assert_allclose(ours, torch_s.numpy(), atol=1e-5)


def test_scores_agree_with_torch(model: SequenceModel, network: SequenceNetwork) -> None:
    from edhie.generators.sequence.model import decode

    codes = random_codes(model, 200)
    with torch.no_grad():
        expected = network.decode(torch.from_numpy(codes)).numpy()
    np.testing.assert_allclose(decode(model.weights, codes, model.notation.length), expected, atol=1e-5)


def test_losses_count_each_symbol_once_and_no_padding_behind_the_end(network: SequenceNetwork, forest: Forest) -> None:
    """By hand: the negative log probability among a symbol's rivals, up to the first padding."""
    rows = network.prepare(forest)[:20]
    errors, divergences = network.losses(rows, torch.Generator().manual_seed(5))
    with torch.no_grad():
        mean, log_variance = network.encode(rows)
        noise = torch.randn(mean.shape, generator=torch.Generator().manual_seed(5))
        scores = network.decode(mean + noise * torch.exp(log_variance / 2)).double().numpy()
    padding, rivals = network.notation.symbols - 1, network.notation.rivals
    for k, row in enumerate(rows.tolist()):
        expected = 0.0
        for step, symbol in enumerate(row):
            among = slice(None) if rivals is None else rivals[symbol]
            expected += np.log(np.exp(scores[k, step, among]).sum()) - scores[k, step, symbol]
            if symbol == padding:
                break
        assert errors[k].item() == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert divergences.shape == (20, 12)
    assert (divergences >= 0).all()


def test_a_decoded_expression_is_what_the_scores_spell(model: SequenceModel) -> None:
    """Reading and spelling undo one another on whatever a wild model writes, but for needless parentheses."""
    decoded = model.decode(random_codes(model, 1000), temperature=2.0, rng=np.random.default_rng(0))
    assert 0 < len(decoded.forest) < decoded.attempts
    symbols, offsets = model.notation.spelled(decoded.forest)
    assert np.diff(offsets).max() <= model.notation.length
    for k in range(0, len(decoded.forest), 9):
        row = symbols[offsets[k] : offsets[k + 1]]
        scores = np.zeros((1, len(row) + 1, model.notation.symbols), dtype=np.float32)
        scores[0, np.arange(len(row)), row] = 1
        scores[0, -1, -1] = 1
        assert model.notation.read(scores)[0][0] == decoded.forest[k]


def test_batches_change_nothing(model: SequenceModel, forest: Forest, monkeypatch: pytest.MonkeyPatch) -> None:
    codes, means = random_codes(model, 100), model.encode(forest)[0]
    warm = {"temperature": 1.0, "per_code": 2}
    whole = model.decode(codes, rng=np.random.default_rng(3), **warm)
    monkeypatch.setattr("edhie.generators.sequence.model.AT_ONCE", 90)
    parts = model.decode(codes, rng=np.random.default_rng(3), **warm)
    np.testing.assert_allclose(model.encode(forest)[0], means, atol=1e-5)
    assert list(parts.forest) == list(whole.forest)
    assert np.array_equal(parts.sources, whole.sources)


def test_scores_behind_the_end_are_not_needed(trained: tuple[Model, list[Epoch]]) -> None:
    from edhie.generators.sequence.model import decode

    model, _ = trained
    assert isinstance(model, SequenceModel)
    codes = random_codes(model, 300)
    every, needed = (
        decode(model.weights, codes, model.notation.length, is_over) for is_over in (None, model.notation.is_over)
    )
    is_left_out = (needed == 0).all(axis=2)
    assert is_left_out.any()
    np.testing.assert_allclose(needed[~is_left_out], every[~is_left_out], atol=1e-4)
    for (forest, places), (other, other_places) in [(model.notation.read(every), model.notation.read(needed))]:
        assert list(forest) == list(other)
        assert np.array_equal(places, other_places)


def test_of_what_is_too_long_the_beginning_is_encoded(model: SequenceModel, forest: Forest) -> None:
    longer = parse(" + ".join(["sin(x0)"] * 60), forest.library)
    longest = parse(" + ".join(["sin(x0)"] * 60) + " + x0", forest.library)
    means = model.encode(Forest.from_exprs([longer, longest]))[0]
    if isinstance(model, CVAE):  # which differ behind the end alone
        np.testing.assert_allclose(*means, rtol=0, atol=1e-6)  # rows of one product may be rounded differently
    assert np.isfinite(means).all()


def test_training_learns(trained: tuple[Model, list[Epoch]], easy: Forest) -> None:
    model, history = trained
    assert history[-1].reconstruction < 0.6 * history[0].reconstruction
    decoded = model.decode(model.encode(easy)[0])
    assert decoded.invalid < 0.2 * len(easy)
    own = edit_distances(easy[decoded.sources], decoded.forest)
    others = edit_distances(easy[np.roll(decoded.sources, 1)], decoded.forest)
    assert own.mean() < 0.8 * others.mean()


def test_fine_tuning_goes_on_and_refuses_what_is_too_long(trained: tuple[Model, list[Epoch]], easy: Forest) -> None:
    base, before = trained
    again = config(base.kind, hidden=32, epochs=3, validation=0.0)
    tuned, history = train(easy[:20], again, start=base)
    assert history[0].reconstruction < 0.7 * before[0].reconstruction
    assert tuned.settings() == base.settings()
    long = Forest.from_exprs([parse(" + ".join(["sin(x0)"] * 60), easy.library)])
    with pytest.raises(GeneratorError, match=r"needs \d+ symbols, the model's sequences have"):
        train(long, again, start=base)
    with pytest.raises(GeneratorError, match="the model to start from is over"):
        train(Forest.from_exprs([parse("x0 + x1")]), again, start=base)


def test_a_gvae_takes_a_grammar_over_the_library_of_its_forest(forest: Forest) -> None:
    grammar = load_grammar("gvae-trig")
    with pytest.raises(GeneratorError, match=r"does not fit the forest: .*unknown symbol '\^'"):
        train(forest, config("gvae", epochs=1), grammar=grammar)
    wider = forest.cast(SymbolLibrary((*grammar.library.symbols, variable("x1"))))
    model, _ = train(wider, config("gvae", epochs=1), grammar=grammar)
    assert isinstance(model, GVAE)
    assert model.notation.grammar.rules == grammar.rules
    assert model.library == wider.library
    lacking = PCFG.parse("S -> S '+' T [0.5] | T [0.5]\nT -> 'x0' [0.5] | 'c' [0.5]")
    with pytest.raises(GeneratorError, match=r"does not fit the forest: .*cannot be derived"):
        train(forest, config("gvae", epochs=1), grammar=lacking)
    foreign = PCFG.parse("S -> S '+' T [0.5] | T [0.5]\nT -> 'x0' [0.5] | 'y' [0.5]")
    with pytest.raises(GeneratorError, match=r"does not fit the forest: .*unknown symbol 'y'"):
        train(forest, config("gvae", epochs=1), grammar=foreign)
    with pytest.raises(GeneratorError, match="a grammar is what a gvae learns from"):
        train(forest, config("cvae"), grammar=grammar)


def test_a_gvae_names_what_its_grammar_cannot_derive(forest: Forest) -> None:
    sums = PCFG.parse("S -> S '+' T [0.5] | T [0.5]\nT -> 'x0' [0.5] | 'c' [0.5]", forest.library)
    few = sums.sample(30, np.random.default_rng(0), max_size=9)
    model, _ = train(few, config("gvae", epochs=1), grammar=sums)
    with pytest.raises(GeneratorError, match=r"expression 1 of the forest, sin\(x0\) cannot be derived"):
        model.encode(Forest.from_exprs([parse("x0", forest.library), parse("sin(x0)", forest.library)]))


def test_a_gvae_learns_the_numbers_of_its_forest() -> None:
    library = SymbolLibrary.of(["+", "neg", "max"], ["x"], numbers=True)
    trees = [Expr(library, tokens.split()) for tokens in ("+ x 2.5", "neg 2.5", "max x -1", "2.5", "-1")]
    model, _ = train(Forest.from_exprs(trees), config("gvae", epochs=30, learning_rate=0.01))
    decoded = model.decode(model.encode(Forest.from_exprs(trees))[0])
    assert list(Forest.checked(library, decoded.forest.tokens, decoded.forest.offsets, decoded.forest.values))
    with pytest.raises(GeneratorError, match="cannot be derived"):
        model.encode(Forest.from_exprs([Expr(library, ["3"])]))


def test_a_model_that_gives_no_expressions_says_so(network: SequenceNetwork) -> None:
    weights = {name: np.zeros_like(weight.numpy()) for name, weight in network.state_dict().items()}
    silent = network.trained(weights)  # always the first symbol: S '+' T for ever, or +++
    assert silent.decode(random_codes(silent, 5)).invalid == 5
    with pytest.raises(GeneratorError, match="of 1000 codes only 0 gave an expression, 3 were asked for"):
        silent.sample(3, np.random.default_rng(0))


def test_a_damaged_folder_is_told(trained: tuple[Model, list[Epoch]], tmp_path: Path) -> None:
    model, kind = trained[0], trained[0].kind
    folder = save(tmp_path / "model", model, config(kind))
    unsealed(folder / "config.json")
    text = (folder / "config.json").read_text()
    for damaged, message in (
        (text.replace('"length": ', '"length": 1'), "summary.weight has the shape"),
        (text.replace('"length": ', '"width": '), f"not the parts of a model of kind '{kind}'"),
        (text.replace("sin", "tan"), "unknown symbol 'tan'|are not those of the library"),
    ):
        (folder / "config.json").write_text(damaged)
        with pytest.raises(GeneratorError, match=message):
            load(folder)


def test_weights_of_another_kind_are_told(forest: Forest) -> None:
    settings = {"length": 20, "tokens": [*forest.library.names, "(", ")", ""]}
    with pytest.raises(GeneratorError, match="not the parts of a model of kind 'cvae': KeyError"):
        CVAE.restored(forest.library, {}, settings)


def test_symbols_that_the_model_lacks_are_told(model: SequenceModel) -> None:
    with pytest.raises(SymbolError, match="tanh"):
        model.encode(Forest.from_exprs([parse("tanh(x0)")]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["one leaf", "a user's operators", "powers without ^", "nguyen"])
def test_any_library_can_be_learnt(kind: str, name: str) -> None:
    library = SymbolLibrary(tuple(symbol for symbol in LIBRARIES[name].symbols if symbol.kind != "number"))
    leaf = next(symbol.name for symbol in library.symbols if symbol.arity == 0)
    trees = [[leaf], *([symbol.name, *[leaf] * symbol.arity] for symbol in library.symbols if symbol.arity)]
    forest = Forest.from_exprs([Expr(library, tree) for tree in trees], library)
    model, _ = train(forest, replace(config(kind), epochs=1))
    decoded = model.decode(model.encode(forest)[0])
    assert len(decoded.forest) + decoded.invalid == len(forest)
