"""What the default search is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MosaicConfig:
    """How a mosaic is laid: which pieces there are, and how they are put together."""

    rows: int = 256
    """Rows, spread over the target's range, that pieces are weighed on."""
    first: int = 48
    """Pieces looked at in the first round; every round has half as many again."""
    most: int = 3000
    """Pieces looked at in a round at most."""
    kept: int = 6000
    """Pieces kept to build with, the smallest first."""
    largest: int = 20
    """Nodes of a piece at most."""
    longest: int = 80
    """Nodes of a written expression at most."""
    frames: int = 36
    """Ways of looking at the target that are worked on at once."""
    elites: int = 80
    """The best pieces that each of them remembers."""
    written: int = 2
    """New expressions that a frame writes in a round at most."""
    links: bool = True
    """Whether the target is also looked at through functions that can be undone: its reciprocal, square, …"""
    products: bool = True
    """Whether it is also looked at as a product of powers, through its logarithm."""
    scales: bool = True
    """Whether it is also looked at after multiplying it with powers of the variables."""
    quotients: bool = True
    """Whether quotients of polynomials are looked for at the beginning."""
    blocks: bool = True
    """Whether polynomials of the variables come free."""
    pairs: bool = True
    """Whether all pairs of pieces are weighed at once, and their products."""
    shapes: bool = True
    """Whether functions of one variable with one constant are tried on a grid of it, in products with pieces."""
    layers: bool = True
    """Whether a good piece is laid down for good, and others looked for beside it."""
    evolution: bool = True
    """Whether the best pieces are changed, tree by tree."""
    latent: bool = True
    """Whether the best pieces are changed in the generator's latent space too, where it has one."""
    enumeration: bool = True
    """Whether the shortest expressions are looked at in order."""
    samples: bool = True
    """Whether pieces are taken from expressions that the generator gives."""
    noise: bool = True
    """Whether rows count by the noise that each way of looking at the target gives them."""
    refits: bool = True
    """Whether constants are fitted again to the target itself, all at once."""
