"""What one part may be made of: pieces over its variables, with their values in every call of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import Opcode
from edhie.generators.base import Generator
from edhie.search.base import Task
from edhie.search.mosaic.enumeration import Enumeration, written_one
from edhie.search.mosaic.pieces import Pieces
from edhie.search.mosaic.sources import Source
from edhie.search.mosaic.words import Speller
from edhie.search.splicing import distinct_subtrees
from edhie.search.template.config import TemplateConfig
from edhie.search.template.position import distinct_calls
from edhie.search.template.shapes import opening_pieces
from edhie.search.template.template import Template
from edhie.search.variation import children

Numbers = NDArray[np.float64]
LARGEST_ENUMERATED = 7
LARGEST_PIECE = 12
GROWTH = 1.5  # of the number of pieces, from round to round
RECENT = 300  # pieces that did well, however long they are
ALWAYS = 0.2  # of the mean frequency: what every symbol has at least, however rarely the generator uses it


COPYING = (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.DIV)  # with a constant they make a linear copy


def part_library(template: Template, part: int, operators: tuple[str, ...] | None) -> SymbolLibrary:
    """What a part is written with: its variables, the operators that it may have, constants."""
    library, own = template.library, template.variables(part)
    if operators is not None and (unknown := [name for name in operators if name not in library]):
        raise SearchError(f"parts may not have {unknown[0]!r}: it is not in the library ({library})")
    kept = []
    for symbol in library.symbols:
        is_allowed = symbol.kind in ("constant", "literal")
        is_allowed |= symbol.kind == "variable" and symbol.name in own
        is_allowed |= symbol.kind == "operator" and (operators is None or symbol.name in operators)
        kept += [symbol] * is_allowed
    # in the order in which the part is called: columns are stacked so
    variables = iter([library[name] for name in own])
    return SymbolLibrary(tuple(next(variables) if symbol.kind == "variable" else symbol for symbol in kept))


class Pool:
    """Pieces of one part that has variables."""

    def __init__(self, template: Template, part: int, generator: Generator, data: Data, config: TemplateConfig) -> None:
        self.library = part_library(template, part, config.operators)
        self.speller = Speller(self.library)
        self._whole_library = template.library
        self._config = config
        self._source = Source(generator, self.library)
        self._calls = distinct_calls(template, part)
        places = [[template.library.variables.index(name) for name in call] for call in self._calls]
        columns = np.ascontiguousarray(np.concatenate([data.columns[own] for own in places], axis=1))
        one = written_one(self.library)
        self.pieces = Pieces(self.library, columns, config.kept, self._source.costs, one)
        self.enumeration = Enumeration(self.library, LARGEST_ENUMERATED, one)
        self.shapes, self._shape_values = self.pieces.finite(opening_pieces(self.library, columns))
        self._put_recent(self.pieces.forest)

    @property
    def is_free(self) -> bool:
        """Whether sums of pieces can have coefficients."""
        return self.library.constant is not None and {"+", "*"} <= set(self.library.names)

    @property
    def likely(self) -> Numbers:
        """By token: how likely a symbol is to come in."""
        used = self._source.frequencies
        likely: Numbers = used + ALWAYS * used.mean()
        return likely

    @property
    def forest(self) -> Forest:
        """All pieces: the plainest there are, then those that did well lately."""
        return Forest.concatenate([self.pieces.forest, self._recent])

    def values(self) -> Numbers:
        """(pieces, calls, rows): of all pieces."""
        return self._by_call(np.concatenate([self.pieces.values, self._recent_values]))

    def shape_values(self) -> Numbers:
        """(shapes, calls, rows)."""
        return self._by_call(self._shape_values)

    def values_of(self, forest: Forest) -> Numbers:
        """(expressions, calls, rows): of any contents."""
        return self._by_call(self.pieces.values_of(forest))

    def _by_call(self, found: Numbers) -> Numbers:
        return found.reshape(len(found), len(self._calls), found.shape[1] // len(self._calls))

    def to_whole(self, forest: Forest) -> Forest:
        """Contents of the part over the template's library."""
        return forest.cast(self._whole_library)

    def from_whole(self, forest: Forest) -> Forest:
        """Contents of the part, over its own library; those that have numbers, or other symbols, are left out."""
        table = np.array([self.library.ids.get(symbol.name, -1) for symbol in self._whole_library.symbols], np.int16)
        tokens = table[forest.tokens]
        bad = np.bincount(forest.owners[tokens < 0], minlength=len(forest)) > 0
        kept = forest.take(np.flatnonzero(~bad))
        return Forest(self.library, table[kept.tokens], kept.offsets, kept.values)

    # -- looking at more ------------------------------------------------------------------

    def open(self, task: Task) -> None:
        """Look at what parts are most often made of."""
        self.look(self.shapes, task)

    def gather(self, n_rounds: int, good: Forest, task: Task, rng: np.random.Generator) -> None:
        """Look at more pieces: the shortest, those of the generator, and `good` contents changed."""
        config = self._config
        n = int(min(config.most, config.first * GROWTH ** min(n_rounds, 100)))
        found = [Forest.from_exprs([], self.library)]
        if not self.enumeration.is_over:
            found.append(self.enumeration.take(max(n // 3, 8), self.pieces.forest))
        found.append(self._source.subtrees(max(n // 6, 4), rng, LARGEST_PIECE, np.ones(len(self.library.variables))))
        good = self.from_whole(good)
        if len(good):
            within = self._telling(distinct_subtrees(good, config.largest))
            parents = within.take(rng.integers(0, len(within), n // 3))
            self.look(within, task, is_good=True)
            found.append(self._telling(self.changed(parents, rng)))
            if self._source.is_latent:
                found.append(self._source.neighbours(parents.unique(), n // 8, rng))
        every = Forest.concatenate(found)
        self.look(every.take(np.flatnonzero(every.sizes <= config.largest)).unique(), task)

    def changed(self, parents: Forest, rng: np.random.Generator) -> Forest:
        """A changed copy of each parent."""
        return children(parents, self.forest, rng, likely=self.likely)

    def _telling(self, forest: Forest) -> Forest:
        """Those that depend on a variable and are not just others with a coefficient or a summand: sums have these."""
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
        return forest.take(np.flatnonzero(telling))

    def look(self, forest: Forest, task: Task, *, is_good: bool = False) -> None:
        """Execute pieces that are new, as far as the budget goes; what is good is kept for a while, however long."""
        forest = forest.take(np.flatnonzero(~_has_missing(forest)))
        fresh = self.pieces.unseen(forest)
        fresh = fresh.take(np.arange(task.within_budget(len(fresh))))
        task.evaluator.spend(len(fresh))
        self.pieces.execute(fresh)
        if is_good:
            self._put_recent(Forest.concatenate([fresh, self._recent]).unique().take(slice(0, RECENT)))

    def _put_recent(self, forest: Forest) -> None:
        self._recent, self._recent_values = self.pieces.finite(forest)

    # -- what a checkpoint keeps ----------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Enough to go on in the same way."""
        base = self.enumeration.base
        return {
            **{f"pieces_{name}": array for name, array in self.pieces.state().items()},
            "base_tokens": base.tokens, "base_offsets": base.offsets, "base_values": base.values,
            "recent_tokens": self._recent.tokens, "recent_offsets": self._recent.offsets,
            "recent_values": self._recent.values,
            "enumeration": np.array([self.enumeration.size, self.enumeration.place]),
        }  # fmt: skip

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Be where `state` was taken."""
        self.pieces.restore({name[7:]: array for name, array in state.items() if name.startswith("pieces_")})
        self.enumeration.base, recent = (
            Forest.checked(self.library, *(state[f"{kind}_{name}"] for name in ("tokens", "offsets", "values")))
            for kind in ("base", "recent")
        )
        self._put_recent(recent)
        self.enumeration.size, self.enumeration.place = map(int, state["enumeration"])


def _has_missing(forest: Forest) -> NDArray[np.bool_]:
    """By expression: whether a constant has no value."""
    owners = np.searchsorted(forest.value_offsets, np.flatnonzero(np.isnan(forest.values)), side="right") - 1
    return np.bincount(owners, minlength=len(forest)) > 0
