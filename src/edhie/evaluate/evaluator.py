"""`Evaluator`: scores forests on data, each distinct expression once, within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError, ExpressionError
from edhie.evaluate.complexity import complexity, symbol_weights
from edhie.evaluate.constants.config import CHEAP, FitConfig
from edhie.evaluate.constants.scaling import scaled, scaled_library
from edhie.evaluate.data import Data, read_data
from edhie.evaluate.execution import Execution
from edhie.evaluate.explored import Explored
from edhie.evaluate.keys import token_keys
from edhie.evaluate.losses import DEFAULT_LOSS, Loss, loss_named
from edhie.evaluate.scores import Counts, Scores
from edhie.evaluate.screening import Screening
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.canonical import canonical

Indices = NDArray[np.int64]
DEFAULT_MEMORY = 1_000_000


class Evaluator:
    """Scores expressions over a library on data.

    Expressions with the same canonical form are executed once. Constants without a value are
    fitted; those with one are taken as they are. Every expression scored is in `explored`.
    """

    def __init__(
        self,
        library: SymbolLibrary,
        X: Any,  # noqa: N803 -- as scikit-learn calls it
        y: Any,
        *,
        weights: Any = None,
        loss: str | Loss | Callable[..., Any] = DEFAULT_LOSS,
        constants: FitConfig = CHEAP,
        budget: int | None = None,
        complexity: Mapping[str, float] | None = None,
        scaling: bool = False,
        screening: Screening | None = None,
        memory: int = DEFAULT_MEMORY,
        threads: int | None = 1,
        allow_constant_target: bool = False,
    ) -> None:
        """`budget` and `memory` are numbers of distinct expressions; `scaling` scores a + b·f instead of f.

        `complexity` weighs symbols by name, and is the number of nodes without it. `threads` is
        None for every core.
        """
        if budget is not None and budget < 0:
            raise EdhieError(f"a budget is a number of expressions, 0 or more, not {budget}")
        self.given_library = library
        self.library = scaled_library(library) if scaling else library
        self.scaling = scaling
        symbol_weights(self.library, complexity or {})  # raises for what is no symbol
        self._weights = complexity
        self.data: Data = read_data(
            X, y, weights=weights, names=library.variables, allow_constant_target=allow_constant_target
        )
        self.loss = loss_named(loss)
        self.budget = budget
        self.explored = Explored(self.library, memory)
        self._execution = Execution(self.data, self.loss, constants, screening, threads)
        self._counts = Counts()
        self._place_by_form: dict[bytes, int] = {}
        self._form_by_writing: dict[bytes, bytes] = {}
        self._bound_by_place: dict[int, float] = {}

    # -- what it has done -----------------------------------------------------------------

    @property
    def counts(self) -> Counts:
        """What was done so far."""
        return self._counts

    @property
    def remaining(self) -> float:
        """How many distinct expressions the budget still has; infinite without one."""
        return math.inf if self.budget is None else self.budget - self._counts.executed

    @property
    def is_exhausted(self) -> bool:
        """Whether the budget is used up."""
        return self.remaining <= 0

    # -- scoring --------------------------------------------------------------------------

    def score(self, forest: Forest, *, bound: float = math.inf) -> Scores:
        """Score a forest's expressions; what is worse than the `bound` may come back as infinitely bad.

        Where the budget ends, what comes after it is not scored, unless it is known already.
        """
        if forest.library != self.given_library:
            raise ExpressionError(
                f"the forest is over another library ({forest.library}) than the evaluator's "
                f"({self.given_library}); cast() it"
            )
        if self.scaling:
            forest = scaled(forest, self.library)
        writings = token_keys(forest)
        self._find_forms(forest, writings)
        complexities = complexity(forest, self._weights)
        new, again = self._to_execute(forest, writings, complexities, bound)
        self._execute(forest, writings, complexities, np.array(new + again, np.int64), len(new), bound)
        self._counts = replace(self._counts, asked=self._counts.asked + len(forest))
        found = self._collect(forest, writings, complexities)
        self._forget()
        return found

    def _find_forms(self, forest: Forest, writings: list[bytes]) -> None:
        """Learn the canonical forms of writings that are new; the costly part of knowing an expression again."""
        fresh = [k for k, key in enumerate(writings) if key not in self._form_by_writing]
        if fresh:
            forms = token_keys(canonical(forest.take(fresh)))
            self._form_by_writing.update(zip((writings[k] for k in fresh), forms, strict=True))

    def _to_execute(
        self, forest: Forest, writings: list[bytes], complexities: NDArray[Any], bound: float
    ) -> tuple[list[int], list[int]]:
        """The expressions to execute: those new to it, as far as the budget goes, and those to be seen again."""
        new: list[int] = []
        again: list[int] = []
        begun: set[bytes] = set()
        has_free = self._has_free_constants(forest)
        for k, writing in enumerate(writings):
            form = self._form_by_writing[writing]
            place = self._place_by_form.get(form)
            if form in begun or (place is None and len(new) >= self.remaining):
                continue
            if place is None:
                new.append(k)
            elif self._bound_by_place.get(place, math.inf) < bound or (
                has_free[k] and complexities[k] < self.explored.complexities[place]
            ):
                again.append(k)
            else:
                continue
            begun.add(form)
        return new, again

    def _execute(
        self,
        forest: Forest,
        writings: list[bytes],
        complexities: NDArray[Any],
        chosen: Indices,
        n_new: int,
        bound: float,
    ) -> None:
        if len(chosen) == 0:
            return
        done = self._execution.run(forest.take(chosen), bound)
        places = self.explored.add(done.forest, done.errors, complexities[chosen])
        for k, place, is_exact in zip(chosen.tolist(), places.tolist(), done.is_exact.tolist(), strict=True):
            form = self._form_by_writing[writings[k]]
            self._place_by_form[form] = place
            if not is_exact:
                self._bound_by_place[place] = bound
        self._counts = replace(
            self._counts,
            executed=self._counts.executed + n_new,
            again=self._counts.again + len(chosen) - n_new,
            screened=self._counts.screened + done.n_screened,
            bounded=self._counts.bounded + int((~done.is_exact).sum()) - done.n_screened,
            invalid=self._counts.invalid + int((done.is_exact & ~np.isfinite(done.errors)).sum()),
        )

    def _collect(self, forest: Forest, writings: list[bytes], complexities: NDArray[Any]) -> Scores:
        places = np.array([self._place_by_form.get(self._form_by_writing[key], -1) for key in writings], np.int64)
        is_scored = places >= 0
        explored = self.explored
        errors = np.where(is_scored, explored.errors[places] if len(explored) else np.inf, np.inf)
        shown = np.where(is_scored, explored.complexities[places] if len(explored) else 0.0, complexities)
        # an expression without constants may be simpler in this writing, and needs no other values
        own = ~is_scored | (~self._has_free_constants(forest) & (complexities < shown))
        if own.any():
            both = Forest.concatenate([explored.take(places[~own]), forest.take(own)])
            order = np.empty(len(forest), np.int64)
            order[np.flatnonzero(~own)] = np.arange((~own).sum())
            order[np.flatnonzero(own)] = np.arange((~own).sum(), len(forest))
            found = both.take(order)
        else:
            found = explored.take(places)
        return Scores(found, errors, np.where(own, complexities, shown), is_scored)

    def _has_free_constants(self, forest: Forest) -> NDArray[np.bool_]:
        free = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.isnan(forest.values))])
        counts: NDArray[np.bool_] = np.diff(free[forest.value_offsets]) > 0
        return counts

    def _forget(self) -> None:
        """Keep to the bound on memory; what is forgotten would be executed, and counted, again."""
        moved = self.explored.forget()
        if moved is None:
            return
        self._place_by_form = {
            form: int(moved[place]) for form, place in self._place_by_form.items() if moved[place] >= 0
        }
        self._bound_by_place = {
            int(moved[place]): bound for place, bound in self._bound_by_place.items() if moved[place] >= 0
        }
        self._form_by_writing = {
            writing: form for writing, form in self._form_by_writing.items() if form in self._place_by_form
        }
