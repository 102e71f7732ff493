"""Pairs of functions of one variable with a constant each: two exponentials, a damped wave, and the like.

Neither function need explain much by itself, so neither becomes an elite. The best pair on the grid is taken from each
two families, even if other families do better on the grid: after both constants are fitted, it may be the right one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import Forest
from edhie.expr.splicing import Stock
from edhie.search.arrays import Indices, Numbers, root_weights, unfitted, with_missing
from edhie.search.mosaic.config import FunctionPairs

Pair = tuple[float, int, int, str]
"""The share of the target that two functions explain together, their indices, and the operator between them."""


def function_pairs(functions: Forest, values: Numbers, data: Data, relevance: Numbers) -> tuple[Forest, int]:
    """Return expressions of two functions each, with starting values for a fit, and how many pairs were screened.

    Functions of the variables with the highest `relevance` are paired.
    """
    library = functions.library
    if len(functions) < 2 or library.constant is None or "+" not in library or "*" not in library:
        return functions.take([]), 0
    some = slice(None, None, max(1, data.n_rows // FunctionPairs.MOST_ROWS))
    names = [library.variables[k] for k in np.sort(np.argsort(-relevance, kind="stable")[: FunctionPairs.VARIABLES])]
    chosen = np.array([k for k in range(len(functions)) if set(functions[k].variables) <= set(names)], np.int64)
    functions, values = functions.take(chosen), values[chosen, some]
    columns = dict(zip(data.names, data.columns[:, some], strict=True))
    root = root_weights(data)[some]
    target = data.y[some] * root
    with np.errstate(all="ignore"):
        products, n_products = _best_products(values, root, target, _families(functions), "/" in library)
        stock = Stock(functions)
        times = [stock.write("*", name, stock.trees(np.arange(len(functions)))) for name in names]
        terms = Forest.concatenate([functions, *times])
        term_values = np.concatenate([values, *(columns[name] * values for name in names)])
        about = _about_mean(target[np.newaxis], root)[0]
        units = _unit(_about_mean(term_values * root, root))
        sums = _best_sums(units, about / np.linalg.norm(about), _families(terms))
    made = _written(terms, sums[: FunctionPairs.SUMS], products[: FunctionPairs.PRODUCTS])
    return made, len(terms) * (len(terms) - 1) // 2 + n_products


def _families(functions: Forest) -> list[Indices]:
    """Return the indices of functions by family: those that differ only in their constants."""
    family = unfitted(functions).grouped()[1]
    return [np.flatnonzero(family == k) for k in range(int(family.max(initial=-1)) + 1)]


def _about_mean(rows: Numbers, root: Numbers) -> Numbers:
    """Return rows centred by their weighted mean, given rows times the root weights; zeros for constant rows."""
    about = rows - np.outer(rows @ root, root) / (root @ root)
    is_flat = ~(np.square(about).sum(axis=1) > FunctionPairs.FLAT * np.square(rows).sum(axis=1))
    return np.asarray(np.where(is_flat[:, np.newaxis], 0.0, about))


def _unit(rows: Numbers) -> Numbers:
    """Return rows normalised to length 1; rows of zeros stay."""
    squares = np.square(rows).sum(axis=1)
    return np.asarray(rows / np.sqrt(np.where(squares > 0, squares, 1.0))[:, np.newaxis])


def _best_sums(units: Numbers, target: Numbers, families: Sequence[Indices]) -> list[Pair]:
    """Return the pair of each two families, or of one, whose linear combination explains most; the best first."""
    loads = units @ target
    overlap = units @ units.T
    own = 1.0 - np.square(overlap)
    both = np.square(loads)[:, np.newaxis] + np.square(loads) - 2 * np.outer(loads, loads) * overlap
    shares = np.where(own > FunctionPairs.ALIKE, both / own, 0.0)
    found = []
    for k, first in enumerate(families):
        for second in families[k:]:
            part = shares[np.ix_(first, second)]
            i, j = np.unravel_index(int(np.argmax(part)), part.shape)
            found.append((float(part[i, j]), int(first[i]), int(second[j]), "+"))
    return sorted(found, reverse=True)


def _best_products(
    values: Numbers, root: Numbers, target: Numbers, families: Sequence[Indices], has_quotients: bool
) -> tuple[list[Pair], int]:
    """Return the pair of each two families for which (a·f + b)·g or (a·f + b)/g explains most, and the count."""
    found = []
    target = target / np.linalg.norm(target)
    n_screened = 0
    for operator in ("*", "/") if has_quotients else ("*",):
        factors = (values if operator == "*" else 1.0 / values) * root
        for second in families:
            for first in families:
                if first is second:
                    continue
                plain = np.nan_to_num(_unit(factors[second]))  # (g, rows)
                times = values[first][:, np.newaxis] * plain  # (f, g, rows)
                overlap = (times * plain).sum(axis=2)
                own = np.square(times).sum(axis=2) - np.square(overlap)
                load = plain @ target
                new = times @ target - overlap * load
                is_new = own > FunctionPairs.ALIKE * np.square(overlap)
                shares = np.where(is_new, np.square(load) + np.square(new) / own, 0.0)
                n_screened += shares.size
                i, j = np.unravel_index(int(np.argmax(np.nan_to_num(shares))), shares.shape)
                found.append((float(shares[i, j]), int(first[i]), int(second[j]), operator))
    return sorted(found, reverse=True), n_screened


def _written(terms: Forest, sums: Sequence[Pair], products: Sequence[Pair]) -> Forest:
    """Return the pairs as expressions; their linear constants are 1, because a fit solves for them.

    A sum is written as c·f + c·g, with and without an added constant, and as c·(f - g); a product as c·f·g and
    (c·f + c)·g; a quotient likewise.
    """
    stock, library, c = Stock(terms), terms.library, str(terms.library.constant)
    found = []
    for pairs in (sums, products):
        f, g = (stock.trees(np.array([pair[side] for pair in pairs], np.int64)) for side in (1, 2))
        operator = stock.symbols(np.array([library.ids[name] for *_, name in pairs], np.int64))
        if pairs is products:
            made = [stock.write(operator, "*", c, f, g), stock.write(operator, "+", "*", c, f, c, g)]
        else:
            made = [stock.write("+", "*", c, f, "*", c, g), stock.write("+", "+", "*", c, f, "*", c, g, c)]
            made += [stock.write("*", c, "-", f, g)] if "-" in library else []
        every = np.arange(len(made) * len(pairs)).reshape(len(made), len(pairs))
        found.append(Forest.concatenate(made).take(every.T.ravel()))  # all forms of the best pair first
    return with_missing(Forest.concatenate(found), 1.0)
