"""Revising an equation: from a formula that does not quite explain the data to those nearby that do."""

from edhie.search.revision.config import ReviseConfig
from edhie.search.revision.formula import formula_over, refitted
from edhie.search.revision.search import Revise

__all__ = ["Revise", "ReviseConfig", "formula_over", "refitted"]
