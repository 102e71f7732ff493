"""The level-batched model, in tensor operations and compiled, against a slow one written from the paper's equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from edhie.expr import Expr, Forest
from edhie.generators.hvae import compiled_cell, compiled_product, recursion
from edhie.generators.hvae.cells import gru12, gru21
from edhie.generators.hvae.model import HVAENetwork
from edhie.grammar import load

HIDDEN, LATENT = 5, 4


class Literal:
    """One tree, one node at a time, as the paper has it."""

    def __init__(self, model: HVAENetwork, library) -> None:
        self.model, self.library = model, library

    def gru(self, x: Tensor, h: Tensor, side: str) -> tuple[Tensor, Tensor]:
        m, size = self.model, 0
        w_i, b_i = getattr(m, f"{side}_w_i"), getattr(m, f"{side}_b_i")
        w_h, b_h = getattr(m, f"{side}_w_h"), getattr(m, f"{side}_b_h")
        size = len(b_h) // 3
        (w_ir, w_iu, w_in), (b_ir, b_iu, b_in) = w_i.split(size, 1), b_i.split(size)
        (w_hr, w_hu, w_hn), (b_hr, b_hu, b_hn) = w_h.split(size, 1), b_h.split(size)
        r = torch.sigmoid(x @ w_ir + b_ir + h @ w_hr + b_hr)
        u = torch.sigmoid(x @ w_iu + b_iu + h @ w_hu + b_hu)
        n = torch.tanh(x @ w_in + b_in + r * (h @ w_hn + b_hn))
        return u, n

    def one_hot(self, expr: Expr) -> Tensor:
        x = torch.zeros(len(self.library), dtype=torch.float64)
        x[self.library.id_of(expr.tokens[0])] = 1
        return x

    def encode(self, expr: Expr) -> Tensor:
        codes = [self.encode(child) for child in expr.children]
        h_l, h_r = (codes + [torch.zeros(HIDDEN, dtype=torch.float64)] * 2)[:2]
        u, n = self.gru(self.one_hot(expr), torch.cat([h_l, h_r]), "up")
        return (1 - u) * n + u / 2 * h_l + u / 2 * h_r

    def loss(self, expr: Expr, h: Tensor) -> Tensor:
        logits = h @ self.model.down_w_o + self.model.down_b_o
        probabilities = torch.softmax(logits, 0)
        loss = -torch.log(probabilities @ self.one_hot(expr))
        u, n = self.gru(probabilities, h, "down")
        d = (1 - u) * n + u * torch.cat([h, h])
        for child, code in zip(expr.children, d.split(HIDDEN), strict=False):
            loss = loss + self.loss(child, code)
        return loss


def forests() -> list[Forest]:
    trig = load("trig")
    drawn = trig.sample(25, np.random.default_rng(0), max_height=7)
    leaf = drawn[np.flatnonzero(drawn.sizes == 1)[:1]]
    return [drawn, leaf, trig.sample(1, np.random.default_rng(5), max_height=7)]


@pytest.mark.parametrize("way", ["compiled", "tensors"])
@pytest.mark.parametrize("forest", forests(), ids=["many trees", "one leaf", "one tree"])
def test_values_and_gradients_are_those_of_the_equations(
    forest: Forest, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "tensors":  # as on a GPU
        monkeypatch.setattr(recursion, "CompiledUpwards", recursion.Upwards)
        monkeypatch.setattr(recursion, "CompiledDownwards", recursion.Downwards)
        monkeypatch.setattr(recursion.CompiledErrors, "apply", recursion.tensor_errors)
    torch.manual_seed(0)
    model = HVAENetwork(forest.library, HIDDEN, LATENT).double()
    literal = Literal(model, forest.library)

    errors, divergences = model.losses(forest, torch.Generator().manual_seed(1))
    reconstruction, kl = errors.mean(), divergences.sum(1).mean()
    (reconstruction + 0.3 * kl).backward()
    gradients = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()

    roots = torch.stack([literal.encode(expr) for expr in forest])
    mean = roots @ model.mean_w + model.mean_b
    log_variance = roots @ model.log_variance_w + model.log_variance_b
    noise = torch.randn(mean.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    z = mean + noise * torch.exp(log_variance / 2)
    starts = z @ model.root_w + model.root_b
    slow = sum(literal.loss(expr, h) for expr, h in zip(forest, starts, strict=True)) / len(forest)
    slow_kl = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum() / len(forest)
    (slow + 0.3 * slow_kl).backward()

    torch.testing.assert_close(reconstruction, slow)
    torch.testing.assert_close(kl, slow_kl)
    for name, weight in model.named_parameters():
        expected = torch.zeros_like(weight) if weight.grad is None else weight.grad
        torch.testing.assert_close(gradients[name], expected, msg=name)


def test_gru21_of_equal_children_keeps_their_mean_when_the_update_gate_is_open() -> None:
    i, hh = torch.zeros(1, 6), torch.tensor([[1.0, 2.0, 3.0, 6.0]])
    open_gate = torch.tensor([0.0, 0.0, 50.0, 50.0, 0.0, 0.0])
    h, *_ = gru21(i, hh, torch.zeros(4, 6), open_gate)
    torch.testing.assert_close(h, torch.tensor([[2.0, 4.0]]))


def test_gru12_hands_the_code_to_both_children_when_the_update_gate_is_open() -> None:
    i, h = torch.zeros(1, 12), torch.tensor([[1.0, 2.0]])
    open_gate = torch.tensor([0.0] * 4 + [50.0] * 4 + [0.0] * 4)
    d, *_ = gru12(i, h, torch.zeros(2, 12), open_gate)
    torch.testing.assert_close(d, torch.tensor([[1.0, 2.0, 1.0, 2.0]]))


@pytest.mark.parametrize("hidden", [32, 33])
def test_both_ways_agree_in_single_precision(hidden: int) -> None:
    forest = load("nguyen-2").sample(300, np.random.default_rng(0), max_size=40)
    torch.manual_seed(0)
    model = HVAENetwork(forest.library, hidden, LATENT)
    found = []
    for up, down in (
        (recursion.CompiledUpwards, recursion.CompiledDownwards),
        (recursion.Upwards, recursion.Downwards),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recursion, "CompiledUpwards", up)
            patch.setattr(recursion, "CompiledDownwards", down)
            model.zero_grad()
            errors, divergences = model.losses(forest, torch.Generator().manual_seed(1))
            (errors.mean() + divergences.mean()).backward()
        found.append((errors.detach(), {name: weight.grad for name, weight in model.named_parameters()}))
    (fast, fast_gradients), (slow, slow_gradients) = found
    torch.testing.assert_close(fast, slow, rtol=1e-5, atol=1e-5)
    for name, gradient in slow_gradients.items():
        torch.testing.assert_close(fast_gradients[name], gradient, rtol=1e-4, atol=1e-5, msg=name)


def test_the_quick_tanh_is_right_everywhere() -> None:
    a = np.concatenate([np.linspace(-12, 12, 100_001), [0, 1e-30, 1e30, -np.inf, np.inf]]).astype(np.float32)
    expected = np.tanh(a.astype(np.float64))
    compiled_cell.tanh(a)
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
    compiled_product.add_product(a, b, out)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    compiled_product.affine(a, b, bias, out)
    np.testing.assert_allclose(out, bias + a @ b, rtol=1e-5)


def test_a_product_does_not_depend_on_how_many_rows_there_are() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((8, 14), dtype=np.float32), rng.random((14, 40), dtype=np.float32)
    bias = rng.random(40, dtype=np.float32)
    whole = np.empty((8, 40), np.float32)
    compiled_product.affine(a, b, bias, whole)
    for first in range(0, 8, 2):  # of an odd number the last row is summed in another order
        part = np.empty((2, 40), np.float32)
        compiled_product.affine(a[first : first + 2], b, bias, part)
        np.testing.assert_array_equal(part, whole[first : first + 2])
