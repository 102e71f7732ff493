"""Known forms: whole equations that occur among the formulas of science, such as `c*exp(c*x)`.

A prior over operators and their operands cannot know that `c*x/(x + c)` is a saturation curve and `c*x/(x + c)^1.5` is
nothing. A form that occurs in several formulas costs the log2 of how rarely it does. The formulas are those of
`edhie.corpora.formulas` without benchmark laws, in versions in which some variables are constants, and the curves of
`curves.toml`: lines, powers, exponentials, saturation and growth curves of one variable, which people try first.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Indices, Numbers
from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.canonical import canonical
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import NUMBER, Opcode

SHIPPED = "known_forms.json"
LEAST = 2.0  # formulas that have a form, for it to be known: what occurs once is no pattern
SHARE = 0.5  # of equations that have a known form
LATER = 0.7  # share of a curve's count that another way to write it has: half a bit, so that people read the first way
MOST_VARIABLES = 10  # in a known form
DIGITS = 3  # of counts


@cache
def curves() -> dict[str, tuple[str, ...]]:
    """Return the texts of each curve, in which `x` is the variable and `c` a constant: the ways to write it.

    >>> curves()["arrhenius"]
    ('c*exp(c/x)', 'exp(c + c/x)')
    """
    return {name: ways for part in by_frequency().values() for name, ways in part.items()}


@cache
def by_frequency() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the curves in three parts, by how often people try them: common, usual and rare."""
    text = (files("edhie.selection.prior") / "curves.toml").read_text(encoding="utf-8")
    parts = tomllib.loads(text)
    return {
        part: {name: (ways,) if isinstance(ways, str) else tuple(ways) for name, ways in each.items()}
        for part, each in parts.items()
    }


def with_variable(text: str, name: str, constant: str = "c") -> str:
    """Return the text of a curve over another variable, and with another symbol for constants.

    >>> with_variable("c*exp(c*x)", "T")
    'c*exp(c*T)'
    >>> with_variable("c*exp(c*x)", "c", "C")
    'C*exp(C*c)'
    """
    names = {"x": name, "c": constant}
    return re.sub(r"\b[cx]\b", lambda found: names[found[0]], text)


@dataclass(frozen=True, eq=False)
class KnownForms:
    """How often whole forms occur."""

    counts: Mapping[str, float] = field(repr=False)
    """Number of formulas with each form, by its text."""
    totals: tuple[float, ...]
    """Number of formulas with each number of variables, from 0 on."""

    @classmethod
    def learnt(cls, versions: Forest, curves: Sequence[tuple[Sequence[Expr], float]], *, n_versions: int) -> KnownForms:
        """Return the forms of formulas in `n_versions` versions each, and of curves with the formulas they count as.

        The ways to write a curve are one function, so the first counts as often as all of them together.
        """
        generic, totals, count = _generic(versions), np.zeros(MOST_VARIABLES + 1), defaultdict[str, float](float)
        np.add.at(totals, np.minimum(_appearance(generic)[1], MOST_VARIABLES), 1.0 / n_versions)
        for form in generic:
            count[_text(form)] += 1.0 / n_versions
        known = {form: n for form, n in count.items() if n >= LEAST}
        for ways, weight in curves:
            own = _generic(Forest.from_exprs(ways))
            totals[_appearance(own)[1][0]] += weight
            first, *others = dict.fromkeys(map(_text, own))
            known[first] = weight + sum(count[form] for form in (first, *others))
            known |= dict.fromkeys(others, LATER * known[first])
        kept = {form: round(known[form], DIGITS) for form in sorted(known)}
        return cls(kept, tuple(totals.round(DIGITS).tolist()))

    @staticmethod
    @cache
    def shipped() -> KnownForms:
        """Return the forms that come with edhie."""
        kept = json.loads((files("edhie.selection.prior") / SHIPPED).read_text(encoding="utf-8"))
        return KnownForms(kept["forms"], tuple(kept["formulas"]))

    def shifted(self, forest: Forest, weight: float) -> KnownForms:
        """Return these forms with those of a field's formulas, each of which counts `weight` times."""
        counts, totals = dict(self.counts), np.array(self.totals)
        generic = _generic(forest)
        np.add.at(totals, np.minimum(_appearance(generic)[1], MOST_VARIABLES), weight)
        for form in map(_text, generic):
            counts[form] = counts.get(form, 0.0) + weight
        return KnownForms(counts, tuple(totals.tolist()))

    def as_json(self) -> str:
        """Return the forms as JSON, one on a line."""
        lines = ",\n".join(f"{json.dumps(form)}: {count:g}" for form, count in self.counts.items())
        return f'{{"formulas": {list(self.totals)}, "forms": {{\n{lines}\n}}}}\n'

    def bits(self, forest: Forest, of_numbers: Numbers | float = 0.0) -> Numbers:
        """Return the bits of each expression's form and of which variables it has; infinite for an unknown form.

        Constants are to be fitted, also if they have values. A number belongs to the form, or is the value of one of
        the form's constants: `c*x^3.5` has the form `c*x^c`, and then each expression's numbers cost `of_numbers`.
        """
        if len(forest) == 0:
            return np.zeros(0)
        found = self._bits(forest)
        library = forest.library
        if library.constant is not None and library.has_numbers:
            is_number = forest.tokens == library.ids[NUMBER.name]
            tokens = np.where(is_number, library.ids[library.constant], forest.tokens).astype(np.int16)
            found = np.minimum(found, self._bits(Forest(library, tokens, forest.offsets, forest.values)) + of_numbers)
        return found

    def _bits(self, forest: Forest) -> Numbers:
        generic, n = _generic(forest), len(forest.library.variables)
        # how many variables, which of them, and in which place each
        ways = np.array([math.log2(max(n, 1) * math.perm(n, k)) for k in range(min(n, MOST_VARIABLES) + 1)])
        return ways[np.minimum(_appearance(generic)[1], len(ways) - 1)] + [
            self._by_key.get(key, np.inf) for key in _keys(generic)
        ]

    @cached_property
    def _by_key(self) -> dict[bytes, float]:
        library = everything(MOST_VARIABLES)
        forest = _generic(Forest.from_exprs([parse(form, library) for form in self.counts], library))
        totals = np.array(self.totals)[_appearance(forest)[1]]
        bits = -np.log2(SHARE * np.array(list(self.counts.values())) / totals)
        return dict(zip(_keys(forest), bits.tolist(), strict=True))


def form_of(expr: Expr) -> bytes:
    """Return what identifies the form of an expression, whatever its constants, names and library."""
    return _keys(_generic(Forest.from_exprs([expr])))[0]


def _generic(forest: Forest) -> Forest:
    """Return canonical forms with constants that are not fitted, and variables in the order of their appearance."""
    forest = forest.with_values(np.where(constants_among_values(forest), np.nan, forest.values))
    for _ in range(2):  # the canonical order of operands depends on names
        forest = canonical(forest)
        ranks = _appearance(forest)[0]
        ids = np.flatnonzero(forest.library.opcodes == Opcode.VARIABLE).astype(np.int16)
        tokens = np.where(ranks >= 0, ids[np.maximum(ranks, 0)] if len(ids) else 0, forest.tokens).astype(np.int16)
        forest = Forest(forest.library, tokens, forest.offsets, forest.values)
    return forest


def _text(expr: Expr) -> str:
    """Return the text of a generic form, with the variables x0, x1 and so on."""
    kinds = [expr.library[token].kind for token in expr.tokens]
    own = dict.fromkeys(token for token, kind in zip(expr.tokens, kinds, strict=True) if kind == "variable")
    names = {name: f"x{k}" for k, name in enumerate(own)}
    tokens = [
        "c" if kind == "constant" else names.get(token, token) for token, kind in zip(expr.tokens, kinds, strict=True)
    ]
    return str(Expr(everything(max(len(names), 1)), tokens, expr.constants))


def _appearance(forest: Forest) -> tuple[Indices, Indices]:
    """Return for each token the rank of its variable by appearance, -1 for others; and how many each has."""
    library = forest.library
    places = np.flatnonzero(library.opcodes[forest.tokens] == Opcode.VARIABLE)
    owners = forest.owners[places]
    pairs = owners * len(library) + forest.tokens[places]
    _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # pairs by appearance
    own = owners[first[order]]
    rank_in_order = np.arange(len(own)) - np.searchsorted(own, own)
    rank = np.empty(len(own), np.int64)
    rank[order] = rank_in_order
    ranks = np.full(len(forest.tokens), -1, np.int64)
    ranks[places] = rank[which]
    return ranks, np.bincount(own, minlength=len(forest))


def _keys(forest: Forest) -> list[bytes]:
    """Return what identifies each generic form, over any library."""
    codes = _codes(forest.library)[forest.tokens]
    tokens, values, offsets, starts = codes, np.round(forest.values, 12), forest.offsets, forest.value_offsets
    return [
        tokens[offsets[k] : offsets[k + 1]].tobytes() + values[starts[k] : starts[k + 1]].tobytes()
        for k in range(len(forest))
    ]


@lru_cache(maxsize=64)
def _codes(library: SymbolLibrary) -> NDArray[np.uint32]:
    """Return a number for each symbol, the same over any library: constants and variables have generic names."""
    names, n_variables = [], 0
    for symbol in library.symbols:
        is_variable = symbol.kind == "variable"
        names.append(f"x{n_variables}" if is_variable else "c" if symbol.kind == "constant" else symbol.name)
        n_variables += is_variable
    return np.array([zlib.crc32(name.encode()) for name in names], np.uint32)
