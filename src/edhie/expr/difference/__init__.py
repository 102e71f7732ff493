"""What changes from one expression to another: edits, in words and by node; the distance is how many there are."""

from edhie.expr.difference.difference import Difference, difference, distance
from edhie.expr.difference.matching import Matching
from edhie.expr.difference.shapes import Shape, shape_of

__all__ = ["Difference", "Matching", "Shape", "difference", "distance", "shape_of"]
