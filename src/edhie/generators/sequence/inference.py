"""The layers of a sequence model in NumPy: all that using a trained one needs. Names are those of `network`."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from edhie.generators.base import Weights
from edhie.generators.sequence.notation import SHORTEST, Sequences

Floats = NDArray[np.float32]
KERNELS = (2, 3, 4)


def product(x: Floats, weight: Floats, bias: Floats) -> Floats:
    """A linear layer on the last axis; weights are kept as torch keeps them, (outputs, inputs)."""
    rows = x.reshape(-1, x.shape[-1])  # one large product: NumPy would make one for each of the n
    out: Floats = rows @ weight.T
    out += bias
    return out.reshape(*x.shape[:-1], len(weight))


def dense(w: Weights, name: str, x: Floats) -> Floats:
    """The linear layer of a name."""
    return product(x, w[f"{name}.weight"], w[f"{name}.bias"])


def relu(x: Floats) -> Floats:
    """Negative values become 0, in place."""
    return np.maximum(x, 0, out=x)


def sigmoid(a: Floats) -> Floats:
    """1 / (1 + exp(-a)), through tanh, which cannot overflow."""
    out: Floats = np.tanh(0.5 * a)
    out *= 0.5
    out += 0.5
    return out


def convolution(w: Weights, name: str, x: Floats) -> Floats:
    """Over the steps of (n, steps, channels), without padding: windows, then one product."""
    weight = w[f"{name}.weight"]  # (outputs, channels, kernel)
    windows = sliding_window_view(x, weight.shape[2], axis=1)  # (n, steps, channels, kernel)
    flat = np.ascontiguousarray(windows).reshape(*windows.shape[:2], -1)
    return product(flat, weight.reshape(len(weight), -1), w[f"{name}.bias"])


def encode(w: Weights, sequences: Sequences, symbols: int) -> tuple[Floats, Floats]:
    """Mean and logarithm of the variance of each sequence's code; both (n, latent)."""
    x: Floats = np.eye(symbols, dtype=np.float32)[sequences]
    for kernel in KERNELS:
        x = relu(convolution(w, f"convolution_{kernel}", x))
    x = relu(dense(w, "summary", x.reshape(len(x), -1)))
    return dense(w, "mean", x), dense(w, "log_variance", x)


def decode(w: Weights, codes: Floats, length: int) -> Floats:
    """The scores of every symbol at every step; (n, length, symbols)."""
    opened = relu(dense(w, "opening", codes))
    states: Floats = opened[:, None, :]  # the same at each step: one is enough
    layer = 0
    while f"recurrent.weight_ih_l{layer}" in w:
        states = _gru(w, layer, states, length)
        layer += 1
    return dense(w, "scores", states)


def _gru(w: Weights, layer: int, inputs: Floats, length: int) -> Floats:
    """One layer of gated recurrent units as torch has them; (n, length, hidden) from (n, length or 1, inputs)."""
    w_h, b_h = w[f"recurrent.weight_hh_l{layer}"], w[f"recurrent.bias_hh_l{layer}"]
    hidden = w_h.shape[1]
    i = product(inputs, w[f"recurrent.weight_ih_l{layer}"], w[f"recurrent.bias_ih_l{layer}"])
    state = np.zeros((len(inputs), hidden), dtype=np.float32)
    out = np.empty((len(inputs), length, hidden), dtype=np.float32)
    for step in range(length):
        x, h = i[:, step if i.shape[1] > 1 else 0], product(state, w_h, b_h)
        ru = sigmoid(x[:, : 2 * hidden] + h[:, : 2 * hidden])
        n = np.tanh(x[:, 2 * hidden :] + ru[:, :hidden] * h[:, 2 * hidden :])
        state = n + ru[:, hidden:] * (state - n)
        out[:, step] = state
    return out


def sizes(w: Weights) -> tuple[int, int]:
    """The channels of a convolution, and the recurrent layers; at least one of each, whatever the weights."""
    bias = w.get(f"convolution_{KERNELS[0]}.bias", np.zeros(1, dtype=np.float32))
    return bias.size, max(1, sum(name.startswith("recurrent.weight_ih_l") for name in w))


def shapes(w: Weights, symbols: int, length: int) -> dict[str, tuple[int, ...]]:
    """What the shapes of a model's weights must be, its sizes taken from the weights themselves."""
    channels, layers = sizes(w)
    latent, hidden = w["mean.weight"].shape if "mean.weight" in w and w["mean.weight"].ndim == 2 else (0, 0)
    dense = {
        "summary": (hidden, channels * (length + 1 - SHORTEST)), "mean": (latent, hidden),
        "log_variance": (latent, hidden), "opening": (hidden, latent), "scores": (symbols, hidden),
    }  # fmt: skip
    weights: dict[str, tuple[int, ...]] = dict(dense)
    for kernel, inputs in zip(KERNELS, (symbols, channels, channels), strict=True):
        weights[f"convolution_{kernel}"] = (channels, inputs, kernel)
    expected = {f"{name}.weight": shape for name, shape in weights.items()}
    expected |= {f"{name}.bias": shape[:1] for name, shape in weights.items()}
    for layer in range(layers):
        for gate in ("ih", "hh"):
            expected[f"recurrent.weight_{gate}_l{layer}"] = (3 * hidden, hidden)
            expected[f"recurrent.bias_{gate}_l{layer}"] = (3 * hidden,)
    return expected
