"""The fast paths, in tensor operations and compiled, against the reference written from the paper's equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from edhie.expr import Forest
from edhie.generators.hvae import cell_kernels, network
from edhie.generators.hvae.network import HVAENetwork, gru12, gru21
from edhie.grammar import load

HIDDEN, LATENT = 5, 4


def forests() -> list[Forest]:
    trig = load("trig")
    drawn = trig.sample(25, np.random.default_rng(0), max_height=7)
    leaf = drawn[np.flatnonzero(drawn.sizes == 1)[:1]]
    return [drawn, leaf, trig.sample(1, np.random.default_rng(5), max_height=7)]


class Tensors:
    """In place of the compiled functions: the tensor operations that a GPU would run."""

    def __init__(self, function: Any) -> None:
        self.apply = function


def use_tensors(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(network, "CompiledUpwards", Tensors(network.upwards))
    patch.setattr(network, "CompiledDownwards", Tensors(network.downwards))


def losses_and_gradients(model: HVAENetwork, forest: Forest) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    model.zero_grad()
    errors, divergences = model.losses(forest, torch.Generator().manual_seed(1))
    (errors.mean() + 0.3 * divergences.sum(1).mean()).backward()
    gradients = {
        name: weight.grad if weight.grad is not None else 0 * weight for name, weight in model.named_parameters()
    }
    return errors.detach(), divergences.detach(), {name: each.clone() for name, each in gradients.items()}


@pytest.mark.parametrize("way", ["compiled", "tensors"])
@pytest.mark.parametrize("forest", forests(), ids=["many trees", "one leaf", "one tree"])
def test_values_and_gradients_are_those_of_the_reference(
    forest: Forest, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "tensors":
        use_tensors(monkeypatch)
    torch.manual_seed(0)
    model = HVAENetwork(forest.library, HIDDEN, LATENT).double()
    errors, divergences, gradients = losses_and_gradients(model, forest)
    model.backend = "reference"
    expected_errors, expected_divergences, expected = losses_and_gradients(model, forest)
    torch.testing.assert_close(errors, expected_errors)
    torch.testing.assert_close(divergences, expected_divergences)
    for name, gradient in expected.items():
        torch.testing.assert_close(gradients[name], gradient, msg=name)


def test_gru21_of_equal_children_keeps_their_mean_when_the_update_gate_is_open() -> None:
    i, hh = torch.zeros(1, 6), torch.tensor([[1.0, 2.0, 3.0, 6.0]])
    open_gate = torch.tensor([0.0, 0.0, 50.0, 50.0, 0.0, 0.0])
    h = gru21(i, hh, torch.zeros(4, 6), open_gate)
    torch.testing.assert_close(h, torch.tensor([[2.0, 4.0]]))


def test_gru12_hands_the_code_to_both_children_when_the_update_gate_is_open() -> None:
    i, h = torch.zeros(1, 12), torch.tensor([[1.0, 2.0]])
    open_gate = torch.tensor([0.0] * 4 + [50.0] * 4 + [0.0] * 4)
    d = gru12(i, h, torch.zeros(2, 12), open_gate)
    torch.testing.assert_close(d, torch.tensor([[1.0, 2.0, 1.0, 2.0]]))


@pytest.mark.parametrize("hidden", [32, 33])
def test_both_ways_agree_in_single_precision(hidden: int) -> None:
    forest = load("nguyen-2").sample(300, np.random.default_rng(0), max_size=40)
    torch.manual_seed(0)
    model = HVAENetwork(forest.library, hidden, LATENT)
    fast, _, fast_gradients = losses_and_gradients(model, forest)
    with pytest.MonkeyPatch.context() as patch:
        use_tensors(patch)
        slow, _, slow_gradients = losses_and_gradients(model, forest)
    torch.testing.assert_close(fast, slow, rtol=1e-5, atol=1e-5)
    for name, gradient in slow_gradients.items():
        torch.testing.assert_close(fast_gradients[name], gradient, rtol=1e-4, atol=1e-5, msg=name)


def test_the_quick_tanh_is_right_everywhere() -> None:
    a = np.concatenate([np.linspace(-12, 12, 100_001), [0, 1e-30, 1e30, -np.inf, np.inf]]).astype(np.float32)
    expected = np.tanh(a.astype(np.float64))
    cell_kernels.tanh(a)
    np.testing.assert_allclose(a, expected, rtol=0, atol=5e-7)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (2, 4, 8), (5, 7, 33), (0, 3, 2), (3, 0, 2), (4, 4, 16), (7, 6, 40), (11, 64, 192)]
)
def test_product_is_added(shape: tuple[int, int, int], kind: type[np.floating[Any]]) -> None:
    rows, inner, width = shape
    rng = np.random.default_rng(0)
    a, b, out = (rng.random(size).astype(kind) for size in ((rows, inner + 3), (inner, width), (rows, width)))
    a = a[:, 2:-1]  # a part of each row, as of codes that lie side by side
    expected, bias = out + a @ b, rng.random(width).astype(kind)
    cell_kernels.add_product(a, b, out)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    cell_kernels.affine(a, b, bias, out)
    np.testing.assert_allclose(out, bias + a @ b, rtol=1e-5)


def test_a_product_does_not_depend_on_how_many_rows_there_are() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((8, 14), dtype=np.float32), rng.random((14, 40), dtype=np.float32)
    bias = rng.random(40, dtype=np.float32)
    whole = np.empty((8, 40), np.float32)
    cell_kernels.affine(a, b, bias, whole)
    for first in range(0, 8, 2):  # of an odd number the last row is summed in another order
        part = np.empty((2, 40), np.float32)
        cell_kernels.affine(a[first : first + 2], b, bias, part)
        np.testing.assert_array_equal(part, whole[first : first + 2])
