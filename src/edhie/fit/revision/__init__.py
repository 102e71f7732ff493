"""From a formula and data that it does not quite explain to the nearest formulas that do."""

from edhie.fit.revision.revise import revise
from edhie.fit.revision.revision import Original, Revision, Step

__all__ = ["Original", "Revision", "Step", "revise"]
