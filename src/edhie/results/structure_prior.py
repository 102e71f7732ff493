"""A prior over the structure of equations, learnt from formulas of science.

`StructurePrior` gives the code length of an expression's structure in bits: its operators, which leaves are variables,
constants and numbers, and which variable each is. The values of constants and numbers are not part of it.

The probability of a symbol depends on its parent and, where the order of operands matters, on which operand it is. It
is smoothed towards the symbol's overall frequency. The tables that ship with edhie were counted in the formulas of
`edhie.corpora.formulas`, in versions in which some of their variables are constants (`leaf_versions`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edhie.errors import EdhieError
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import Symbol
from edhie.results.leaf_versions import VERSIONS, versions

FORMAT = 1
SHIPPED = "structure_prior.json"
ROOT = "root"
LEAVES = {"variable": "variable", "constant": "constant", "literal": "number", "number": "number"}
"""The class of a leaf by the kind of its symbol."""
COMMUTATIVE = ("+", "*", "min", "max")
"""Operators whose operands share one table, so that their order does not matter."""
STRENGTH = 4.0
"""The weight of the overall frequencies in the table of a parent, in formulas."""
LEAST = 0.5
"""What is added to the count of each symbol in the overall frequencies."""
MOST_VERSIONS = 20_000
"""Of a forest that is learnt, in all: more formulas have fewer versions each."""
FIELD_WEIGHT = 3.0
"""How much more a formula of a user's field counts than one of those that the prior was learnt from."""

Numbers = NDArray[np.float64]
Counts = Mapping[str, Mapping[str, float]]
"""By context (`root`, or a parent and the place among its operands) and by class of symbol."""


@dataclass(frozen=True, eq=False)
class StructurePrior:
    """Code lengths of the structure of expressions, in bits.

    >>> from edhie.expr import parse
    >>> library = SymbolLibrary.of(["+", "*", "/", "exp", "sin"], ["x"], constant=True)
    >>> forest = Forest.from_exprs([parse(text, library) for text in ("c*exp(c*x)", "exp(sin(exp(c*x)))")])
    >>> decay, nested = StructurePrior.shipped().bits(forest)
    >>> bool(decay < nested)
    True
    """

    counts: Counts
    """How often each class of symbol occurs in each context; empty for the uniform prior."""

    # -- where it comes from ------------------------------------------------------------

    @classmethod
    def learnt(cls, forests: Iterable[Forest], weights: Iterable[ArrayLike] | None = None) -> StructurePrior:
        """Return the prior of these formulas, in versions in which some of their variables are constants.

        `weights` holds the weights of the formulas of each forest, or one weight for all of them; without it, every
        formula counts once.
        """
        listed = list(forests)
        weighted = [1.0] * len(listed) if weights is None else list(weights)
        total: dict[str, dict[str, float]] = {}
        for forest, weight in zip(listed, weighted, strict=True):
            _add_counts(total, forest, np.broadcast_to(np.asarray(weight, dtype=np.float64), len(forest)))
        return cls(_frozen(total))

    def shifted(self, forest: Forest, weight: float = FIELD_WEIGHT) -> StructurePrior:
        """Return this prior moved towards the formulas of a field, each of which counts `weight` times."""
        total = {context: dict(row) for context, row in self.counts.items()}
        _add_counts(total, forest, np.full(len(forest), float(weight)))
        return StructurePrior(_frozen(total))

    @staticmethod
    @cache
    def shipped() -> StructurePrior:
        """Return the prior that was learnt from `edhie.corpora.formulas`."""
        return StructurePrior.from_json((files("edhie.results") / SHIPPED).read_text(encoding="utf-8"))

    @staticmethod
    @cache
    def uniform() -> StructurePrior:
        """Return the prior for which all symbols of a library are equally probable."""
        return StructurePrior(_frozen({}))

    # -- what it says -------------------------------------------------------------------

    def bits(self, forest: Forest) -> Numbers:
        """Return the code length of each expression's structure, in bits."""
        if len(forest) == 0:
            return np.zeros(0)
        table = self._table(forest.library)
        context = np.zeros(len(forest.tokens), dtype=np.int64)
        for place, children in enumerate((forest.left, forest.right)):
            parents = np.flatnonzero(children >= 0)
            context[children[parents]] = 1 + 2 * forest.tokens[parents].astype(np.int64) + place
        by_node = table[context, forest.tokens]
        return np.add.reduceat(by_node, forest.offsets[:-1])

    def _table(self, library: SymbolLibrary) -> Numbers:
        """Bits by context (the root, then both places below each symbol) and by symbol."""
        return _bits_table(self, library)

    # -- saving -------------------------------------------------------------------------

    def as_json(self) -> str:
        """Return the counts as JSON, sorted, with 4 decimals."""
        rows = {
            context: {name: round(count, 4) for name, count in sorted(row.items())}
            for context, row in sorted(self.counts.items())
        }
        return json.dumps({"format": FORMAT, "counts": rows}, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> StructurePrior:
        """Return the prior that `as_json` wrote."""
        try:
            data = json.loads(text)
            version, rows = data["format"], data["counts"]
            counts = {str(context): {str(k): float(v) for k, v in row.items()} for context, row in rows.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EdhieError(f"this is not a saved structure prior: {error!r}; save one with as_json()") from error
        if version != FORMAT:
            raise EdhieError(f"the structure prior has format {version}; this edhie reads format {FORMAT}")
        return cls(_frozen(counts))


def _frozen(counts: Mapping[str, Mapping[str, float]]) -> Counts:
    return MappingProxyType({context: MappingProxyType(dict(row)) for context, row in counts.items()})


def class_of(symbol: Symbol) -> str:
    """Return what the tables call a symbol: an operator's name, or the class of a leaf."""
    return symbol.name if symbol.kind == "operator" else f"<{LEAVES[symbol.kind]}>"


def context_of(symbol: Symbol, place: int) -> str:
    """Return what the tables call the operand of an operator."""
    return symbol.name if symbol.arity == 1 or symbol.name in COMMUTATIVE else f"{symbol.name} {place + 1}"


# -- counting ---------------------------------------------------------------------------


def _add_counts(total: dict[str, dict[str, float]], forest: Forest, weights: Numbers) -> None:
    if len(forest) == 0:
        return
    n = max(1, min(VERSIONS, MOST_VERSIONS // len(forest)))
    written = versions(forest, n)
    by_node = np.repeat(weights / n, n)[written.owners]
    symbols = written.library.symbols
    context = np.zeros(len(written.tokens), dtype=np.int64)
    for place, children in enumerate((written.left, written.right)):
        parents = np.flatnonzero(children >= 0)
        context[children[parents]] = 1 + 2 * written.tokens[parents].astype(np.int64) + place
    counted = np.zeros((1 + 2 * len(symbols), len(symbols)))
    np.add.at(counted, (context, written.tokens), by_node)
    for i, j in zip(*(each.tolist() for each in np.nonzero(counted)), strict=True):
        name = ROOT if i == 0 else context_of(symbols[(i - 1) // 2], (i - 1) % 2)
        row = total.setdefault(name, {})
        found = class_of(symbols[j])
        row[found] = row.get(found, 0.0) + float(counted[i, j])


# -- probabilities over a library -------------------------------------------------------


@lru_cache(maxsize=64)
def _bits_table(prior: StructurePrior, library: SymbolLibrary) -> Numbers:
    symbols = library.symbols
    if not prior.counts:
        return np.full((1 + 2 * len(symbols), len(symbols)), np.log2(max(len(symbols), 1)))
    classes = list(dict.fromkeys(class_of(symbol) for symbol in symbols))
    places = np.array([classes.index(class_of(symbol)) for symbol in symbols])
    spread = np.array([len(library.variables) if symbol.kind == "variable" else 1 for symbol in symbols])
    frequencies, is_known = _frequencies(prior.counts, classes)
    contexts = [ROOT] + [context_of(symbol, place) for symbol in symbols for place in (0, 1)]
    counted = np.array([[prior.counts.get(name, {}).get(each, 0.0) for each in classes] for name in contexts])
    smoothed = counted + STRENGTH * frequencies
    smoothed[:, ~is_known] = smoothed.sum(axis=1, keepdims=True) * frequencies[~is_known]
    smoothed /= smoothed.sum(axis=1, keepdims=True)
    table: Numbers = -np.log2(smoothed[:, places] / spread)
    table.flags.writeable = False
    return table


def _frequencies(counts: Counts, classes: list[str]) -> tuple[Numbers, NDArray[np.bool_]]:
    """How frequent classes of symbols are overall, and which are known; others are as frequent as the rarest."""
    total: dict[str, float] = {}
    for row in counts.values():
        for name, count in row.items():
            total[name] = total.get(name, 0.0) + count
    rarest = min((count for name, count in total.items() if name[0] != "<"), default=0.0)
    found = np.array([total.get(name, rarest) + LEAST for name in classes])
    return found / found.sum(), np.array([name in total for name in classes])
