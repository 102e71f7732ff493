"""The libraries of the paper, and one for general use."""

from __future__ import annotations

from collections.abc import Sequence

from edhie.expr.library import SymbolLibrary, variable_names
from edhie.expr.symbols import OPERATORS

ARITHMETIC = ("+", "-", "*", "/")
Variables = int | Sequence[str]


def nguyen(variables: Variables = 1) -> SymbolLibrary:
    """Return the symbols of the Nguyen benchmark: no constants, powers 2 to 5, sin, cos, exp, log, sqrt."""
    return SymbolLibrary.of([*ARITHMETIC, "^2", "^3", "^4", "^5", "sin", "cos", "exp", "log", "sqrt"], variables)


def feynman(variables: Variables = 1) -> SymbolLibrary:
    """Return the symbols of the Feynman benchmark: fitted constants, powers 2 and 3, sin, cos, exp, sqrt."""
    return SymbolLibrary.of([*ARITHMETIC, "^2", "^3", "sin", "cos", "exp", "sqrt"], variables, constant=True)


def ae(variables: Variables = 1) -> SymbolLibrary:
    """Return the symbols of the AE corpora: five binary operators and the fitted constant."""
    return SymbolLibrary.of([*ARITHMETIC, "^"], variables, constant=True)


def trig(variables: Variables = 1) -> SymbolLibrary:
    """Return the symbols of the Trig corpora: those of AE with sine and cosine."""
    return SymbolLibrary.of([*ARITHMETIC, "^", "sin", "cos"], variables, constant=True)


def everything(variables: Variables = 1) -> SymbolLibrary:
    """Return every built-in symbol, the fitted constant, pi and e, and any number; formulas are read over it.

    A variable wins over the function of its name, so that data may have a column `max`.
    """
    names = variable_names(variables)
    operators = [name for name in OPERATORS if name not in names]
    return SymbolLibrary.of(operators, names, constant=True, literals=("pi", "e"), numbers=True)
