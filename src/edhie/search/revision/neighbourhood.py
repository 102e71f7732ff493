"""The paper's way to revise: an expression's code, and what codes around it decode to."""

from __future__ import annotations

import numpy as np

from edhie.errors import EdhieError
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.generators.base import Generator, LatentGenerator
from edhie.generators.walks import neighbours
from edhie.search.revision.formula import nearest
from edhie.search.splicing import Stock


class Neighbourhood:
    """What a generator has around expressions; nothing, where it has no latent space over these variables."""

    def __init__(self, generator: Generator, library: SymbolLibrary) -> None:
        self._library = library
        is_over_these = set(generator.library.variables) <= set(library.variables)
        self._model = generator if isinstance(generator, LatentGenerator) and is_over_these else None
        own = generator.library
        self._known = np.array([_is_in(library, own, name) for name in own.names])
        self._lacks_constants = own.constant is None and library.constant is not None and "*" in library

    @property
    def is_there(self) -> bool:
        """Whether there is one at all."""
        return self._model is not None

    def around(self, expr: Expr, n: int, radius: float, rng: np.random.Generator) -> tuple[Forest, int]:
        """Distinct expressions near one, the most similar first, and how many of `n` codes gave none."""
        none = Forest.from_exprs([], self._library)
        written = None if self._model is None else nearest(expr, self._model.library)
        if self._model is None or written is None:
            return none, 0
        try:
            found = neighbours(self._model, written, n, rng, radius=radius)
        except EdhieError:  # a grammar may not be able to derive it
            return none, 0
        is_unknown = ~self._known[found.forest.tokens]
        strange = np.bincount(found.forest.owners[is_unknown], minlength=len(found.forest)) > 0
        forest = found.forest.take(~strange).cast(self._library)
        return self._scaled(forest) if self._lacks_constants else forest, found.invalid

    def _scaled(self, forest: Forest) -> Forest:
        """Each times a constant: a generator without constants says nothing of scale."""
        if len(forest) == 0:
            return forest
        stock, count, ids = Stock(forest), len(forest), self._library.ids
        head = [stock.symbols(np.full(count, ids[name])) for name in ("*", str(self._library.constant))]
        return stock.join([*head, stock.trees(np.arange(count))])


def _is_in(library: SymbolLibrary, own: SymbolLibrary, name: str) -> bool:
    if own[name].kind == "constant":
        return library.constant is not None
    return name in library and library[name].role == own[name].role
