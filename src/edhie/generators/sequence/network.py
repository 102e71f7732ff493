"""The sequence models in training: a convolutional encoder and a recurrent decoder in PyTorch, after GVAE."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.generators.network import Network, divergence, sampled
from edhie.generators.sequence.model import CHANNELS, KERNELS, SequenceModel
from edhie.generators.sequence.notation import SHORTEST, Notation, padded


class SequenceNetwork(Network):
    """One-hot symbols, three convolutions, a Gaussian latent space, a GRU that gets the code at each step."""

    rivals: Tensor | None

    def __init__(self, kind: type[SequenceModel], notation: Notation, *, hidden: int, latent: int) -> None:
        super().__init__()
        self.kind, self.notation = kind, notation
        inputs = notation.symbols
        for kernel in KERNELS:
            self.add_module(f"convolution_{kernel}", nn.Conv1d(inputs, CHANNELS, kernel))
            inputs = CHANNELS
        self.summary = nn.Linear(CHANNELS * (notation.length + 1 - SHORTEST), hidden)
        self.mean, self.log_variance = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.opening = nn.Linear(latent, hidden)
        self.recurrent = nn.GRU(hidden, hidden, batch_first=True)
        self.scores = nn.Linear(hidden, notation.symbols)
        rivals = None if notation.rivals is None else torch.from_numpy(notation.rivals)
        self.register_buffer("rivals", rivals, persistent=False)

    def prepare(self, forest: Forest) -> Tensor:
        """Return the sequences, (expressions, length), on the device; one that is too long for fine-tuning raises."""
        spelled = self.notation.spelled(forest)
        sizes = np.diff(spelled[1])
        if sizes.max(initial=0) > self.notation.length:
            raise GeneratorError(
                f"{forest[int(sizes.argmax())]} needs {sizes.max()} symbols, the model's sequences have "
                f"{self.notation.length}: leave out longer expressions, or train a new model"
            )
        rows = torch.from_numpy(padded(spelled, self.notation.length, padding=self.notation.symbols - 1))
        return rows.to(self.mean.weight.device)

    def losses(self, target: Tensor, noise: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the cross-entropy of each expression's symbols, and its divergence by dimension."""
        mean, log_variance = self.encode(target)
        scores = self.decode(sampled(mean, log_variance, noise))
        if self.rivals is not None:
            scores = scores.masked_fill(~self.rivals[target], -torch.inf)
        steps = nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none").view_as(target)
        # Up to the first padding, that included: what stands behind it is never read, so nothing
        # is gained by learning it, and long paddings would drown short expressions.
        counted = torch.ones_like(steps)
        counted[:, 1:] = target[:, :-1] != self.notation.symbols - 1
        return (steps * counted).sum(1), divergence(mean, log_variance)

    def trained(self, weights: dict[str, NDArray[np.float32]]) -> SequenceModel:
        """Return the model for use."""
        return self.kind(self.notation, weights)

    def encode(self, symbols: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and logarithm of the variance of each sequence's code; (n, latent)."""
        x = nn.functional.one_hot(symbols, self.notation.symbols).transpose(1, 2).to(self.mean.weight.dtype)
        for kernel in KERNELS:
            x = torch.relu(self.get_submodule(f"convolution_{kernel}")(x))
        x = torch.relu(self.summary(x.transpose(1, 2).flatten(1)))
        return self.mean(x), self.log_variance(x)

    def decode(self, z: Tensor) -> Tensor:
        """Return the scores of every symbol at every step; (n, length, symbols)."""
        opened = torch.relu(self.opening(z))
        states, _ = self.recurrent(opened.unsqueeze(1).expand(-1, self.notation.length, -1))
        scores: Tensor = self.scores(states)
        return scores
