"""Functions of one variable with one constant, on a grid of it: exp(c·x), x + c, sin(c·x), x^c and the like.

A term of a formula is most often such a shape times powers of other variables. With the right shape on the grid,
and its products weighed in closed form, the constant has only to be fitted. Functions that a user added are among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary

Numbers = NDArray[np.float64]
SCALES = (0.1, 0.2, 0.35, 0.6, 1.0, 1.7, 3.0, 5.0)  # of a variable's typical size, or the inverse of it
OWN_SCALES = (*SCALES, 10.0, 20.0, 50.0)  # of a user's functions nobody knows where they bend
CYCLES = 16.0  # of a wave within the range of a variable, at most
WAVES = 20
POWERS = (-3.0, -2.0, -1.5, -0.5, 0.5, 1.5, 2.5, 3.0)
INVERSE_SCALES = (0.3, 1.0, 3.0, 10.0, 30.0)  # of exp(c/x), in a variable's typical size
MOST_VARIABLES = 12


def own_functions(library: SymbolLibrary) -> list[str]:
    """The functions of one operand that a user added."""
    return [symbol.name for symbol in library.symbols if symbol.is_custom and symbol.arity == 1]


def shapes(
    library: SymbolLibrary, columns: Numbers, relevance: Numbers, *, only: Sequence[str] | None = None
) -> Forest:
    """Shapes of the variables, of the most relevant where there are many; none without constants to write them.

    With `only`, those of these kinds alone.
    """
    if library.constant is None:
        return Forest.from_exprs([], library)
    tokens: list[list[int]] = []
    values: list[float] = []
    ids, c = library.ids, library.ids[library.constant]
    own = own_functions(library)
    chosen = np.sort(np.argsort(-relevance, kind="stable")[:MOST_VARIABLES])
    for k in chosen.tolist():
        x = ids[library.variables[k]]
        for name, numbers in _families(columns[k], own).items():
            pattern = _pattern(name, ids, x, c)
            if pattern is not None and (only is None or name in only):
                tokens += [pattern] * len(numbers)
                values += numbers
    if not tokens:
        return Forest.from_exprs([], library)
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in tokens])])
    return Forest.checked(library, np.concatenate(tokens), offsets, np.array(values))


def _families(column: Numbers, own: Sequence[str]) -> dict[str, list[float]]:
    """By kind of shape: the constants that suit a variable's values."""
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


def _pattern(name: str, ids: dict[str, int], x: int, c: int) -> list[int] | None:
    """The tokens of a shape; None where the library lacks a symbol."""
    needed = {"shifted": ("+",), "log": ("log", "+"), "^": ("^",), "exp/": ("exp", "/")}.get(name, (name, "*"))
    if any(each not in ids for each in needed):
        return None
    if name == "exp/":
        return [ids["exp"], ids["/"], c, x]
    if name == "shifted":
        return [ids["+"], x, c]
    if name == "log":
        return [ids["log"], ids["+"], x, c]
    if name == "^":
        return [ids["^"], x, c]
    return [ids[name], ids["*"], c, x]
