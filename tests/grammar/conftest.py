"""Small grammars that between them show every kind of rule, and trees to try them on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.grammar import PCFG

SMALL = {
    "arithmetic": """
        S -> S A F [0.4] | F [0.6]
        A -> '+' [0.5] | '-' [0.5]
        F -> F '*' T [0.3] | T [0.7]
        T -> '(' S ')' [0.25] | 'c' [0.25] | 'x0' [0.5]
    """,
    "powers": """
        E -> '(' E ')' P [0.3] | R '(' E ')' [0.1] | V [0.6]
        P -> '^2' [0.3] | Q [0.7]
        Q -> '^3' [0.9] | '^2' [0.1]
        R -> 'sin' [1.0]
        V -> 'x0' [0.5] | 'x1' [0.5]
    """,
    "patterns": """
        E -> E '+' F '*' '2' [0.2] | 'sin' '(' E '+' '-' F ')' [0.1] | F [0.7]
        F -> 'max' '(' E ',' 'x0' O F ')' [0.1] | 'x0' [0.6] | '(' E ')' [0.3]
        O -> '+' [0.5] | '*' [0.5]
    """,
    "ambiguous": "E -> E '+' E [0.3] | '-' E [0.1] | '(' E ')' [0.2] | 'x0' [0.1] | 'c' [0.3]",
    "circle": """
        A -> B [0.5] | 'x0' [0.3] | 'sin' '(' B ')' [0.2]
        B -> C [0.9] | 'c' [0.1]
        C -> A [0.6] | 'x0' [0.2] | A '+' 'x0' [0.2]
    """,
}


@pytest.fixture(params=sorted(SMALL))
def small(request: pytest.FixtureRequest) -> PCFG:
    return PCFG.parse(SMALL[request.param])


@pytest.fixture(scope="session")
def all_trees() -> Callable[[SymbolLibrary, int], Forest]:
    """Every tree of exactly a size over a library's symbols."""

    def of_size(library: SymbolLibrary, size: int) -> list[tuple[str, ...]]:
        if size == 1:
            return [(symbol.name,) for symbol in library.symbols if symbol.arity == 0]
        found = []
        for symbol in library.symbols:
            if symbol.arity == 1:
                found += [(symbol.name, *inner) for inner in of_size(library, size - 1)]
            if symbol.arity == 2:
                for left in range(1, size - 1):
                    rights = of_size(library, size - 1 - left)
                    found += [(symbol.name, *a, *b) for a in of_size(library, left) for b in rights]
        return found

    return lambda library, size: Forest.from_exprs([Expr(library, t) for t in of_size(library, size)], library)
