"""Revision of a formula: the nearest formulas that explain the data."""

from edhie.fit.revision.revise import revise
from edhie.fit.revision.revision import Original, Revision, Step

__all__ = ["Original", "Revision", "Step", "revise"]
