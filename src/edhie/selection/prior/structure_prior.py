"""A prior over the structure of equations, learnt from scientific formulas.

`StructurePrior` gives the code length of an expression's structure in bits: its operators, which leaves are variables,
constants and numbers, and which variable each is. The values of constants and numbers are not part of it.

Sums and products are coded with all their operands at once, so the order of operands, the placement of brackets and the
way that a sign or a quotient is written do not matter: `a - b` and `a + (-1)*b` have the same code length, as do
`a*b/d` and `a/d*b`. The probability of a node's class depends on its parent and on the place of that; see `tables` for
the choices that are coded and their probabilities.

The counts that ship with edhie are those of `edhie.corpora.formulas`, in versions in which some variables are fitted
constants (`versions`). `experiments/structure_prior.py` compares this model with others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edhie.arrays import Numbers
from edhie.errors import EdhieError
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import NUMBER
from edhie.selection.prior.tables import FIXED, ROOT, VARIABLE, Counts, Event, Tables, add_events, events, tables_of
from edhie.selection.prior.versions import VERSIONS, forms

FORMAT = 2
SHIPPED = "structure_prior.json"
MOST_VERSIONS = 20_000
"""Limit on the versions of a forest: many formulas have fewer versions each, and beyond the limit a sample is drawn."""
LONE_LEAF = 0.02
"""Share of equations that are a constant, and of those that are a variable, since no named formula is either."""
FIELD_WEIGHT = 10.0
"""Number of scientific formulas that one formula of the user's field counts as."""


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

    counts: Counts = field(repr=False)
    """Counts of each choice in the formulas; empty for the uniform prior."""

    @classmethod
    def learnt(cls, forests: Iterable[Forest], weights: Iterable[ArrayLike] | None = None) -> StructurePrior:
        """Return the prior of these formulas, in versions in which some of their variables are constants.

        `weights` holds the weights of the formulas of each forest, or one weight for all of them; without it, every
        formula counts once.
        """
        listed = list(forests)
        weighted = [1.0] * len(listed) if weights is None else list(weights)
        total: dict[tuple[str, str, str], dict[str, float]] = {}
        for forest, weight in zip(listed, weighted, strict=True):
            _count(total, forest, np.broadcast_to(np.asarray(weight, dtype=np.float64), len(forest)))
        everything = sum(total.get(("class", ROOT, ""), {}).values())
        for leaf in (FIXED, VARIABLE):
            add_events(total, [Event("class", ROOT, "", leaf)], LONE_LEAF * everything)
        return cls(total)

    def shifted(self, forest: Forest, weight: float = FIELD_WEIGHT) -> StructurePrior:
        """Return this prior moved towards the formulas of a field, each of which counts `weight` times."""
        total = {key: dict(row) for key, row in self.counts.items()}
        _count(total, forest, np.full(len(forest), float(weight)))
        return StructurePrior(total)

    @staticmethod
    @cache
    def shipped() -> StructurePrior:
        """Return the prior that was learnt from `edhie.corpora.formulas`."""
        return StructurePrior.from_json((files("edhie.selection.prior") / SHIPPED).read_text(encoding="utf-8"))

    @staticmethod
    @cache
    def uniform() -> StructurePrior:
        """Return the prior for which all symbols of a library are equally probable."""
        return StructurePrior({})

    def bits(self, forest: Forest) -> Numbers:
        """Return the code length of each expression's structure, in bits."""
        if not self.counts:
            uniform: Numbers = forest.sizes * np.float64(np.log2(max(len(forest.library), 1)))
            return uniform
        if len(forest) == 0:
            return np.zeros(0)
        from edhie.selection.prior.kernels import structure_bits

        tables = _tables(self, forest.library)
        return structure_bits(
            forest.tokens, tables.class_ids[forest.tokens], forest.left, forest.right, forest.offsets,
            _number_values(forest), tables.classes, tables.sums, tables.products, tables.signs, tables.variable_bits,
        )  # fmt: skip

    def as_json(self) -> str:
        """Return the counts as JSON, sorted, with 3 decimals."""
        rows: dict[str, dict[str, float]] = {}
        for key, row in sorted(self.counts.items()):
            rows["|".join(key)] = {name: round(count, 3) for name, count in sorted(row.items())}
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
        return f'{{"format": {FORMAT}, "counts": {{\n{lines}\n}}}}\n'

    @classmethod
    def from_json(cls, text: str) -> StructurePrior:
        """Return the prior that `as_json` wrote."""
        try:
            data = json.loads(text)
            version = data["format"]
            if version == FORMAT:
                return cls(dict(_read_row(key, row) for key, row in data["counts"].items()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EdhieError(f"this is not a saved structure prior: {error!r}; save one with as_json()") from error
        raise EdhieError(f"the structure prior has format {version}; this edhie reads format {FORMAT}")


def _read_row(key: str, row: Mapping[str, Any]) -> tuple[tuple[str, str, str], dict[str, float]]:
    kind, context, above = key.split("|")
    return (kind, context, above), {str(name): float(count) for name, count in row.items()}


def _count(total: dict[tuple[str, str, str], dict[str, float]], forest: Forest, weights: Numbers) -> None:
    """Add the choices of all versions of the formulas; the versions of a formula share its weight."""
    if len(forest) > MOST_VERSIONS:
        chosen = np.random.default_rng(0).permutation(len(forest))[:MOST_VERSIONS]
        forest, weights = forest.take(chosen), weights[chosen] * (len(forest) / MOST_VERSIONS)
    n = max(1, min(VERSIONS, MOST_VERSIONS // max(len(forest), 1)))
    for i, form in enumerate(forms(forest, n)):
        add_events(total, events(form), float(weights[i // n]) / n)


def _number_values(forest: Forest) -> Numbers:
    """Return the value of each node that is a number or literal, NaN for all others."""
    found: Numbers = forest.library.literal_values[forest.tokens]
    if forest.library.has_numbers:
        carriers = np.flatnonzero(forest.library.has_slot[forest.tokens])
        is_number = forest.tokens[carriers] == forest.library.ids[NUMBER.name]
        found[carriers[is_number]] = forest.values[is_number]
    return found


@lru_cache(maxsize=32)
def _tables(prior: StructurePrior, library: SymbolLibrary) -> Tables:
    return tables_of(prior.counts, library)
