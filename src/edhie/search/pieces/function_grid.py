"""Functions of one variable with a constant from a grid: exp(c·x), x + c, sin(c·x), x^c and the like.

Most terms of formulas are such a function times powers of other variables. If a constant on the grid is close enough,
products with the function are found by screening, and a fit refines the constant. A user's own functions are included.
`opening_pieces` adds monomials and shifted functions, for parts of a template.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations_with_replacement

import numpy as np

from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.search.arrays import Numbers
from edhie.search.pieces.spelling import Speller, UnwritableError

SCALES = (0.1, 0.2, 0.35, 0.6, 1.0, 1.7, 3.0, 5.0)  # in units of a variable's typical size, or of its inverse
OWN_SCALES = (*SCALES, 10.0, 20.0, 50.0)  # for a user's functions, whose scale is not known
CYCLES, WAVES = 16.0, 20  # most periods of a wave within the range of a variable; number of frequencies
POWERS = (-3.0, -2.0, -1.5, -0.5, 0.5, 1.5, 2.5, 3.0)
INVERSE_SCALES = (0.3, 1.0, 3.0, 10.0, 30.0)  # of exp(c/x), in units of a variable's typical size
MOST_VARIABLES = 12  # the most relevant: the grid grows with their number
HIGHEST_POWER = 4  # degree of monomials with up to three variables; 2 with more


def own_functions(library: SymbolLibrary) -> list[str]:
    """Return the names of a user's own functions with one operand."""
    return [symbol.name for symbol in library.symbols if symbol.is_custom and symbol.arity == 1]


def function_grid(
    library: SymbolLibrary, columns: Numbers, relevance: Numbers, *, only: Sequence[str] | None = None
) -> Forest:
    """Return the grid of functions, for the variables with the highest `relevance` if there are many.

    `columns` are (variables, rows). The forest is empty for a library without constants. `only` restricts it to these
    functions.
    """
    tokens: list[list[int]] = []
    values: list[float] = []
    own = own_functions(library)
    chosen = np.sort(np.argsort(-relevance, kind="stable")[:MOST_VARIABLES])
    for k in chosen.tolist() if library.constant is not None else ():
        for name, numbers in _constants(columns[k], own).items():
            pattern = _pattern(name, library, library.variables[k])
            if pattern is not None and (only is None or name in only):
                tokens += [pattern] * len(numbers)
                values += numbers
    if not tokens:
        return Forest.from_exprs([], library)
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in tokens])])
    return Forest.checked(library, np.concatenate(tokens), offsets, np.array(values))


def _constants(column: Numbers, own: Sequence[str]) -> dict[str, list[float]]:
    """Return, by function, the constants of the grid for a variable with these values."""
    typical = float(np.median(np.abs(column))) or 1.0
    spread = float(np.ptp(column)) or 1.0
    rates = [sign * scale / typical for scale in SCALES for sign in (1, -1)]
    waves = np.geomspace(0.5, CYCLES, WAVES) * 2 * np.pi / spread
    shifts = [scale * typical for scale in SCALES]
    found = {"exp": rates, "tanh": [scale / typical for scale in SCALES]}
    found |= {name: waves.tolist() for name in ("sin", "cos")}
    found |= {name: [sign * scale / typical for scale in OWN_SCALES for sign in (1, -1)] for name in own}
    if (column != 0).all():
        found["exp/"] = [sign * scale * typical for scale in INVERSE_SCALES for sign in (1, -1)]
    if (column > 0).all():
        found |= {"shifted": shifts, "log": shifts, "^": list(POWERS)}
    return {name: [number for number in numbers if np.isfinite(number)] for name, numbers in found.items()}


def _pattern(name: str, library: SymbolLibrary, x: str) -> list[int] | None:
    """Return the tokens of a function of x; None if the library lacks a symbol."""
    c = str(library.constant)
    special = {"exp/": ("exp", "/", c, x), "shifted": ("+", x, c), "log": ("log", "+", x, c), "^": ("^", x, c)}
    pattern = special.get(name, (name, "*", c, x))
    return [library.ids[each] for each in pattern] if all(each in library.ids for each in pattern) else None


# -- pieces for parts of a template -----------------------------------------------------


def opening_pieces(library: SymbolLibrary, columns: Numbers) -> Forest:
    """Return monomials, shifted functions, and the grid of functions, from which parts of a template are built."""
    speller, n, written = Speller(library), len(library.variables), list[Expr]()
    for exponents in exponents_up_to(n, HIGHEST_POWER if n <= 3 else 2):
        with suppress(UnwritableError):
            written.append(speller.monomial(exponents))
    written += _shifted(speller, columns)
    grid = function_grid(library, columns, np.ones(len(columns)))
    return Forest.concatenate([Forest.from_exprs(written, library), grid])


def exponents_up_to(n: int, degree: int) -> list[tuple[int, ...]]:
    """Return the exponents of all monomials of `n` variables of degree 1 to `degree`, the lowest degree first."""
    found: list[tuple[int, ...]] = []
    for total in range(1, degree + 1):
        every = combinations_with_replacement(range(n), total)
        found += sorted(tuple(map(chosen.count, range(n))) for chosen in every)
    return found


def _shifted(speller: Speller, columns: Numbers) -> Iterator[Expr]:
    """Yield 1/(x + c), x/(x + c), sqrt(x + c) and exp(-c·x²)."""
    if speller.library.constant is None:
        return
    for name, column in zip(speller.library.variables, columns, strict=True):
        x = speller.leaf(name)
        typical = float(np.median(np.abs(column))) or 1.0
        least = float(column.min())
        for scale in SCALES:
            shift = speller.number(scale * typical - min(least, 0.0))
            with suppress(UnwritableError):
                shifted = speller.over("+", x, shift)
                yield speller.over("/", speller.number(1.0), shifted)
                yield speller.over("/", x, shifted)
                yield speller.over("sqrt", shifted)
        for scale in SCALES:
            with suppress(UnwritableError):
                yield speller.over("exp", speller.over("*", speller.number(-scale / typical**2), speller.power(x, 2)))
