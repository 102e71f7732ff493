"""Revising an equation: from a formula that does not quite explain the data to those nearby that do."""

from edhie.search.revision.formula import formula_over, refitted
from edhie.search.revision.search import Revise, ReviseConfig

__all__ = ["Revise", "ReviseConfig", "formula_over", "refitted"]
