"""Generators of expressions: interfaces, autoencoders, their training and their folders."""

from edhie.generators.base import Codes, Decoded, Generator, LatentGenerator
from edhie.generators.config import Constraints, TrainConfig
from edhie.generators.hvae.hvae import HVAE
from edhie.generators.saving import load, save
from edhie.generators.sequence.model import CVAE, GVAE

__all__ = [
    "CVAE", "GVAE", "HVAE", "Codes", "Constraints", "Decoded", "Generator", "LatentGenerator", "TrainConfig", "load",
    "save",
]  # fmt: skip
