"""Generators: what gives expressions, from a grammar or from a latent space."""

from edhie.generators.base import Codes, Decoded, Generator, LatentGenerator
from edhie.generators.config import TrainConfig
from edhie.generators.constraints import Constraints
from edhie.generators.folder import load, save
from edhie.generators.hvae.hvae import HVAE
from edhie.generators.sequence.cvae import CVAE
from edhie.generators.sequence.gvae import GVAE

__all__ = [
    "CVAE",
    "GVAE",
    "HVAE",
    "Codes",
    "Constraints",
    "Decoded",
    "Generator",
    "LatentGenerator",
    "TrainConfig",
    "load",
    "save",
]
