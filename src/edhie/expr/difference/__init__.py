"""Edits that lead from one expression to another, in words and by node, and their number as a distance."""

from edhie.expr.difference.difference import Difference, difference, distance
from edhie.expr.difference.matching import Matching
from edhie.expr.difference.shapes import Shape, shape_of

__all__ = ["Difference", "Matching", "Shape", "difference", "distance", "shape_of"]
