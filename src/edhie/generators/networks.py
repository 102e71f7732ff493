"""The networks by the name of their model, for training them; they need torch, the extra `train`."""

from __future__ import annotations

import numpy as np
import torch

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.expr.symbols import NUMBER
from edhie.generators.base import Model
from edhie.generators.config import TrainConfig
from edhie.generators.hvae.model import HVAENetwork
from edhie.generators.network import Network
from edhie.generators.sequence.cvae import CVAE, InfixNotation
from edhie.generators.sequence.gvae import GVAE, RuleNotation
from edhie.generators.sequence.model import SequenceModel
from edhie.generators.sequence.network import SequenceNetwork
from edhie.grammar import PCFG, universal_grammar


def fresh(forest: Forest, config: TrainConfig, grammar: PCFG | None) -> Network:
    """An untrained network for a forest."""
    if grammar is not None and config.model != "gvae":
        raise GeneratorError(f"a grammar is what a gvae learns from; {config.model} needs none")
    if config.model == "gvae":
        rules = RuleNotation.for_forest(forest, grammar or _grammar_of(forest))
        return SequenceNetwork(GVAE, rules, hidden=config.hidden, latent=config.latent)
    if config.model == "cvae":
        tokens = InfixNotation.for_forest(forest)
        return SequenceNetwork(CVAE, tokens, hidden=config.hidden, latent=config.latent)
    return HVAENetwork(forest.library, config.hidden, config.latent)


def _grammar_of(forest: Forest) -> PCFG:
    """One that derives all of a forest's library, and its numbers."""
    is_number = forest.tokens[forest.library.has_slot[forest.tokens]] == forest.library.ids.get(NUMBER.name, -1)
    return universal_grammar(forest.library, np.unique(forest.values[is_number]).tolist())


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
    network: Network
    if isinstance(start, SequenceModel):
        network = SequenceNetwork.like(start)
    else:
        network = HVAENetwork(start.library, config.hidden, config.latent)
    network.load_state_dict({name: torch.tensor(array) for name, array in start.weights.items()})
    return network
