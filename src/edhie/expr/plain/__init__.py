"""Expressions as people write them."""

from edhie.expr.plain.form import plain_form
from edhie.expr.plain.redundancy import without_redundancy

__all__ = ["plain_form", "without_redundancy"]
