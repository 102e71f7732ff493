"""Functions of one variable with a constant from a grid: exp(c·x), x + c, sin(c·x), x^c and the like.

Most terms of formulas are such a function times powers of other variables. If a constant on the grid is close enough,
products with the function are found by screening, and a fit refines the constant. A user's own functions are included.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import Numbers

SCALES = (0.1, 0.2, 0.35, 0.6, 1.0, 1.7, 3.0, 5.0)  # in units of a variable's typical size, or of its inverse
OWN_SCALES = (*SCALES, 10.0, 20.0, 50.0)  # for a user's functions, whose scale is not known
CYCLES, WAVES = 16.0, 20  # most periods of a wave within the range of a variable; number of frequencies
POWERS = (-3.0, -2.0, -1.5, -0.5, 0.5, 1.5, 2.5, 3.0)
INVERSE_SCALES = (0.3, 1.0, 3.0, 10.0, 30.0)  # of exp(c/x), in units of a variable's typical size
MOST_VARIABLES = 12  # the most relevant: the grid grows with their number


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
