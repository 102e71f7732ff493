"""Equation discovery: from measurements to formulas that a scientist can read, trust and use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from edhie import search
    from edhie.corpora import Corpus
    from edhie.estimator import EDHiERegressor
    from edhie.evaluate import Constraints, Evaluator
    from edhie.expr import Expr, Forest, SymbolLibrary, operator, parse
    from edhie.expr.canonical import canonical
    from edhie.expr.equivalence import equivalent, simplify
    from edhie.grammar import PCFG

__all__ = [
    "PCFG", "Constraints", "Corpus", "EDHiERegressor", "Evaluator", "Expr", "Forest", "SymbolLibrary", "canonical",
    "equivalent", "operator", "parse", "search", "simplify",
]  # fmt: skip

# a name is imported when it is first used: `import edhie` itself loads nothing
_NAMES = {
    "edhie.corpora": ("Corpus",),
    "edhie.estimator": ("EDHiERegressor",),
    "edhie.evaluate": ("Constraints", "Evaluator"),
    "edhie.expr": ("Expr", "Forest", "SymbolLibrary", "operator", "parse"),
    "edhie.expr.canonical": ("canonical",),
    "edhie.expr.equivalence": ("equivalent", "simplify"),
    "edhie.grammar": ("PCFG",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
_ROOMS = ("search",)  # packages that need no import of their own: `edhie.search.run`


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"edhie.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'edhie' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
