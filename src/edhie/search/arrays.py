"""Array types, small functions on forests that searches share, and the state of a search as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.data import Data
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.search.base import State

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
LARGEST_VALUE = 1e150  # of a piece or a column, so that its square is finite


def unfitted(forest: Forest) -> Forest:
    """Return the expressions with unfitted constants, so that those of the same structure are equal."""
    return replace(forest, values=np.full(len(forest.values), np.nan))


def with_missing(forest: Forest, value: float) -> Forest:
    """Return the expressions with this value for unfitted constants."""
    return replace(forest, values=np.where(np.isnan(forest.values), value, forest.values))


def root_weights(data: Data) -> Numbers:
    """Return the square roots of the rows' weights."""
    return np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)


def recoded(forest: Forest, table: NDArray[np.integer], library: SymbolLibrary) -> Forest:
    """Return the expressions over another library; `table` has the new token of each token.

    Expressions with a token whose entry is -1 are left out.
    """
    is_known = np.bincount(forest.owners[table[forest.tokens] < 0], minlength=len(forest)) == 0
    whole = forest.take(is_known)
    return replace(whole, library=library, tokens=table[whole.tokens].astype(np.int16))


def one_of_each(forest: Forest, order: Indices) -> Indices:
    """Return the indices in `order`, only the first of each structure."""
    _, first = np.unique(unfitted(forest).grouped()[1][order], return_index=True)
    return order[np.sort(first)]


def has_missing(forest: Forest) -> Mask:
    """Return, by expression, whether it has an unfitted constant."""
    owners = np.searchsorted(forest.value_offsets, np.flatnonzero(np.isnan(forest.values)), side="right") - 1
    return np.asarray(np.bincount(owners, minlength=len(forest)) > 0)


# -- the state of a search, for checkpoints --------------------------------------------

FOREST = ("tokens", "offsets", "values")


class Kept:
    """An object whose state is that of some of its attributes."""

    KEPT: ClassVar[tuple[str, ...]]
    """The names of these attributes."""

    @final
    def state(self) -> State:
        """Return the state as arrays."""
        return written({name.strip("_"): getattr(self, name) for name in self.KEPT})

    @final
    def restore(self, state: State) -> None:
        """Restore the object from a snapshot; it has to be as it was before the search."""
        found = {name: read(getattr(self, name), name.strip("_"), state) for name in self.KEPT}
        self.__dict__.update(found)


def written(values: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return a table of values as arrays; that of a value's part is named `value.part`.

    A value is a number, a text, an array, a set of keys, an expression or a forest; None; a dataclass or a table of
    such values; or an object that has a `state`.

    >>> written({"best": {"errors": np.zeros(2), "steps": 3}})
    {'best.errors': array([0., 0.]), 'best.steps': array(3)}
    """
    found: dict[str, NDArray[Any]] = {}
    for name, value in values.items():
        parts = _parts(value)
        if parts is not None:
            found |= {f"{name}.{part}": array for part, array in written(parts).items()}
        else:
            found[name] = np.array(sorted(value), np.uint64) if isinstance(value, set) else np.asarray(value)
    return found


def _parts(value: Any) -> Mapping[str, Any] | None:
    """Return the parts of a value by name; None if it is one array."""
    if callable(state := getattr(value, "state", None)):
        return dict(state())
    if isinstance(value, Expr):
        value = Forest.from_exprs([value], value.library)
    if isinstance(value, Forest):
        return {part: getattr(value, part) for part in FOREST}
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return {} if value is None else value if isinstance(value, Mapping) else None


def read(before: Any, name: str, state: State) -> Any:
    """Return the value that `written` wrote; `before` is one of its kind, such as that before the search.

    Axes of arrays that are not empty in `before` keep their lengths. An empty table takes all arrays under its name.
    """
    parts = under(f"{name}.", state)
    if hasattr(before, "restore"):
        before.restore(parts)
        return before
    if isinstance(before, Expr):
        return read(Forest.from_exprs([before], before.library), name, state)[0]
    if isinstance(before, Forest):
        return Forest.checked(before.library, *(parts[part] for part in FOREST))
    if is_dataclass(before) and not isinstance(before, type):
        found = {each.name: read(getattr(before, each.name), each.name, parts) for each in fields(before)}
        return replace(before, **found)
    if isinstance(before, Mapping):
        return {key: read(each, str(key), parts) for key, each in before.items()} if before else parts
    if before is None:
        return state[name].item() if name in state else None
    array = state[name]
    if isinstance(before, np.ndarray):
        if array.ndim != before.ndim or any(n not in (0, m) for n, m in zip(before.shape, array.shape, strict=True)):
            raise SearchError(f"{name} has shape {array.shape}, and this search has {before.shape}")
        return array
    return set(array.tolist()) if isinstance(before, set) else type(before)(array.item())


def under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
