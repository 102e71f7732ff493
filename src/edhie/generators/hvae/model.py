"""HVAE for training: its weights, its two recursions and its latent space, in PyTorch."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from edhie.expr import Forest, SymbolLibrary
from edhie.generators.checks import refuse_numbers
from edhie.generators.hvae.hvae import HVAE
from edhie.generators.hvae.layout import DownLayout, UpLayout, down_layout, up_layout
from edhie.generators.hvae.recursion import downwards, tree_errors, upwards
from edhie.generators.network import Network, divergence, sampled


class HVAENetwork(Network):
    """Encoder with GRU21, a Gaussian latent space, decoder with GRU12.

    Weights are kept as (inputs, outputs), the three gates side by side.
    """

    def __init__(self, library: SymbolLibrary, hidden: int, latent: int) -> None:
        super().__init__()
        self.library = library
        symbols = len(library)

        def weights(*shape: int, fan: int = hidden) -> nn.Parameter:
            bound = 1 / math.sqrt(fan)
            return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))

        self.up_w_i, self.up_b_i = weights(symbols, 3 * hidden), weights(3 * hidden)
        self.up_w_h, self.up_b_h = weights(2 * hidden, 3 * hidden), weights(3 * hidden)
        self.mean_w, self.mean_b = weights(hidden, latent), weights(latent)
        self.log_variance_w, self.log_variance_b = weights(hidden, latent), weights(latent)
        self.root_w, self.root_b = weights(latent, hidden, fan=latent), weights(hidden, fan=latent)
        self.down_w_o, self.down_b_o = weights(hidden, symbols), weights(symbols)
        self.down_w_i, self.down_b_i = weights(symbols, 6 * hidden), weights(6 * hidden)
        self.down_w_h, self.down_b_h = weights(hidden, 6 * hidden), weights(6 * hidden)

    def prepare(self, forest: Forest) -> Forest:
        """The forest itself."""
        refuse_numbers(forest, HVAE.kind)
        return forest

    def losses(self, batch: Forest, noise: torch.Generator) -> tuple[Tensor, Tensor]:
        """By tree the cross-entropy of its nodes, and by tree and dimension its divergence."""
        down = down_layout(batch)
        mean, log_variance = self.encode(up_layout(batch))
        logits = self.decode(sampled(mean, log_variance, noise), down)
        return tree_errors(down, logits), divergence(mean, log_variance)

    def trained(self, weights: dict[str, NDArray[np.float32]]) -> HVAE:
        """The model for use."""
        return HVAE(self.library, weights)

    def encode(self, layout: UpLayout) -> tuple[Tensor, Tensor]:
        """Mean and logarithm of the variance of each tree's code; (trees, latent)."""
        table = self.up_w_i + self.up_b_i  # (symbols, 3·hidden)
        roots = upwards(layout, table, self.up_w_h, self.up_b_h)
        mean = torch.addmm(self.mean_b, roots, self.mean_w)
        return mean, torch.addmm(self.log_variance_b, roots, self.log_variance_w)

    def decode(self, z: Tensor, layout: DownLayout) -> Tensor:
        """Logits of every node, in the layout's order, for trees of the layout's shape; (nodes, symbols)."""
        return downwards(
            layout, torch.addmm(self.root_b, z, self.root_w),
            self.down_w_o, self.down_b_o, self.down_w_i, self.down_b_i, self.down_w_h, self.down_b_h,
        )  # fmt: skip
