"""Versions of formulas as expressions: some variables become constants, which are merged where possible."""

from __future__ import annotations

from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import NUMBER, OPERATORS, constant
from edhie.selection.prior.versions import VERSIONS, Node, forms


def versions(forest: Forest, n: int = VERSIONS, *, seed: int = 0) -> Forest:
    """Return `n` versions of each formula, one formula after another; see `forms`.

    >>> from edhie.expr import parse
    >>> for expr in versions(Forest.from_exprs([parse("4*pi*k*(T1 - T2)/(1/r1 - 1/r2)")]), 3):
    ...     print(expr)
    c*k*(T1 - T2)/(1/r1 - 1/r2)
    c/(c - 1/r2)
    c*k*(T1 + c)/(1/r1 + c)
    """
    library = _library(forest.library)
    return Forest.from_exprs((Expr(library, written(form, library)) for form in forms(forest, n, seed=seed)), library)


def _library(given: SymbolLibrary) -> SymbolLibrary:
    """Return the library with all symbols that versions need."""
    symbols = [OPERATORS[name] for name in ("+", "-", "*", "/", "neg", "^", "sqrt")]
    if given.constant is None:
        symbols.append(constant(next(name for name in ("c", "C", "const", "const_") if name not in given)))
    return given.extended(*symbols, NUMBER)


def written(node: Node, library: SymbolLibrary) -> list[str]:
    """Return the tokens in prefix order: positive terms before negative ones, one fraction line for a product."""
    if node.kind in ("variable", "constant"):
        return [node.name or str(library.constant)]
    if node.kind == "number":
        return [numeral(float(node.value))]
    first, second = ([written(each, library) for each in node.side(sign)] for sign in (1, -1))
    if node.symbol is not None:
        return [node.symbol.name, *(token for tokens in first for token in tokens)]
    if node.kind == "sum":
        return _chain("-", [_chain("+", first or [["neg", *second.pop(0)]]), *second])
    above = _chain("*", first or [["1"]])
    return _chain("/", [above, _chain("*", second)]) if second else above


def _chain(name: str, parts: list[list[str]]) -> list[str]:
    """Return the parts joined from the left."""
    joined = parts[0]
    for part in parts[1:]:
        joined = [name, *joined, *part]
    return joined
