"""Expressions as people write them."""

from edhie.expr.plain.exponentials import with_natural_base
from edhie.expr.plain.form import plain_form
from edhie.expr.plain.named import named_numbers
from edhie.expr.plain.redundancy import without_redundancy
from edhie.expr.plain.short import short_form

__all__ = ["named_numbers", "plain_form", "short_form", "with_natural_base", "without_redundancy"]
