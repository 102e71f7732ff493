"""What tests of the default search share: small libraries, data, frames, and what an expression leaves of a target."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames.frame import Frame, Term
from edhie.search.mosaic.frames.opening_frames import opening_frames

OPERATORS = ["+", "-", "*", "/", "^2", "^3", "sqrt", "sin", "cos", "exp", "log", "asin", "acos", "atan"]
Numbers = NDArray[np.float64]


def free(n_variables: int = 2) -> SymbolLibrary:
    """A library with constants to be fitted."""
    return SymbolLibrary.of(OPERATORS, n_variables, constant=True)


def strict(n_variables: int = 2) -> SymbolLibrary:
    """A library without any number."""
    return SymbolLibrary.of(OPERATORS, n_variables)


def positive(n_variables: int = 2, n_rows: int = 80, seed: int = 0) -> Numbers:
    """(variables, rows): between 0.5 and 3."""
    return np.random.default_rng(seed).uniform(0.5, 3, (n_variables, n_rows))


def data_of(columns: Numbers, y: Numbers, weights: Numbers | None = None) -> Data:
    """Data that are taken as they are."""
    return Data(np.ascontiguousarray(columns), y, weights, tuple(f"x{k}" for k in range(len(columns))))


def forest_of(library: SymbolLibrary, *texts: str) -> Forest:
    """Expressions from their texts."""
    return Forest.from_exprs([parse(text, library) for text in texts], library)


def term_of(library: SymbolLibrary, text: str, columns: Numbers, *, is_log: bool = False) -> Term:
    """A piece as a fixed term."""
    forest = forest_of(library, text)
    return Term(forest, values(forest, columns)[0], is_log)


def frames_of(data: Data, library: SymbolLibrary, link: str = "y", *, is_product: bool = False) -> list[Frame]:
    """The opening frames of one link, sums or products."""
    every = opening_frames(data, library, MosaicConfig())
    return [frame for frame in every if (frame.link.name, frame.free.is_product) == (link, is_product)]


def parsed(text: str, library: SymbolLibrary) -> Expr:
    """An expression from its text, with all numbers as fitted constants."""
    return parse(text, library).numbers_to_constants()


def row_of(expr: Expr, columns: Numbers) -> Numbers:
    """The values of one expression."""
    row: Numbers = values(Forest.from_exprs([expr]), columns)[0]
    return row


def misses(written: Iterable[Expr], data: Data, library: SymbolLibrary) -> Numbers:
    """By expression: the largest error, as a share of the largest value."""
    predicted = values(Forest.from_exprs(written, library), data.columns)
    found: Numbers = np.abs(predicted - data.y).max(axis=1) / np.abs(data.y).max()
    return found
