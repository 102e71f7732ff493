"""Limits on decoded expressions, as masks over symbols: nothing is rejected afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SymbolError
from edhie.expr import SymbolLibrary

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Constraints:
    """Limits on decoded expressions."""

    max_height: int = 16
    """The greatest height of a tree, counted in nodes."""
    max_size: int = 128
    """The most nodes of a tree."""
    forbidden: Collection[str] = ()
    """Symbols that must not appear."""
    forbidden_nestings: Collection[tuple[str, str]] = ()
    """Pairs (outer, inner): inner must not appear anywhere below outer."""
    operands: Mapping[str, Collection[str]] = field(default_factory=dict)
    """For an operator, the only variables that may appear below it."""

    def __post_init__(self) -> None:
        for name in ("max_height", "max_size"):
            if getattr(self, name) < 1:
                raise SymbolError(f"{name} must be at least 1, not {getattr(self, name)}")

    def masks(self, library: SymbolLibrary) -> tuple[Mask, Mask]:
        """Return the symbols allowed at all, (symbols,), and by symbol those barred below it, (symbols, symbols)."""
        # a number of any value is nothing without one, and a decoder gives symbols only
        allowed = np.array([symbol.kind != "number" for symbol in library.symbols], dtype=np.bool_)
        for name in self.forbidden:
            allowed[library.id_of(name)] = False
        barred = np.zeros((len(library), len(library)), dtype=np.bool_)
        for outer, inner in self.forbidden_nestings:
            barred[_inner_symbol(library, outer), library.id_of(inner)] = True
        for name, variables in self.operands.items():
            for each in variables:
                if library[each].kind != "variable":
                    raise SymbolError(f"{each!r} is not a variable of the library ({library})")
            for variable in library.variables:
                barred[_inner_symbol(library, name), library.id_of(variable)] |= variable not in variables
        if not allowed[library.arities == 0].any():
            raise SymbolError("every variable and constant is forbidden, so no expression can end")
        return allowed, barred


def allowed_at(allowed: Mask, nesting: Mask, arities: Ints, barred: Mask | None, *, only_leaves: bool) -> Mask:
    """Return the symbols that each node of one depth may have; (nodes or 1, symbols).

    `allowed` and `nesting` are those of `Constraints.masks`; `barred` (nodes, symbols) holds what symbols above bar,
    and is None where there are no nestings.
    """
    mask: Mask = (allowed & (arities == 0) if only_leaves else allowed)[None, :]
    if barred is None:
        return mask
    leaves = np.flatnonzero(allowed & (arities == 0))
    # an operator is allowed only if some leaf is left for its operands
    dead_end = (barred[:, None, leaves] | nesting[None, :, leaves]).all(axis=2) & (arities > 0)
    result: Mask = mask & ~barred & ~dead_end
    return result


def _inner_symbol(library: SymbolLibrary, name: str) -> int:
    if not library[name].arity:
        raise SymbolError(f"nothing stands below {name!r}: it is no operator")
    return library.id_of(name)
