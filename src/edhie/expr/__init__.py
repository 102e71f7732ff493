"""Expressions: symbols, trees, notations, and everything one does with them."""

from edhie.expr.expression import Expr
from edhie.expr.forest import Forest
from edhie.expr.library import SymbolLibrary
from edhie.expr.notation import (
    from_postfix,
    from_prefix,
    to_infix,
    to_infix_tokens,
    to_postfix,
    to_postfix_tokens,
    to_prefix,
    to_prefix_tokens,
)
from edhie.expr.parser import from_infix_tokens, parse
from edhie.expr.symbols import Symbol, operator

__all__ = [
    "Expr", "Forest", "Symbol", "SymbolLibrary", "from_infix_tokens", "from_postfix", "from_prefix", "operator",
    "parse", "to_infix", "to_infix_tokens", "to_postfix", "to_postfix_tokens", "to_prefix", "to_prefix_tokens",
]  # fmt: skip
