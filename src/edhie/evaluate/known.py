"""`Known`: an evaluator's knowledge of expressions, by the keys of their writings and canonical forms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError
from edhie.evaluate.explored import Explored
from edhie.evaluate.hash_table import Indices, Keys, KeyTable

Arrays = dict[str, NDArray[Any]]
NO_WORSE = 1e-9  # the share by which a simpler writing's error may be larger


@dataclass(frozen=True, eq=False)
class KnownMark:
    """A moment that `Known.undo` can go back to."""

    forms: KeyTable
    writings: KeyTable


class Known:
    """The explored expression that stands for each form, and the writings that were tried.

    `forms` has for each form the `place` of the expression that stands for it, -1 for none yet, and the `bound`
    that it was only found to be worse than, NaN where its error is exact. `writings` has for each writing the row
    of its `form`, and the bound that it was `tried` under: infinite where its error is exact, -inf if never.
    """

    def __init__(self) -> None:
        self.forms = KeyTable(place=-1, bound=math.nan)
        self.writings = KeyTable(form=-1, tried=-math.inf)
        self._changes: list[tuple[NDArray[Any], Indices, NDArray[Any]]] | None = None
        """Changes since the mark: column, rows, and their values before."""

    def learn(self, writings: Keys, forms: Keys) -> Indices:
        """Add writings and their forms; return the rows of the writings."""
        return self.writings.add(writings, form=self.forms.add(forms))

    def settle(
        self, writings: Indices, places: Indices, is_exact: NDArray[np.bool_], *, bound: float, explored: Explored,
        negligible: float,
    ) -> None:  # fmt: skip
        """Let expressions that were just executed stand for their forms unless a better one is known."""
        from edhie.evaluate import hash_table_kernels as kernels

        forms = self.writings["form"][writings]
        columns = self.writings["tried"], self.forms["place"], self.forms["bound"]
        for column, rows in zip(columns, (writings, forms, forms), strict=True):
            self._note(column, rows)
        kernels.settle(
            writings, forms, places, is_exact, bound, *columns,
            explored.errors, explored.complexities, explored.executed_at, NO_WORSE, negligible,
        )  # fmt: skip

    def forget(self, moved: Indices | None, most: int) -> None:
        """Update places that moved, -1 for those that are gone, and keep at most so many writings."""
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

    # -- going back -----------------------------------------------------------------------

    def _note(self, column: NDArray[Any], rows: Indices) -> None:
        if self._changes is not None:
            self._changes.append((column, rows, column[rows]))

    def mark(self) -> KnownMark:
        """Return this moment, for `undo`; the mark before it is void."""
        self._changes = []
        return KnownMark(self.forms.copied(), self.writings.copied())

    def unmark(self) -> None:
        """Stop noting changes."""
        self._changes = None

    def undo(self, mark: KnownMark) -> None:
        """Go back to the mark, which must be the last one."""
        for column, rows, before in reversed(self._changes or []):
            column[rows] = before  # more room makes new columns: those of the mark are still there
        self.forms, self.writings = mark.forms.reindexed(), mark.writings.reindexed()
        self._changes = []

    # -- as arrays ------------------------------------------------------------------------

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
    def restored(cls, state: Mapping[str, NDArray[Any]]) -> Known:
        """Return what `state` describes; raise if it is damaged."""
        known = cls()
        for keys, columns in (("forms", ("form_places", "form_bounds")), ("writings", ("writing_forms", "tried"))):
            if {state[keys].shape[1:]} != {(2,)} or {len(state[name]) for name in columns} != {len(state[keys])}:
                raise EdhieError(f"a state with {len(state[keys])} {keys} and others of {columns} is damaged")
        _check_within("writing_forms", state["writing_forms"], 0, len(state["forms"]))
        _check_within("form_places", state["form_places"], -1, len(state["errors"]))
        known.forms.add(_keys(state["forms"]), place=state["form_places"], bound=state["form_bounds"])
        known.writings.add(_keys(state["writings"]), form=state["writing_forms"], tried=state["tried"])
        if (len(known.forms), len(known.writings)) != (len(state["forms"]), len(state["writings"])):
            raise EdhieError("a state with forms or writings that come twice is damaged")
        return known


def _check_within(name: str, rows: NDArray[Any], least: int, end: int) -> None:
    """Raise where an index is out of range: compiled loops do not check."""
    if len(rows) and not least <= rows.min() <= rows.max() < end:
        raise EdhieError(f"a state with {name} from {rows.min()} to {rows.max()}, of {end}, is damaged")


def _keys(array: NDArray[Any]) -> Keys:
    return np.ascontiguousarray(array, np.uint64)
