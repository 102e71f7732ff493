"""Autoencoders in training: the interface that the training loop asks for; needs torch, the extra `train`."""

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


def fresh_network(forest: Forest, config: TrainConfig, grammar: PCFG | None) -> Network:
    """Return an untrained network for a forest; a gvae without a grammar gets one that derives the whole library."""
    from edhie.generators.hvae.network import HVAENetwork  # which import this module
    from edhie.generators.sequence.model import CVAE, GVAE
    from edhie.generators.sequence.network import SequenceNetwork
    from edhie.generators.sequence.notation import InfixNotation, RuleNotation

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
    from edhie.generators.sequence.model import SequenceModel
    from edhie.generators.sequence.network import SequenceNetwork

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
