"""Named curves: what people try first, each fitted with care, so that it is there to be compared.

The curves of one column are those of `selection/prior/curves.toml`. With several columns, the common ones, and powers
of sines of angles, are also tried times powers of the others, and so is the product of powers of all columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from edhie.errors import EdhieError
from edhie.evaluate.constants.fitting import FitConfig, fit_missing
from edhie.evaluate.constants.logarithmic_fit import logarithmic_fit
from edhie.evaluate.data import Data, few_rows
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import NUMBER
from edhie.selection.prior.curves import by_frequency, curves, with_variable
from edhie.selection.units import is_angle

ROWS = 100  # on which curves are fitted
OF_ANGLES = ("power_of_sine", "power_of_cosine")
MOST_COLUMNS = 4  # of a table whose columns have curves of their own
CAREFUL = FitConfig(points=300, starts=8, iterations=60, tolerance=1e-12, rows=None)


def named_curves(data: Data, library: SymbolLibrary, bounds: FitConfig) -> list[Expr]:
    """Return the curves that the library can write, fitted to the target for constant and for proportional noise."""
    if library.constant is None:
        return []
    few = few_rows(data, ROWS)
    given = [each for text in curves_of(few.names) if (each := _read(text, library)) is not None]
    forest = Forest.from_exprs(given, library)
    config = replace(CAREFUL, lower=bounds.lower, upper=bounds.upper)
    found = list(fit_missing(forest, few, config=config).forest)
    if (few.y != 0).all():
        relative = replace(few, weights=np.square(few.y.mean() / few.y) * (1.0 if few.weights is None else few.weights))
        found += fit_missing(forest, relative, config=config).forest
    without_numbers = [expr for expr in given if set(expr.constants) == {None}]
    found += [each for expr in without_numbers if (each := logarithmic_fit(expr, few, config)) is not None]
    return [each for each in found if None not in each.constants]


def curves_of(names: Sequence[str]) -> Iterator[str]:
    """Yield the texts of the curves of some columns.

    >>> [text for text in curves_of(["T"]) if "exp" in text][0]
    'c*exp(c*T) + c'
    """
    if len(names) > 1:
        yield "c*" + "*".join(f"{name}^c" for name in names)
        yield " + ".join(("c", *(f"c*{name}" for name in names)))
    if len(names) > MOST_COLUMNS:
        return
    for name in names:
        known = curves()
        if len(names) > 1:  # there are many more ways
            known = by_frequency()["common"] | {each: known[each] for each in OF_ANGLES if is_angle(name)}
        others = [other for other in names if other != name]
        for text, *_ in known.values():
            own = with_variable(text, name)
            yield own
            yield from (f"{other}*({own})" for other in others)
            if len(others) > 1:
                yield f"{'*'.join(f'{other}^c' for other in others)}*({own})"


def _read(text: str, library: SymbolLibrary) -> Expr | None:
    """Return a curve whose numbers are constants with these values; None if the library lacks an operator."""
    try:
        read = parse(text, library.extended(NUMBER))
    except EdhieError:
        return None
    kinds = [read.library[token].kind for token in read.tokens]
    constants = [None if kind == "constant" else float(token) for token, kind in zip(read.tokens, kinds, strict=True)
                 if kind in ("constant", "number")]  # fmt: skip
    tokens = [
        str(library.constant) if kind == "number" else token for token, kind in zip(read.tokens, kinds, strict=True)
    ]
    return Expr(library, tokens, constants)
