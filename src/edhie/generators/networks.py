"""The networks by the name of their model, for training them; they need torch, the extra `train`."""

from __future__ import annotations

import torch

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.generators.base import Model
from edhie.generators.config import TrainConfig
from edhie.generators.hvae.model import HVAENetwork
from edhie.generators.network import Network
from edhie.grammar import PCFG


def fresh(forest: Forest, config: TrainConfig, grammar: PCFG | None) -> Network:
    """An untrained network for a forest."""
    if grammar is not None and config.model != "gvae":
        raise GeneratorError(f"a grammar is what a gvae learns from; {config.model} needs none")
    return HVAENetwork(forest.library, config.hidden, config.latent)


def going_on_from(start: Model, forest: Forest, config: TrainConfig) -> Network:
    """A network with the weights of a trained model."""
    if start.kind != config.model:
        raise GeneratorError(f"the model to start from is of kind {start.kind}, the configuration says {config.model}")
    if (start.hidden_dim, start.latent_dim) != (config.hidden, config.latent):
        raise GeneratorError(
            f"the model to start from has hidden size {start.hidden_dim} and latent size {start.latent_dim}; "
            f"the configuration has {config.hidden} and {config.latent}"
        )
    if start.library != forest.library:
        raise GeneratorError(f"the model to start from is over ({start.library}), the forest over ({forest.library})")
    network = HVAENetwork(start.library, config.hidden, config.latent)
    network.load_state_dict({name: torch.tensor(array) for name, array in start.weights.items()})
    return network
