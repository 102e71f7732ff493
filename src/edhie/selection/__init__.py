"""Selection of equations: description lengths, noise models, the structure prior, and the rules that choose."""

from edhie.selection.choice import Alternative, alternatives, shortest_description
from edhie.selection.description import Criterion, description_bits
from edhie.selection.noise import NoiseModel

__all__ = ["Alternative", "Criterion", "NoiseModel", "alternatives", "description_bits", "shortest_description"]
