"""Neighbours of an expression in the latent space, as in the paper: codes around its own, decoded."""

from __future__ import annotations

import numpy as np

from edhie.errors import EdhieError
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.generators.base import Generator, LatentGenerator
from edhie.generators.walks import neighbours
from edhie.search.arrays import recoded
from edhie.search.pieces.splicing import Stock
from edhie.search.revision.formula import nearest


class Neighbourhood:
    """Neighbours by a generator; none where it has no latent space over these variables."""

    def __init__(self, generator: Generator, library: SymbolLibrary) -> None:
        self._library = library
        is_over_these = set(generator.library.variables) <= set(library.variables)
        self._model = generator if isinstance(generator, LatentGenerator) and is_over_these else None
        own = generator.library
        self._table = own.ids_in(library)
        self._lacks_constants = own.constant is None and library.constant is not None and "*" in library

    @property
    def is_there(self) -> bool:
        """True if the generator has a latent space over these variables."""
        return self._model is not None

    def around(self, expr: Expr, n: int, radius: float, rng: np.random.Generator) -> tuple[Forest, int]:
        """Return distinct expressions near one, the most similar first, and how many of `n` codes gave none."""
        none = Forest.from_exprs([], self._library)
        written = None if self._model is None else nearest(expr, self._model.library)
        if self._model is None or written is None:
            return none, 0
        try:
            found = neighbours(self._model, written, n, rng, radius=radius)
        except EdhieError:  # a grammar may not be able to derive it
            return none, 0
        forest = recoded(found.forest, self._table, self._library)
        if self._lacks_constants:  # each times a constant: the generator says nothing of scale
            stock = Stock(forest)
            forest = stock.write("*", str(self._library.constant), stock.trees(np.arange(len(forest))))
        return forest, found.invalid
