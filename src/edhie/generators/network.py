"""Autoencoders in training: the interface that the training loop asks for, and GVAE and CVAE; needs torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.expr.symbols import NUMBER
from edhie.generators.base import Model
from edhie.generators.config import TrainConfig
from edhie.generators.sequence.model import CHANNELS, CVAE, GVAE, KERNELS, SequenceModel
from edhie.generators.sequence.notation import SHORTEST, InfixNotation, Notation, RuleNotation, padded
from edhie.grammar import PCFG, universal_grammar


class Network(nn.Module, ABC):
    """A variational autoencoder with a Gaussian latent space, in training."""

    @abstractmethod
    def prepare(self, forest: Forest) -> Any:
        """Return the forest as `losses` takes it, indexed by batch; raise an error if the model cannot express it."""

    @abstractmethod
    def losses(self, batch: Any, noise: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the cross-entropy of each expression, (n,), and its divergence by dimension, (n, latent)."""

    @abstractmethod
    def trained(self, weights: dict[str, NDArray[np.float32]]) -> Model:
        """Return the model for use, of this network's settings and the given weights."""


def sampled(mean: Tensor, log_variance: Tensor, noise: torch.Generator) -> Tensor:
    """Draw codes from N(mean, variance), differentiable in both (the reparametrisation trick)."""
    standard = torch.randn(mean.shape, generator=noise, dtype=mean.dtype, device=mean.device)
    return mean + standard * torch.exp(0.5 * log_variance)


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return KL(N(mean, variance) ‖ N(0, 1)) of each dimension."""
    return -0.5 * (1 + log_variance - mean * mean - torch.exp(log_variance))


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


def fresh_network(forest: Forest, config: TrainConfig, grammar: PCFG | None) -> Network:
    """Return an untrained network for a forest; a gvae without a grammar gets one that derives the whole library."""
    from edhie.generators.hvae.network import HVAENetwork  # which imports this module

    if grammar is not None and config.model != "gvae":
        raise GeneratorError(f"a grammar is what a gvae learns from; {config.model} needs none")
    if config.model == "hvae":
        return HVAENetwork(forest.library, config.hidden, config.latent, config.backend)
    if config.model == "cvae":
        return SequenceNetwork(CVAE, InfixNotation.for_forest(forest), hidden=config.hidden, latent=config.latent)
    if grammar is None:
        is_number = forest.tokens[forest.library.has_slot[forest.tokens]] == forest.library.ids.get(NUMBER.name, -1)
        grammar = universal_grammar(forest.library, np.unique(forest.values[is_number]).tolist())
    return SequenceNetwork(GVAE, RuleNotation.for_forest(forest, grammar), hidden=config.hidden, latent=config.latent)


def network_like(start: Model, forest: Forest, config: TrainConfig) -> Network:
    """Return a network with the weights of a trained model, to be fine-tuned on a forest."""
    from edhie.generators.hvae.network import HVAENetwork

    if start.kind != config.model:
        raise GeneratorError(f"the model to start from is of kind {start.kind}, the configuration says {config.model}")
    if (start.hidden_dim, start.latent_dim) != (config.hidden, config.latent):
        raise GeneratorError(
            f"the model to start from has hidden size {start.hidden_dim} and latent size {start.latent_dim}; "
            f"the configuration has {config.hidden} and {config.latent}"
        )
    if start.library != forest.library:
        raise GeneratorError(f"the model to start from is over ({start.library}), the forest over ({forest.library})")
    network: Network
    if isinstance(start, SequenceModel):
        network = SequenceNetwork(type(start), start.notation, hidden=config.hidden, latent=config.latent)
    else:
        network = HVAENetwork(start.library, config.hidden, config.latent, config.backend)
    network.load_state_dict({name: torch.tensor(array) for name, array in start.weights.items()})
    return network
