"""What the training loop asks of a model; it needs torch, the extra `train`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sized
from typing import Any, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from edhie.expr import Forest
from edhie.generators.base import Model


class Examples(Sized, Protocol):
    """Expressions as a network wants them; made once, then taken from batch by batch."""

    def take(self, indices: NDArray[np.int64], /) -> Self:
        """Those at the given places."""


class Network(nn.Module, ABC):
    """A variational autoencoder with a Gaussian latent space, in training."""

    @abstractmethod
    def prepare(self, forest: Forest) -> Examples:
        """The forest as `losses` takes it; what the model cannot express raises."""

    @abstractmethod
    def losses(self, batch: Any, noise: torch.Generator) -> tuple[Tensor, Tensor]:
        """By expression its cross-entropy (n,), and by expression and dimension its divergence (n, latent)."""

    @abstractmethod
    def trained(self, weights: dict[str, NDArray[np.float32]]) -> Model:
        """The model for use, of this network's settings and the given weights."""


def sampled(mean: Tensor, log_variance: Tensor, noise: torch.Generator) -> Tensor:
    """Codes drawn from N(mean, variance), differentiable in both (the reparametrisation trick)."""
    standard = torch.randn(mean.shape, generator=noise, dtype=mean.dtype, device=mean.device)
    return mean + standard * torch.exp(0.5 * log_variance)


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """By dimension, how far N(mean, variance) is from the standard Gaussian: KL, never negative."""
    return -0.5 * (1 + log_variance - mean * mean - torch.exp(log_variance))


def weighted_mean(values: Tensor, weights: Tensor | None) -> Tensor:
    """Over expressions, each counting as much as its weight."""
    return values.mean() if weights is None else (values * weights).sum() / weights.sum()
