"""HVAE in training: weights and losses in PyTorch.

The model is written down in `reference`, which `backend="reference"` trains with. The fast path lays trees out by
level: on the CPU a batch goes through compiled kernels (`autograd`), on a GPU through tensor operations (`levels`).
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from edhie.expr import Forest, SymbolLibrary
from edhie.generators.common import refuse_numbers
from edhie.generators.config import Backend
from edhie.generators.hvae import levels
from edhie.generators.hvae.autograd import CompiledDownwards, CompiledErrors, CompiledUpwards
from edhie.generators.hvae.hvae import HVAE, shapes
from edhie.generators.hvae.layout import DownLayout, UpLayout, down_layout, up_layout
from edhie.generators.hvae.reference import Reference
from edhie.generators.network import Network, divergence, sampled


class HVAENetwork(Network):
    """Encoder with GRU21, a Gaussian latent space, decoder with GRU12.

    Weights are kept as (inputs, outputs), the three gates side by side.
    """

    def __init__(self, library: SymbolLibrary, hidden: int, latent: int, backend: Backend = "fast") -> None:
        super().__init__()
        self.library, self.backend = library, backend
        for name, shape in shapes(len(library), hidden, latent).items():
            bound = 1 / math.sqrt(latent if name.startswith("root") else hidden)
            self.register_parameter(name, nn.Parameter(torch.empty(*shape).uniform_(-bound, bound)))

    @property
    def _weights(self) -> dict[str, Tensor]:
        return cast(dict[str, Tensor], self._parameters)  # `named_parameters` takes longer than a layer

    def prepare(self, forest: Forest) -> Forest:
        """Return the forest itself."""
        refuse_numbers(forest, HVAE.kind)
        return forest

    def losses(self, batch: Forest, noise: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the cross-entropy of each tree's nodes, and its divergence by dimension."""
        if self.backend == "reference":
            return Reference(self.library, self._weights).losses(batch, noise)
        down = down_layout(batch)
        mean, log_variance = self.encode(up_layout(batch))
        logits = self.decode(sampled(mean, log_variance, noise), down)
        tree_errors = CompiledErrors.apply if logits.is_cpu else levels.tree_errors
        return tree_errors(down, logits), divergence(mean, log_variance)

    def encode(self, layout: UpLayout) -> tuple[Tensor, Tensor]:
        """Return mean and logarithm of the variance of each tree's code; (trees, latent)."""
        w = self._weights
        table = w["up_w_i"] + w["up_b_i"]  # (symbols, 3·hidden): W_i x + b_i for every one-hot x
        upwards = CompiledUpwards.apply if table.is_cpu else levels.upwards
        h = upwards(layout, table, w["up_w_h"], w["up_b_h"])  # (trees, hidden)
        mean = torch.addmm(w["mean_b"], h, w["mean_w"])
        return mean, torch.addmm(w["log_variance_b"], h, w["log_variance_w"])

    def decode(self, z: Tensor, layout: DownLayout) -> Tensor:
        """Return the logits of every node, in the layout's order, for trees of the layout's shape; (nodes, symbols)."""
        w = self._weights
        h = torch.addmm(w["root_b"], z, w["root_w"])  # (trees, hidden)
        weights = (w[f"down_{name}"] for name in ("w_o", "b_o", "w_i", "b_i", "w_h", "b_h"))
        logits: Tensor = (CompiledDownwards.apply if h.is_cpu else levels.downwards)(layout, h, *weights)
        return logits

    def trained(self, weights: dict[str, NDArray[np.float32]]) -> HVAE:
        """Return the model for use."""
        return HVAE(self.library, weights)
