"""What an evaluator knows of expressions, by the keys of their writings and canonical forms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError

Arrays = dict[str, NDArray[Any]]
KEY_BYTES = 16


@dataclass(frozen=True, eq=False)
class KnownMark:
    """A moment that `Known.undo` can go back to."""

    dicts: tuple[dict[bytes, int], dict[bytes, bytes], dict[int, float], dict[bytes, float]]
    n_writings: int


class Known:
    """Which expression of those explored stands for a form, and what was tried."""

    def __init__(self) -> None:
        self.place_by_form: dict[bytes, int] = {}
        self.form_by_writing: dict[bytes, bytes] = {}
        self.bound_by_place: dict[int, float] = {}
        """Of expressions that were only found to be worse than a bound: that bound."""
        self.tried: dict[bytes, float] = {}
        """By writing: the bound that it was executed under, infinite where its error is exact."""
        self._changes: list[tuple[dict[Any, Any], Any, Any]] | None = None  # since the mark: what stood there before

    def place_of(self, writing: bytes) -> int | None:
        """Where the expression stands that has the form of a writing."""
        return self.place_by_form.get(self.form_by_writing[writing])

    def note_try(self, writing: bytes, bound: float) -> None:
        """Remember that a writing was executed under a bound."""
        self._set(self.tried, writing, max(self.tried.get(writing, -math.inf), bound))

    def stand(self, form: bytes, place: int, bound: float | None) -> None:
        """Let a place stand for a form; a `bound` where it was cut short."""
        known = self.place_by_form.get(form)
        if known is not None and known in self.bound_by_place:
            self._set(self.bound_by_place, known, None)
        self._set(self.place_by_form, form, place)
        if bound is not None:
            self._set(self.bound_by_place, place, bound)

    def forget(self, moved: NDArray[np.int64] | None, most: int) -> None:
        """Follow places that moved, -1 for those that are gone, and keep at most so many writings."""
        if moved is not None:
            self.place_by_form = {
                form: int(moved[place]) for form, place in self.place_by_form.items() if moved[place] >= 0
            }
            self.bound_by_place = {
                int(moved[place]): bound for place, bound in self.bound_by_place.items() if moved[place] >= 0
            }
        if moved is not None or len(self.form_by_writing) > most:
            known = {w: form for w, form in self.form_by_writing.items() if form in self.place_by_form}
            self.form_by_writing = known if len(known) <= most else {}
            self.tried = {w: bound for w, bound in self.tried.items() if w in self.form_by_writing}

    # -- going back -----------------------------------------------------------------------

    def _set(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Set an entry, or remove it where the value is None."""
        if self._changes is not None:
            self._changes.append((table, key, table.get(key)))
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value

    def mark(self) -> KnownMark:
        """This moment, to go back to; the mark before it is void."""
        self._changes = []
        dicts = self.place_by_form, self.form_by_writing, self.bound_by_place, self.tried
        return KnownMark(dicts, len(self.form_by_writing))

    def unmark(self) -> None:
        """Note no more changes."""
        self._changes = None

    def undo(self, mark: KnownMark) -> None:
        """Be as at the mark, which must be the last one."""
        changes, self._changes = self._changes or [], None
        for table, key, before in reversed(changes):  # forgetting makes new dicts, so those of the mark are still there
            self._set(table, key, before)
        self.place_by_form, self.form_by_writing, self.bound_by_place, self.tried = mark.dicts
        while len(self.form_by_writing) > mark.n_writings:
            self.form_by_writing.popitem()  # writings are only ever added, at the end
        self._changes = []

    # -- as arrays ------------------------------------------------------------------------

    def state(self) -> Arrays:
        """All of it as arrays."""
        return {
            "forms": _key_array(self.place_by_form),
            "form_places": _numbers(self.place_by_form, np.int64),
            "writings": _key_array(self.form_by_writing),
            "writing_forms": _key_array(self.form_by_writing.values()),
            "bounded_places": np.fromiter(self.bound_by_place, np.int64, len(self.bound_by_place)),
            "bounds": _numbers(self.bound_by_place, np.float64),
            "tried": _key_array(self.tried),
            "tried_bounds": _numbers(self.tried, np.float64),
        }

    @classmethod
    def restored(cls, state: Mapping[str, NDArray[Any]]) -> Known:
        """What `state` told."""
        known = cls()
        pairs = (("forms", "form_places"), ("writings", "writing_forms"), ("tried", "tried_bounds"))
        for keys, values in (*pairs, ("bounded_places", "bounds")):
            if len(state[keys]) != len(state[values]):
                raise EdhieError(f"a state with {len(state[keys])} {keys} and {len(state[values])} {values} is damaged")
        known.place_by_form = dict(zip(_keys(state["forms"]), state["form_places"].tolist(), strict=True))
        known.form_by_writing = dict(zip(_keys(state["writings"]), _keys(state["writing_forms"]), strict=True))
        known.bound_by_place = dict(zip(state["bounded_places"].tolist(), state["bounds"].tolist(), strict=True))
        known.tried = dict(zip(_keys(state["tried"]), state["tried_bounds"].tolist(), strict=True))
        return known


def _key_array(keys: Any) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(keys), np.uint8).reshape(-1, KEY_BYTES)


def _keys(array: NDArray[Any]) -> list[bytes]:
    found: list[bytes] = np.ascontiguousarray(array, np.uint8).view(f"V{KEY_BYTES}").ravel().tolist()
    return found


def _numbers(table: dict[Any, Any], dtype: Any) -> NDArray[Any]:
    return np.fromiter(table.values(), dtype, len(table))
