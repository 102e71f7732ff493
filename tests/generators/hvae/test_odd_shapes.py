"""Libraries, sizes and requests at the edge: NumPy agrees with torch, compiled loops with tensors, and all is valid."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edhie.errors import ExpressionError, GeneratorError
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import operator
from edhie.generators import HVAE, Constraints, TrainConfig
from edhie.generators.hvae.layout import down_layout, up_layout
from edhie.generators.hvae.network import HVAENetwork
from edhie.generators.train import train

FOO, BAR = operator("foo", 1, numpy=np.abs), operator("bar", 2, numpy=np.hypot)
TREES = {
    "one symbol": (SymbolLibrary.of([], ["x"]), ["x"]),
    "unary": (SymbolLibrary.of(["sin", "neg"], ["x"]), ["x", "sin x", "neg sin neg x"]),
    "binary": (SymbolLibrary.of(["-"], 1), ["x0", "- x0 x0", "- - x0 x0 - x0 - x0 x0"]),
    "deep": (SymbolLibrary.of(["sin"], ["x"]), ["sin " * 199 + "x", "x"]),
    "own operators": (
        SymbolLibrary.of([FOO, BAR, "min", "max"], 2, constant=True),
        ["bar foo x0 c", "min x0 max x1 c", "foo bar c foo foo x1", "x0"],
    ),
}


def forest_of(name: str) -> Forest:
    library, texts = TREES[name]
    return Forest.from_exprs([Expr(library, text.split()) for text in texts])


def network_of(forest: Forest, hidden: int, latent: int) -> HVAENetwork:
    torch.manual_seed(0)
    return HVAENetwork(forest.library, hidden, latent)


def model_of(network: HVAENetwork) -> HVAE:
    return network.trained({name: weight.detach().numpy().copy() for name, weight in network.named_parameters()})


def checked(forest: Forest) -> Forest:
    return Forest.checked(forest.library, forest.tokens, forest.offsets, forest.values)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(("hidden", "latent"), [(1, 1), (17, 3)])
def test_gradients_agree(name: str, hidden: int, latent: int) -> None:
    forest = forest_of(name)
    network = network_of(forest, hidden, latent).double()
    found = []
    for backend in ("fast", "reference"):
        network.zero_grad()
        network.backend = backend
        errors, divergences = network.losses(forest, torch.Generator().manual_seed(1))
        (errors.mean() + divergences.mean()).backward()
        gradients = (torch.zeros_like(w) if w.grad is None else w.grad for w in network.parameters())
        found.append([errors.detach(), *gradients])
    for compiled, expected in zip(*found, strict=True):
        torch.testing.assert_close(compiled, expected)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(("hidden", "latent"), [(1, 1), (17, 3)])
def test_use_agrees_with_torch(name: str, hidden: int, latent: int) -> None:
    forest = forest_of(name)
    network = network_of(forest, hidden, latent)
    model = model_of(network).constrained(Constraints(max_height=300, max_size=900))
    with torch.no_grad():
        for found, expected in zip(model.encode(forest), network.encode(up_layout(forest)), strict=True):
            np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)
        codes = np.random.default_rng(0).standard_normal((200, latent)).astype(np.float32)
        decoded = checked(model.decode(codes).forest)
        layout = down_layout(decoded)
        logits = network.decode(torch.as_tensor(codes), layout).numpy()
    taken = np.take_along_axis(logits, layout.symbols[:, None], axis=1)[:, 0]
    small = (decoded.heights < 300) & (decoded.sizes < 400)
    within = small[layout.trees]
    np.testing.assert_allclose(taken[within], logits.max(axis=1)[within], atol=1e-3)


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("validation", [0.0, 0.7])
def test_few_expressions_can_be_learnt(batch: int, validation: float) -> None:
    config = TrainConfig(hidden=3, latent=1, epochs=2, batch=batch, validation=validation, device="cpu")
    for name in TREES:
        model, history = train(forest_of(name), config)
        assert np.isfinite(history[-1].loss)
        checked(model.sample(20, np.random.default_rng(0)))


# -- requests ---------------------------------------------------------------------------

LIBRARY = SymbolLibrary.of(["+", "*", "sin", "cos"], 2, constant=True)
HARD = Constraints(
    max_height=5,
    max_size=11,
    forbidden=["cos"],
    forbidden_nestings=[("sin", "+"), ("*", "x1"), ("+", "c")],
    operands={"sin": ["x1"]},
)


@pytest.fixture(scope="module")
def model() -> HVAE:
    network = network_of(Forest.from_exprs([], LIBRARY), 12, 4)
    with torch.no_grad():
        for weight in network.parameters():
            weight *= 4
        network.down_b_o -= 20  # the scores of all symbols are far below 0
    return model_of(network)


CODES = np.random.default_rng(1).standard_normal((400, 4)).astype(np.float32)


@pytest.mark.parametrize("temperature", [1e-300, 1e-40, 1e-3, 1.0, 1e300, float("inf")])
def test_any_temperature_keeps_to_all_limits_at_once(model: HVAE, temperature: float) -> None:
    limited = model.constrained(HARD)
    decoded = limited.decode(CODES, temperature=temperature, per_code=2, rng=np.random.default_rng(0))
    forest = checked(decoded.forest)
    assert forest.heights.max() <= 5
    assert forest.sizes.max() <= 11
    for expr in forest.unique():
        assert "cos" not in expr.tokens
        for position, _, symbol in expr.walk():
            below = set(expr.subtree(position).tokens[1:])
            assert not below & {"sin": {"+", "x0"}, "*": {"x1"}, "+": {"c"}}.get(symbol.name, set())
    if temperature < 1e-30:
        assert list(forest[::2]) == list(limited.decode(CODES).forest)


@pytest.mark.parametrize("scale", [1e10, 1e30, 3e38])
def test_codes_of_any_magnitude_decode(model: HVAE, scale: float) -> None:
    far = (np.sign(CODES) * scale).astype(np.float32)
    for temperature in (0.0, 1.0):
        checked(model.constrained(HARD).decode(far, temperature=temperature, rng=np.random.default_rng(0)).forest)


def test_codes_of_any_layout_decode_alike(model: HVAE) -> None:
    expected = list(model.decode(CODES).forest)
    for codes in (CODES.astype(np.float64), np.asfortranarray(CODES), np.repeat(CODES, 2, axis=1)[:, ::2]):
        assert list(model.decode(codes).forest) == expected


def test_many_expressions_are_encoded_in_parts(model: HVAE, monkeypatch: pytest.MonkeyPatch) -> None:
    forest = model.decode(CODES).forest
    whole = model.encode(forest)
    monkeypatch.setattr("edhie.generators.hvae.hvae.ENCODED_AT_ONCE", 33)
    for part, expected in zip(model.encode(forest), whole, strict=True):
        np.testing.assert_allclose(part, expected, atol=1e-5)


def test_limits_of_any_size(model: HVAE) -> None:
    boundless = model.constrained(Constraints(max_height=10**30, max_size=10**30))
    small = model.decode(CODES).forest
    fits = (small.heights < 16) & (small.sizes < 60)
    assert list(boundless.decode(CODES[fits]).forest) == list(small[fits])


def test_no_variable_left_below_any_operator_leaves_leaves(model: HVAE) -> None:
    every = [symbol.name for symbol in LIBRARY.symbols if symbol.arity]
    limited = model.constrained(Constraints(forbidden=["c"], operands={name: [] for name in every}))
    assert limited.decode(CODES).forest.sizes.max() == 1


def test_odd_requests_are_told(model: HVAE) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(GeneratorError, match="temperature must be at least 0"):
        model.decode(CODES, temperature=float("nan"), rng=rng)
    for per_code in (1.5, 2.0):
        with pytest.raises(GeneratorError, match="per_code a whole number"):
            model.decode(CODES, temperature=1.0, per_code=per_code, rng=rng)  # type: ignore[arg-type]
    with pytest.raises(GeneratorError, match="cannot draw -1"):
        model.sample(-1, rng)
    with pytest.raises(ExpressionError, match="finite"):
        model.decode(np.full((1, 4), 1e300))


# -- numbers of any value -----------------------------------------------------------------


def test_numbers_of_any_value_are_refused_and_never_decoded() -> None:
    library = SymbolLibrary.of(["+"], 1, numbers=True)
    forest = Forest.from_exprs([parse("x0 + 2.5", library)])
    with pytest.raises(GeneratorError, match=r"x0 \+ 2\.5 holds a number of any value"):
        train(forest, TrainConfig(epochs=1, device="cpu"))
    untrained = model_of(network_of(forest, 4, 2))
    with pytest.raises(GeneratorError, match="holds a number of any value"):
        untrained.encode(forest)
    drawn = checked(untrained.sample(300, np.random.default_rng(0)))
    assert not drawn.library.has_slot[drawn.tokens].any()
