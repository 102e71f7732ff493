"""Choose the columns of a wide table that are informative about the target, alone or in pairs.

Many columns allow many more expressions, most of them with columns that are unrelated to the target. So columns
are scored first: alone, by any curve; in products of two; in decision trees; and by how well they explain the
residuals of a quadratic form of those chosen.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Indices, Numbers
from edhie.errors import shortened
from edhie.evaluate import Data
from edhie.evaluate.data import few_rows
from edhie.expr import Expr
from edhie.fit.settings import Settings

LOGGER = logging.getLogger("edhie")

MANY = 30  # columns that are all searched; of wider tables, some are chosen
CHOSEN = 16  # most columns that are chosen, besides those that the user names
BY_TREES = 8, 12  # least and most columns that are chosen by trees
ROWS = 2000  # on which columns are scored
BINS, PER_BIN = 12, 8  # most quantile bins of a column, least rows in a bin
ALONE, PAIRED = 80, 40  # columns given to the trees: the best alone, and the best in pairs
WIDEST = 5000  # most columns whose products are scored
TREES, SHADOWS = 120, 20  # trees, and shuffled columns that show which importance is due to chance
SUPPORTED = 8  # most columns in the quadratic form
UNLIKELY = 0.01  # probability that any unrelated column is chosen

Places = Indices


def columns_to_search(data: Data, settings: Settings, *, also: Sequence[str] = ()) -> Places:
    """Return the positions of the columns to search: all of a narrow table, else the most informative ones.

    Columns that the settings name and those in `also` are among them. The choice is logged.
    """
    constraints = settings.constraints
    if data.n_variables <= MANY or (constraints is not None and getattr(constraints, "all_variables", False)):
        return np.arange(data.n_variables)
    named = _named(settings, also, data.names)
    chosen = np.union1d(informative_columns(data), named).astype(np.int64)
    listed = shortened(", ".join(data.names[k] for k in chosen))
    LOGGER.warning(
        "searching the %d most informative of %s columns: %s; to search others, choose columns",
        len(chosen), f"{data.n_variables:,}", listed,
    )  # fmt: skip
    return chosen


def informative_columns(data: Data, most: int = CHOSEN) -> Places:
    """Return the positions of the most informative columns, at most `most` of them, in order."""
    few = few_rows(data, ROWS)
    columns, y = _standardised(few.columns), _standardised(np.stack([few.y, _ranks(few.y)]))
    bins = _bins(few.columns)
    alone = np.maximum(*(_explained(bins, target) for target in y))
    narrow = np.sort(np.argsort(-alone, kind="stable")[:WIDEST])
    paired = np.zeros(len(columns))
    paired[narrow] = _explained_in_pairs(columns[narrow], y[0])
    looked_at = np.union1d(*(np.argsort(-each, kind="stable")[:n] for each, n in ((alone, ALONE), (paired, PAIRED))))
    importance, by_chance = _importances(few.columns[looked_at], y)
    order = np.argsort(-importance, kind="stable")
    n_sure = int(np.clip((importance > by_chance).sum(), *np.minimum(BY_TREES, most)))
    chosen = [int(looked_at[k]) for k in order[:n_sure]]
    left = _left_over(columns[chosen[:SUPPORTED]], y[0])
    further = _explained(bins, left)
    for k in np.argsort(-further, kind="stable").tolist():
        if len(chosen) == most or further[k] < _by_chance(len(y[0]), len(columns)):
            break
        chosen += [k] if k not in chosen else []
    return np.sort(np.array(chosen, np.int64))


def _standardised(rows: Numbers) -> Numbers:
    """Return rows with mean 0 and deviation 1; zeros where all values are the same or too large."""
    with np.errstate(all="ignore"):
        scaled = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(float).tiny)
        shifted = scaled - scaled.mean(axis=1, keepdims=True)
        found = shifted / shifted.std(axis=1, keepdims=True)
    return np.where(np.isfinite(found), found, 0.0)


def _ranks(values: Numbers) -> Numbers:
    """Return the rank of each value, which suits a target over many orders of magnitude better than its values."""
    ranks = np.empty(len(values))
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks


def _bins(columns: Numbers) -> Indices:
    """Return by column and row the quantile bin of the value; equal values are in the same bin."""
    n_rows = columns.shape[1]
    count = max(2, min(BINS, n_rows // PER_BIN))
    bins = np.empty(columns.shape, np.int64)
    for k, column in enumerate(columns):
        ordered = np.sort(column)
        bins[k] = np.searchsorted(ordered, column, side="left") * count // n_rows
    return bins


def _explained(bins: Indices, target: Numbers) -> Numbers:
    """Return by column the share of the target's variance that its bins explain, less the share expected by chance."""
    n_rows, total = len(target), float(np.square(target).sum())
    found = np.zeros(len(bins))
    if total == 0.0:
        return found
    for k, column in enumerate(bins):
        counts = np.bincount(column)
        sums = np.bincount(column, target)
        is_used = counts > 0
        between = float((np.square(sums[is_used]) / counts[is_used]).sum()) / total
        found[k] = between - (is_used.sum() - 1) / max(n_rows - 1, 1)
    return found


def _by_chance(n_rows: int, n_columns: int) -> float:
    """Return the share that the best of `n_columns` unrelated columns explains, less the share expected by chance."""
    from scipy.stats import chi2

    degrees = max(2, min(BINS, n_rows // PER_BIN)) - 1
    return float(chi2.isf(UNLIKELY / n_columns, degrees) - degrees) / n_rows


def _explained_in_pairs(columns: Numbers, target: Numbers) -> Numbers:
    """Return by column the largest squared correlation of the target with its product with any column."""
    n_rows = len(target)
    products = columns @ columns.T / n_rows
    spread = np.square(columns) @ np.square(columns).T / n_rows - np.square(products)
    with np.errstate(all="ignore"):
        squared = np.square((columns * target) @ columns.T / n_rows) / spread
    found: Numbers = np.where(spread > 1e-9, squared, 0.0).max(axis=1)
    return found


def _importances(columns: Numbers, targets: Numbers) -> tuple[Numbers, float]:
    """Return the importance of each column in trees, and the largest importance of a shuffled column."""
    from sklearn.ensemble import ExtraTreesRegressor

    rng = np.random.default_rng(0)
    shadows = rng.permuted(columns[rng.integers(len(columns), size=SHADOWS)], axis=1)
    rows = np.concatenate([columns, shadows]).T
    found = np.zeros(len(columns) + SHADOWS)
    for target in targets:
        forest = ExtraTreesRegressor(TREES // 2, max_features=0.5, min_samples_leaf=3, random_state=0)
        found = np.maximum(found, forest.fit(_ranked(rows), target).feature_importances_)
    return found[: len(columns)], float(found[len(columns) :].max())


def _ranked(rows: Numbers) -> NDArray[np.float32]:
    """Return ranks, since trees only compare values and use single precision."""
    return np.stack([np.searchsorted(np.sort(column), column) for column in rows.T], axis=1).astype(np.float32)


def _left_over(columns: Numbers, target: Numbers) -> Numbers:
    """Return the standardised residuals of a quadratic form of some columns."""
    ones = np.ones((1, len(target)))
    first, second = np.triu_indices(len(columns))
    terms = np.concatenate([ones, columns, columns[first] * columns[second]])
    solution, *_ = np.linalg.lstsq(terms.T, target, rcond=1e-9)
    left: Numbers = _standardised((target - solution @ terms)[np.newaxis])[0]
    return left


def _named(settings: Settings, also: Sequence[str], names: Sequence[str]) -> Places:
    """Return the positions of the columns that guesses, a template or constraints name."""
    words = set(also)
    for given in (*settings.guesses, *settings.recalled, settings.template):
        if isinstance(given, Expr):
            words.update(given.variables)
        elif isinstance(given, str):
            words.update(re.findall(r"\w+", given))
    if settings.constraints is not None:
        words.update(*settings.constraints.only_on.values())
    return np.array([k for k, name in enumerate(names) if name in words], np.int64)
