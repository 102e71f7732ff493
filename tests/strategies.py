"""Hypothesis strategies of expressions, shared by all tests: any tree over any library."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from edhie.expr import Expr, Forest, SymbolLibrary, operator
from edhie.expr import standard_libraries as standard
from edhie.expr.numerals import numeral
from edhie.expr.symbols import OPERATORS, Symbol

GAUSS = operator("gauss", 1, numpy=lambda a: np.exp(-np.square(a)))
HYPOT = operator("hypot", 2, numpy=np.hypot)

LIBRARIES = {
    "nguyen": standard.nguyen(2),
    "feynman": standard.feynman(2),
    "ae": standard.ae(),
    "trig": standard.trig(2),
    "everything": standard.everything(["x", "y"]),
    "powers without ^": SymbolLibrary.of(["*", "neg", "^2", "^3"], ["x"], literals=("2",), numbers=True),
    "^ without powers": SymbolLibrary.of(["-", "^", "neg"], ["x"], literals=("2", "-3", "pi"), constant=True),
    "literals without numbers": SymbolLibrary.of(["+", "/", "^", "^2"], 1, literals=("1", "2", "-1", "0.5", "e")),
    "numbers without neg": SymbolLibrary.of(["-", "*", "^", "^2", "sin"], ["t"], numbers=True, constant=True),
    "a user's operators": SymbolLibrary.of(["+", "^", GAUSS, HYPOT], ["x"], constant="k", numbers=True),
    "names that mislead": SymbolLibrary.of(
        ["+", "-", "^", "neg", "max", "exp"], ["c", "e", "pi", "sin", "E", "ln", "lambda", "速度", "_"], constant=True
    ),
    "one leaf": SymbolLibrary.of([], ["x"]),
}
NUMBERS = ("0", "1", "2", "3", "-1", "-2", "0.5", "-0.25", "1e-05", "-3e-300", "2.5e+20", "1e+308", "12345678.9")
TAME_NUMBERS = ("0", "1", "2", "-1", "-2", "0.5", "-0.25", "3.5")
COLUMN_NAMES = ("x0", "x", "t", "c", "e", "k", "E", "ln", "max", "lambda", "None", "θ", "तापमान", "x_1", "CO₂")

finite = st.floats(allow_nan=False, allow_infinity=False)
any_number = st.sampled_from(NUMBERS) | finite.map(numeral)
any_library = st.sampled_from(list(LIBRARIES.values()))


@st.composite
def random_libraries(draw: st.DrawFn) -> SymbolLibrary:
    """A library of any operators and leaves, at least one of them a variable."""
    names = draw(st.lists(st.sampled_from(COLUMN_NAMES), min_size=1, max_size=4, unique=True))
    operators: list[str | Symbol] = [name for name in OPERATORS if name not in names and draw(st.booleans())]
    literals = draw(st.lists(any_number | st.sampled_from(["pi", "e"]), max_size=3))
    return SymbolLibrary.of(
        operators + draw(st.sampled_from([[], [GAUSS], [GAUSS, HYPOT]])),
        names,
        constant=draw(st.booleans()),
        literals=dict.fromkeys(literals),
        numbers=draw(st.booleans()),
    )


@st.composite
def exprs(
    draw: st.DrawFn,
    library: SymbolLibrary | None = None,
    *,
    names: Sequence[str] | None = None,
    numbers: st.SearchStrategy[str] | Sequence[str] = any_number,
    values: st.SearchStrategy[float | None] = st.none(),  # noqa: B008 -- strategies are values
    max_symbols: int = 30,
) -> Expr:
    """A tree of symbols of a library (drawn too, where none is given), or of those among them that are named."""
    library = draw(any_library) if library is None else library
    symbols = [library[name] for name in (library.names if names is None else names)]
    leaves = st.sampled_from([symbol.name for symbol in symbols if symbol.arity == 0 and symbol.kind != "number"])
    if library.has_numbers:
        leaves |= st.sampled_from(numbers) if isinstance(numbers, Sequence) else numbers
    operators = [symbol.name for symbol in symbols if symbol.arity]
    tokens = st.sampled_from(operators) | leaves if operators else leaves
    tree = grown(library, draw(st.lists(tokens, max_size=max_symbols)) or [draw(leaves)], symbols)
    return Expr(library, tree, [draw(values) for token in tree if token == library.constant])


def grown(library: SymbolLibrary, postfix: Sequence[str], symbols: Sequence[Symbol]) -> tuple[str, ...]:
    """Prefix tokens of any symbols in postfix order: those that lack operands take a leaf, loose ends are joined."""
    finished: list[tuple[str, ...]] = []
    leaf = next((symbol.name for symbol in symbols if symbol.kind == "variable"), symbols[-1].name)
    for token in postfix:
        arity = library[token].arity
        operands = [finished.pop() if finished else (leaf,) for _ in range(arity)][::-1]
        finished.append((token, *itertools.chain(*operands)))
    joint = next((symbol.name for symbol in symbols if symbol.arity == 2), None)
    while joint and len(finished) > 1:
        finished[-2:] = [(joint, *finished[-2], *finished[-1])]
    return finished[-1]


def forests(library: SymbolLibrary, *, max_size: int = 12, max_symbols: int = 12) -> st.SearchStrategy[Forest]:
    """Any few trees over a library, with numbers and constants that are fitted or not."""
    values = st.none() | st.sampled_from([0.0, 1.0, -2.5])
    trees = exprs(library, numbers=TAME_NUMBERS, values=values, max_symbols=max_symbols)
    return st.lists(trees, max_size=max_size).map(lambda trees: Forest.from_exprs(trees, library))
