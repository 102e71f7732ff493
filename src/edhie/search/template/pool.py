"""The pool of pieces for one part of a template, with their values in every call of the part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import Opcode
from edhie.generators.base import Generator
from edhie.search.arrays import Numbers, forest_arrays, forest_from, has_missing, recoded
from edhie.search.base import Task
from edhie.search.pieces.enumeration import Enumeration, written_one
from edhie.search.pieces.function_grid import opening_pieces
from edhie.search.pieces.generator_source import LARGEST_SUBTREE, GeneratorSource
from edhie.search.pieces.piece_pool import PiecePool
from edhie.search.pieces.spelling import Speller
from edhie.search.pieces.splicing import distinct_subtrees
from edhie.search.pieces.variation import children, likely_symbols
from edhie.search.template.position import distinct_calls
from edhie.search.template.template import Template, TemplateConfig

GROWTH = 1.5  # factor of the number of new pieces from round to round
RECENT = 300  # recent good pieces that are kept, whatever their cost
COPYING = (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.DIV)  # with a constant operand, a linear function of the other


def part_library(template: Template, part: int, operators: tuple[str, ...] | None) -> SymbolLibrary:
    """Return the library of a part: its variables, the allowed operators, and constants."""
    library, own = template.library, template.variables(part)
    if operators is not None and (unknown := [name for name in operators if name not in library]):
        raise SearchError(f"parts may not have {unknown[0]!r}: it is not in the library ({library})")
    kept = [
        symbol
        for symbol in library.symbols
        if symbol.kind in ("constant", "literal")
        or (symbol.kind == "variable" and symbol.name in own)
        or (symbol.kind == "operator" and (operators is None or symbol.name in operators))
    ]
    # in the order of the call's arguments, as the columns
    variables = iter([library[name] for name in own])
    return SymbolLibrary(tuple(next(variables) if symbol.kind == "variable" else symbol for symbol in kept))


class Pool:
    """Pieces of one part that has variables; values are (pieces, calls × rows), over the distinct calls."""

    def __init__(self, template: Template, part: int, generator: Generator, data: Data, config: TemplateConfig) -> None:
        self.library = part_library(template, part, config.operators)
        self.speller = Speller(self.library)
        self._whole_library = template.library
        self._config = config
        self._source = GeneratorSource(generator, self.library)
        places = [[template.library.variables.index(name) for name in call] for call in distinct_calls(template, part)]
        columns = np.ascontiguousarray(np.concatenate([data.columns[own] for own in places], axis=1))
        one = written_one(self.library)
        self.pieces = PiecePool(self.library, columns, config.kept_pieces, self._source.costs, one)
        self.enumeration = Enumeration(self.library, one=one)
        self.functions, self.function_values = self.pieces.finite(opening_pieces(self.library, columns))
        self._recent, self._recent_values = self.pieces.finite(self.pieces.forest)

    @property
    def is_free(self) -> bool:
        """True if sums of pieces can have coefficients."""
        return self.library.constant is not None and {"+", "*"} <= set(self.library.names)

    @property
    def forest(self) -> Forest:
        """All pieces: the simplest, then the recent good ones."""
        return Forest.concatenate([self.pieces.forest, self._recent])

    @property
    def values(self) -> Numbers:
        """(pieces, calls × rows): the values of all pieces."""
        return np.concatenate([self.pieces.values, self._recent_values])

    def to_whole(self, forest: Forest) -> Forest:
        """Return contents of the part over the template's library."""
        return forest.cast(self._whole_library)

    def from_whole(self, forest: Forest) -> Forest:
        """Return contents over the part's own library; those with numbers, or other symbols, are left out."""
        return recoded(forest, self._whole_library.ids_in(self.library), self.library)

    # -- new pieces -----------------------------------------------------------------------

    def gather(self, n_rounds: int, good: Forest, task: Task, rng: np.random.Generator) -> None:
        """Add pieces: short expressions, subtrees of the generator's samples, and offspring of `good` contents."""
        config = self._config
        n = int(min(config.most_pieces, config.first_pieces * GROWTH ** min(n_rounds, 100)))
        found = [Forest.from_exprs([], self.library)]
        if not self.enumeration.is_over:
            found.append(self.enumeration.take(max(n // 3, 8), self.pieces.forest))
        likely = np.ones(len(self.library.variables))
        found.append(self._source.subtrees(max(n // 6, 4), rng, LARGEST_SUBTREE, likely))
        good = self.from_whole(good)
        if len(good):
            within = self._telling(distinct_subtrees(good, config.largest_piece))
            parents = within.take(rng.integers(0, len(within), n // 3))
            self.add(within, task, is_good=True)
            found.append(self._telling(self.changed(parents, rng)))
            if self._source.is_latent:
                found.append(self._source.neighbours(parents.unique(), n // 8, rng))
        every = Forest.concatenate(found)
        self.add(every.take(every.sizes <= config.largest_piece).unique(), task)

    def changed(self, parents: Forest, rng: np.random.Generator) -> Forest:
        """Return one offspring of each parent."""
        return children(parents, self.forest, rng, likely=likely_symbols(self._source.frequencies))

    def _telling(self, forest: Forest) -> Forest:
        """Return the pieces that have a variable and are not a linear function of another: sums fit these anyway."""
        library, roots = forest.library, forest.offsets[:-1]
        is_variable = np.array([symbol.kind == "variable" for symbol in library.symbols])
        telling = np.bincount(forest.owners[is_variable[forest.tokens]], minlength=len(forest)) > 0
        if self.is_free:
            opcodes = library.opcodes[forest.tokens]
            is_plain = opcodes == Opcode.CONSTANT
            left, right = (side[roots] for side in (forest.left, forest.right))
            telling &= ~((right >= 0) & is_plain[right] & np.isin(opcodes[roots], COPYING))
            telling &= ~((left >= 0) & is_plain[left] & np.isin(opcodes[roots], COPYING[:3]))
            telling &= opcodes[roots] != Opcode.NEG
        return forest.take(telling)

    def add(self, forest: Forest, task: Task, *, is_good: bool = False) -> None:
        """Execute new pieces, within the budget; good ones are kept among the recent, whatever their cost."""
        *_, fresh = self.pieces.execute_new(forest.take(~has_missing(forest)), task)
        if is_good:
            recent = Forest.concatenate([fresh, self._recent]).unique()[:RECENT]
            self._recent, self._recent_values = self.pieces.finite(recent)

    # -- checkpoints ----------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the pieces and the position in the enumeration as arrays."""
        return self.pieces.state() | self.enumeration.state("base_") | forest_arrays("recent_", self._recent)

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Restore the pool from a snapshot."""
        self.pieces.restore(state)
        self.enumeration.restore("base_", state)
        self._recent, self._recent_values = self.pieces.finite(forest_from("recent_", state, self.library))
