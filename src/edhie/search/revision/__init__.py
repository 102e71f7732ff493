"""Revision of a formula: expressions near it that explain the data better."""

from edhie.search.revision.formula import formula_over, refitted
from edhie.search.revision.search import Revise, ReviseConfig

__all__ = ["Revise", "ReviseConfig", "formula_over", "refitted"]
