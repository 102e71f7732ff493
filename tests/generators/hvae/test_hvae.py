"""The NumPy model: it agrees with the torch model, and whatever it decodes is valid and within its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from edhie.errors import ExpressionError, SymbolError
from edhie.expr import Forest, parse
from edhie.expr.symbols import Opcode
from edhie.generators.base import Generator, LatentGenerator
from edhie.generators.config import Constraints
from edhie.generators.hvae.hvae import HVAE
from edhie.generators.hvae.layout import down_layout, up_layout
from edhie.generators.hvae.network import HVAENetwork
from edhie.grammar import load

GRAMMAR = load("nguyen-2")


@pytest.fixture(scope="module")
def torch_model() -> HVAENetwork:
    torch.manual_seed(0)
    model = HVAENetwork(GRAMMAR.library, 24, 8)
    with torch.no_grad():
        for weight in model.parameters():
            weight *= 3  # far from the origin: trees of all shapes
    return model


@pytest.fixture(scope="module")
def model(torch_model: HVAENetwork) -> HVAE:
    return HVAE(GRAMMAR.library, {k: w.detach().numpy() for k, w in torch_model.named_parameters()})


@pytest.fixture(scope="module")
def forest() -> Forest:
    return GRAMMAR.sample(500, np.random.default_rng(0), max_size=60)


def checked(forest: Forest) -> Forest:
    return Forest.checked(forest.library, forest.tokens, forest.offsets, forest.values)


def test_it_is_a_generator(model: HVAE) -> None:
    assert isinstance(model, Generator)
    assert isinstance(model, LatentGenerator)


def test_encoding_agrees_with_torch(model: HVAE, torch_model: HVAENetwork, forest: Forest) -> None:
    mean, log_variance = model.encode(forest)
    with torch.no_grad():
        expected = torch_model.encode(up_layout(forest))
    np.testing.assert_allclose(mean, expected[0].numpy(), atol=1e-5)
    np.testing.assert_allclose(log_variance, expected[1].numpy(), atol=1e-5)


def test_decoded_symbols_are_the_torch_model_s_most_probable(model: HVAE, torch_model: HVAENetwork) -> None:
    codes = np.random.default_rng(1).standard_normal((10_000, 8)).astype(np.float32)
    decoded = model.constrained(Constraints(max_height=7, max_size=127)).decode(codes).forest
    layout = down_layout(decoded)
    with torch.no_grad():
        logits = torch_model.decode(torch.as_tensor(codes), layout).numpy()
    own = np.take_along_axis(logits, layout.symbols[:, None], axis=1)[:, 0]
    uncut = decoded.heights < 7  # which leaves room for all their nodes
    within = uncut[layout.trees]
    assert uncut.sum() > 1000
    np.testing.assert_allclose(own[within], logits.max(axis=1)[within], atol=1e-3)


def test_the_reference_encodes_and_decodes_alike(model: HVAE, forest: Forest) -> None:
    rules = Constraints(max_height=5, max_size=63, forbidden=["exp"], forbidden_nestings=[("sin", "+")])
    limited = model.constrained(rules)
    slow = replace(limited, backend="reference")
    for fast, expected in zip(limited.encode(forest[:20]), slow.encode(forest[:20]), strict=True):
        np.testing.assert_allclose(fast, expected, atol=1e-5)
    codes = np.random.default_rng(5).standard_normal((60, 8)).astype(np.float32)
    found, expected_trees = list(limited.decode(codes).forest), list(slow.decode(codes).forest)
    assert sum(a == b for a, b in zip(found, expected_trees, strict=True)) >= 58  # rounding may turn a close choice
    warm = slow.decode(codes[:5], temperature=2.0, per_code=3, rng=np.random.default_rng(0))
    assert len(checked(warm.forest)) == 15
    assert slow.constrained(Constraints(max_size=5)).decode(codes[:20]).forest.sizes.max() <= 5


def test_every_code_gives_a_valid_tree_within_the_limits_far_outside_the_prior(model: HVAE) -> None:
    limited = model.constrained(Constraints(max_height=6, max_size=15))
    for scale in (1.0, 100.0):
        codes = scale * np.random.default_rng(2).standard_normal((50_000, 8)).astype(np.float32)
        decoded = limited.decode(codes)
        forest = checked(decoded.forest)
        assert decoded.invalid == 0
        assert len(forest) == len(codes)
        assert forest.heights.max() == 6
        assert forest.sizes.max() == 15


def test_limits_of_one_leave_only_leaves(model: HVAE) -> None:
    for limits in (Constraints(max_height=1), Constraints(max_size=1)):
        assert model.constrained(limits).sample(50, np.random.default_rng(0)).sizes.max() == 1


def test_limits_change_only_trees_that_pass_them(model: HVAE) -> None:
    codes = np.random.default_rng(3).standard_normal((2000, 8)).astype(np.float32)
    free = model.constrained(Constraints(max_height=10, max_size=400)).decode(codes).forest
    limited = model.constrained(Constraints(max_height=6, max_size=25)).decode(codes).forest
    fits = (free.heights <= 6) & (free.sizes <= 25)
    assert 0 < fits.sum() < len(fits)
    assert list(free[fits]) == list(limited[fits])


def test_forbidden_symbols_and_nestings_never_appear(model: HVAE) -> None:
    rules = Constraints(
        max_height=7,
        forbidden=["exp", "^5"],
        forbidden_nestings=[("sin", "sin"), ("log", "+")],
        operands={"cos": ["x0"]},
    )
    forest = checked(model.constrained(rules).decode(_wide_codes()).forest)
    for expr in forest.unique():
        assert not {"exp", "^5"} & set(expr.tokens)
        for position, _, symbol in expr.walk():
            below = set(expr.subtree(position).tokens[1:])
            if symbol.opcode == Opcode.SIN:
                assert "sin" not in below
            if symbol.opcode == Opcode.LOG:
                assert "+" not in below
            if symbol.opcode == Opcode.COS:
                assert "x1" not in below
    assert any("cos" in expr.tokens for expr in forest)


def test_an_operator_with_no_leaf_left_below_it_is_not_taken(model: HVAE) -> None:
    rules = Constraints(max_height=5, operands={"sin": ["x0"], "cos": ["x1"]})
    for expr in model.constrained(rules).decode(_wide_codes()).forest.unique():
        for position, _, symbol in expr.walk():
            if symbol.opcode == Opcode.SIN:
                assert "cos" not in expr.subtree(position).tokens


def _wide_codes() -> np.ndarray:
    return 3 * np.random.default_rng(4).standard_normal((5000, 8)).astype(np.float32)


def test_same_seed_same_samples_and_temperature_varies_them(model: HVAE) -> None:
    assert list(model.sample(50, np.random.default_rng(1))) == list(model.sample(50, np.random.default_rng(1)))
    codes = np.zeros((200, 8), dtype=np.float32)
    warm = model.decode(codes, temperature=2.0, rng=np.random.default_rng(0)).forest
    again = model.decode(codes, temperature=2.0, rng=np.random.default_rng(0)).forest
    assert list(checked(warm)) == list(again)
    assert len(warm.unique()) > 20
    assert len(model.decode(codes).forest.unique()) == 1


def test_empty_forest_and_no_codes(model: HVAE) -> None:
    mean, log_variance = model.encode(Forest.from_exprs([], GRAMMAR.library))
    assert mean.shape == log_variance.shape == (0, 8)
    assert len(model.decode(np.zeros((0, 8))).forest) == 0


def test_bad_input_is_told(model: HVAE) -> None:
    with pytest.raises(ExpressionError, match=r"shape \(n, 8\), not \(3, 7\)"):
        model.decode(np.zeros((3, 7)))
    with pytest.raises(SymbolError, match="tanh"):
        model.encode(Forest.from_exprs([parse("tanh(x0)")]))
    with pytest.raises(SymbolError, match="no operator"):
        model.constrained(Constraints(forbidden_nestings=[("x0", "sin")]))
    with pytest.raises(SymbolError, match="every variable and constant is forbidden"):
        model.constrained(Constraints(forbidden=["x0", "x1"]))
    with pytest.raises(SymbolError, match="max_size must be at least 1"):
        Constraints(max_size=0)
