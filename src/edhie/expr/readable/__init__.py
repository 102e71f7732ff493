"""Expressions as people write them: readable, short, and without redundant constants."""

from edhie.expr.readable.form import readable_form, short_form, with_natural_base
from edhie.expr.readable.number_names import named_numbers, short_reciprocals
from edhie.expr.readable.redundant_constants import without_redundant_constants
from edhie.expr.readable.roots import without_roots_of_squares

__all__ = [
    "named_numbers",
    "readable_form",
    "short_form",
    "short_reciprocals",
    "with_natural_base",
    "without_redundant_constants",
    "without_roots_of_squares",
]
