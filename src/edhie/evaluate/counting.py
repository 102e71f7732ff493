"""Counts of evaluations: expressions are identified by canonical form, and each form is executed once.

`Counts` are the numbers of expressions by kind of work. `KnownForms` keeps what is known of each form and writing, in
tables by key; `to_execute` and `other_writings` choose what has to be executed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Flags, Indices
from edhie.errors import EdhieError
from edhie.evaluate.archive import Archive, GrowingArray
from edhie.expr import Forest

Arrays = dict[str, NDArray[Any]]
Keys = NDArray[np.uint64]
SLOTS_PER_ROW = 4  # a table is at most a quarter full, so that a key is found within a step or two
NO_WORSE = 1e-9  # relative increase of the error that is allowed for a simpler writing


@dataclass
class Counts:
    """The work so far, by kind: that of an evaluator, and what a search does beside it."""

    asked: int = 0
    """Expressions that were given to be scored, repetitions included."""
    executed: int = 0
    """Distinct expressions (by canonical form) that were executed against data; a budget limits these."""
    again: int = 0
    """Expressions executed once more: cut short by a bound before, or in a simpler or more widely valid writing."""
    bounded: int = 0
    """Executed expressions that were only found to be worse than a bound."""
    invalid: int = 0
    """Executed expressions without a finite error."""
    forbidden: int = 0
    """Expressions that constraints forbid, which were not scored."""
    screened: int = 0
    """Combinations of terms whose error was computed in closed form, without executing them."""
    refits: int = 0
    """Expressions whose constants were fitted again with full effort."""
    undecodable: int = 0
    """Codes that were decoded to no expression."""

    def __str__(self) -> str:
        return f"{self.executed:,} expressions tried"

    def __sub__(self, before: Counts) -> Counts:
        return Counts(*(now - then for now, then in zip(astuple(self), astuple(before), strict=True)))

    def add(self, **more: int) -> None:
        """Add to some of the counts."""
        for name, count in more.items():
            setattr(self, name, getattr(self, name) + count)


def key_pairs(forest: Forest) -> Keys:
    """Return the keys of expressions, of shape (expressions, 2); different ones agree with a chance of 2^-128.

    Expressions differ by their tokens or values. Constants without a value are all the same, and 0 is -0, as in
    `Forest.grouped`.
    """
    from edhie.expr.forest_kernels import hashes

    bits = np.where(np.isnan(forest.values), np.nan, forest.values + 0.0).view(np.int64)
    other_tokens, other_bits = ~forest.tokens, bits ^ 0x5DEECE66D
    keys = np.empty((len(forest), 2), np.uint64)
    keys[:, 0] = hashes(forest.tokens, forest.offsets, bits, forest.value_offsets)
    keys[:, 1] = hashes(other_tokens, forest.offsets, other_bits, forest.value_offsets)
    return keys


class KeyTable:
    """Rows by key, numbered in the order in which they came; columns of numbers go with them.

    A row counts once all of it is written, so that an interruption leaves no incomplete row.
    """

    def __init__(self, **defaults: float) -> None:
        """Make an empty table with these columns, and the values that rows have by default."""
        self._defaults = defaults
        self._keys = GrowingArray(np.uint64, 2)
        kinds = {name: np.int64 if isinstance(default, int) else np.float64 for name, default in defaults.items()}
        self._columns = {name: GrowingArray(kind) for name, kind in kinds.items()}
        self._index()

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return a column, as a view."""
        return self._columns[column].array

    @property
    def keys(self) -> Keys:
        """Key of each row, two numbers of 64 bits, as a view."""
        return self._keys.array

    def find(self, keys: Keys) -> Indices:
        """Return the rows of keys, -1 where there is none."""
        from edhie.evaluate import hash_table_kernels as kernels

        return kernels.find(keys, self._keys.buffer, len(self), self._slots)

    def add(self, keys: Keys, **values: NDArray[Any]) -> Indices:
        """Return the rows of keys; those without a row get one, with these values in its columns."""
        from edhie.evaluate import hash_table_kernels as kernels

        if self._keys.reserve(len(keys)):
            self._index()
        rows, new = kernels.insert(keys, self._keys.buffer, len(self), self._slots)
        for name, default in self._defaults.items():
            column = values[name][new] if name in values else np.full(len(new), default)
            self._columns[name].append(column, at=len(self))
        self._keys.append(keys[new])
        return rows

    def _index(self) -> None:
        from edhie.evaluate import hash_table_kernels as kernels

        self._slots = kernels.index(self._keys.buffer, len(self), SLOTS_PER_ROW * len(self._keys.buffer))

    def chosen(self, rows: Indices, **values: NDArray[Any]) -> KeyTable:
        """Return a new table with these rows, and with `values` in place of the rows' own."""
        table = KeyTable(**self._defaults)
        table.add(self.keys[rows], **({name: self[name][rows] for name in self._defaults} | values))
        return table


class KnownForms:
    """The explored expression that represents each form, and the writings that were tried.

    `forms` has for each form the `place` of the expression that represents it, -1 for none yet, and the `bound`
    that it was only found to be worse than, NaN where its error is exact. `writings` has for each writing the row
    of its `form`, and the bound that it was `tried` under: infinite where its error is exact, -inf if never.
    """

    def __init__(self) -> None:
        self.forms = KeyTable(place=-1, bound=math.nan)
        self.writings = KeyTable(form=-1, tried=-math.inf)

    def settle(
        self, writings: Indices, places: Indices, is_exact: Flags, *, bound: float, explored: Archive, negligible: float
    ) -> None:
        """Make expressions that were just executed represent their forms, unless a better one is known."""
        from edhie.evaluate import hash_table_kernels as kernels

        kernels.settle(
            writings, self.writings["form"][writings], places, is_exact, bound,
            self.writings["tried"], self.forms["place"], self.forms["bound"],
            explored.errors, explored.complexities, explored.executed_at, NO_WORSE, negligible,
        )  # fmt: skip

    def forget(self, moved: Indices | None, most: int) -> None:
        """Update places by `moved`, which has -1 for those that were dropped, and keep at most `most` writings."""
        if moved is None and len(self.writings) <= most:
            return
        places = self.forms["place"]
        if moved is not None:
            places = np.where(places < 0, -1, moved[places])
        stays = places >= 0
        of_form = self.writings["form"]
        kept = np.flatnonzero(stays[of_form])
        if len(kept) > most:
            kept = kept[:0]
        moved_forms = np.cumsum(stays) - 1
        forms = self.forms.chosen(np.flatnonzero(stays), place=places[stays])
        writings = self.writings.chosen(kept, form=moved_forms[of_form[kept]])
        self.forms, self.writings = forms, writings

    def state(self) -> Arrays:
        """Return the state as arrays, which stay unchanged when more becomes known."""
        return {
            "forms": self.forms.keys,
            "form_places": self.forms["place"].copy(),
            "form_bounds": self.forms["bound"].copy(),
            "writings": self.writings.keys,
            "writing_forms": self.writings["form"],
            "tried": self.writings["tried"].copy(),
        }

    @classmethod
    def restored(cls, state: Mapping[str, NDArray[Any]]) -> KnownForms:
        """Return what `state` describes; raise if it is damaged."""
        known = cls()
        for keys, columns in (("forms", ("form_places", "form_bounds")), ("writings", ("writing_forms", "tried"))):
            if {state[keys].shape[1:]} != {(2,)} or {len(state[name]) for name in columns} != {len(state[keys])}:
                raise EdhieError(f"a state with {len(state[keys])} {keys} and others of {columns} is damaged")
        _check_within("writing_forms", state["writing_forms"], 0, len(state["forms"]))
        _check_within("form_places", state["form_places"], -1, len(state["errors"]))
        forms, writings = (np.ascontiguousarray(state[name], np.uint64) for name in ("forms", "writings"))
        known.forms.add(forms, place=state["form_places"], bound=state["form_bounds"])
        known.writings.add(writings, form=state["writing_forms"], tried=state["tried"])
        if (len(known.forms), len(known.writings)) != (len(state["forms"]), len(state["writings"])):
            raise EdhieError("a state with forms or writings that come twice is damaged")
        return known


def _check_within(name: str, rows: NDArray[Any], least: int, end: int) -> None:
    """Raise an error if an index is out of range, since compiled loops do not check."""
    if len(rows) and not least <= rows.min() <= rows.max() < end:
        raise EdhieError(f"a state with {name} from {rows.min()} to {rows.max()}, of {end}, is damaged")


class Request(NamedTuple):
    """Expressions to be scored."""

    forest: Forest
    writings: Indices
    """Row of each expression's writing in `KnownForms.writings`."""
    forms: Indices
    """Row of each expression's form in `KnownForms.forms`."""
    complexities: NDArray[Any]
    bound: float


def to_execute(request: Request, known: KnownForms, explored: Archive, remaining: float) -> tuple[Indices, Indices]:
    """Return the simplest writing of each new form, within the budget, and of each form to execute again."""
    simplest = _simplest(request.forms, request.complexities)
    places = known.forms["place"][request.forms[simplest]]
    is_new = places < 0
    new, seen, places = simplest[is_new], simplest[~is_new], places[~is_new]
    is_cut_short = known.forms["bound"][request.forms[seen]] < request.bound  # exact ones have NaN there
    is_simpler = request.complexities[seen] < explored.complexities[places]
    again = seen[is_cut_short | (is_simpler & _is_untried(request, seen, known))]
    return new[: int(max(0, min(remaining, len(new))))], again


def _simplest(forms: Indices, complexities: NDArray[Any]) -> Indices:
    """Return the first of the least complex of each form, in the order in which forms come."""
    if len(forms) == 0:
        return np.zeros(0, np.int64)
    order = np.lexsort((complexities, forms))
    starts = np.flatnonzero(np.append(True, np.diff(forms[order]) != 0))
    return order[starts][np.argsort(np.minimum.reduceat(order, starts))]


def other_writings(request: Request, known: KnownForms, explored: Archive) -> Indices:
    """Return the untried writings of forms without a finite error: they may be defined in more places."""
    places = known.forms["place"][request.forms]
    seen = np.flatnonzero(places >= 0)
    invalid = seen[explored.errors[places[seen]] == math.inf]
    untried = invalid[_is_untried(request, invalid, known)]
    _, first = np.unique(request.writings[untried], return_index=True)
    chosen: Indices = untried[np.sort(first)]
    return chosen


def _is_untried(request: Request, chosen: Indices, known: KnownForms) -> Flags:
    is_untried: Flags = known.writings["tried"][request.writings[chosen]] < request.bound
    return is_untried
