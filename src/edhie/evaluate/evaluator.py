"""`Evaluator`: scores forests on data, each distinct expression once, within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError, ExpressionError
from edhie.evaluate.choosing import Call, other_writings, to_execute
from edhie.evaluate.complexity import complexity, symbol_weights
from edhie.evaluate.constants.config import CHEAP, FitConfig
from edhie.evaluate.constants.scaling import scaled, scaled_library
from edhie.evaluate.constraints import Constraints
from edhie.evaluate.data import Data, read_data
from edhie.evaluate.execution import Execution
from edhie.evaluate.explored import Explored, ExploredMark
from edhie.evaluate.key_table import Indices
from edhie.evaluate.keys import key_pairs
from edhie.evaluate.known import Known, KnownMark
from edhie.evaluate.losses import DEFAULT_LOSS, Loss, loss_named
from edhie.evaluate.numbers import check_whole
from edhie.evaluate.resolution import Resolution
from edhie.evaluate.rules import Rules
from edhie.evaluate.scores import Counts, Scores
from edhie.evaluate.screening import Screening
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.canonical import canonical

DEFAULT_MEMORY = 1_000_000
WRITINGS_A_FORM = 4  # of those in memory, on average: more are not remembered
ROUNDING = 1e-24  # of the target's sum of squares: less is as good as nothing


@dataclass(frozen=True, eq=False)
class Mark:
    """A moment that `Evaluator.undo` can go back to."""

    counts: Counts
    explored: ExploredMark
    known: KnownMark


class Evaluator:
    """Scores expressions over a library on data.

    Expressions with the same canonical form share one error, that of the simplest writing so far: equal but
    for rounding. A writing may be undefined where its form is not, as x²/x at 0, so while a form has no
    finite error its other writings are tried too. Constants without a value are fitted, by least squares
    whatever the loss; those with one are taken as they are. Every expression executed is in `explored`.
    What `constraints` forbid is left alone, however an allowed writing of the same form does.
    """

    def __init__(
        self,
        library: SymbolLibrary,
        X: Any,  # noqa: N803 -- as scikit-learn calls it
        y: Any,
        *,
        weights: Any = None,
        sigma: Any = None,
        resolution: Resolution | None = None,
        loss: str | Loss | Callable[..., Any] = DEFAULT_LOSS,
        constants: FitConfig = CHEAP,
        budget: int | None = None,
        complexity: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
        scaling: bool = False,
        screening: Screening | None = None,
        memory: int = DEFAULT_MEMORY,
        threads: int | None = 1,
        allow_constant_target: bool = False,
    ) -> None:
        """`budget` and `memory` are numbers of distinct expressions; `scaling` scores a + b·f instead of f.

        `complexity` weighs symbols by name, and is the number of nodes without it. `threads` is
        None for every core. With scaling, `constraints` are on a + b·f. `weights`, `sigma` and `resolution` are as
        `read_data` takes them.
        """
        if budget is not None:
            check_whole("budget", budget, 0, or_none="no limit")
        for name, given, kind in (
            ("constants", constants, FitConfig),
            ("screening", screening or Screening(), Screening),
        ):
            if not isinstance(given, kind):
                raise EdhieError(f"{name} is a {kind.__name__}, not {given!r}")
        self.given_library = library
        self.library = scaled_library(library) if scaling else library
        self.scaling = scaling
        symbol_weights(self.library, complexity or {})  # raises for what is no symbol
        self._weights = complexity
        self.rules: Rules | None = None if constraints is None else Rules(constraints, self.library)
        """What expressions have to look like; None where everything may be scored."""
        self.data: Data = read_data(
            X, y, weights=weights, sigma=sigma, names=library.variables, resolution=resolution,
            allow_constant_target=allow_constant_target,
        )  # fmt: skip
        self.loss = loss_named(loss)
        self.budget = budget
        self.explored = Explored(self.library, memory)
        self._execution = Execution(self.data, self.loss, constants, screening, threads)
        self._is_bounded = constants.lower > -math.inf or constants.upper < math.inf
        self._counts = Counts()
        self._known = Known()
        self.negligible: float = self._negligible()
        """An error that is as good as none: what rounding leaves of a perfect fit; always a finite number."""

    def _negligible(self) -> float:
        to_error = self.loss.from_sum_of_squares
        left = 0.0 if to_error is None else float(to_error(ROUNDING * self.data.squares_to_explain, self.data))
        return left if math.isfinite(left) else 0.0  # in the unit of a constant target any error is infinite

    # -- what it has done -----------------------------------------------------------------

    @property
    def counts(self) -> Counts:
        """What was done so far."""
        return self._counts

    @property
    def constants(self) -> FitConfig:
        """How constants without a value are fitted, and the bounds that all of them are to keep."""
        return self._execution.constants

    @property
    def remaining(self) -> float:
        """How many distinct expressions the budget still has; infinite without one."""
        return math.inf if self.budget is None else self.budget - self._counts.executed

    @property
    def is_exhausted(self) -> bool:
        """Whether the budget is used up."""
        return self.remaining <= 0

    @property
    def standing(self) -> NDArray[np.int64]:
        """The places in `explored` of the distinct expressions, each once, in the order in which they came."""
        places = self._known.forms["place"]
        return np.sort(places[places >= 0])

    def settings(self) -> dict[str, Any]:
        """What its answers depend on besides library and data, as JSON has it."""
        screening = self._execution.screening
        return {
            "loss": self.loss.name,
            "constants": asdict(self._execution.constants),
            "complexity": dict(self._weights or {}),
            "scaling": self.scaling,
            "screening": None if screening is None else asdict(screening),
            "memory": self.explored.capacity,
            **({} if self.rules is None else {"constraints": self.rules.constraints.as_json()}),
        }

    # -- limits, and going back -----------------------------------------------------------

    @contextmanager
    def limited(self, executed: int | None) -> Iterator[None]:
        """While this lasts, execute at most so many distinct expressions in all, those before it included."""
        own = self.budget
        limits = [limit for limit in (own, executed) if limit is not None]
        self.budget = min(limits, default=None)
        try:
            yield
        finally:
            self.budget = own

    def mark(self) -> Mark:
        """This moment, for `undo`; the mark before it is void. What changes is noted until `unmark`."""
        return Mark(self._counts, self.explored.mark(), self._known.mark())

    def unmark(self) -> None:
        """Give up the mark: nothing will be undone."""
        self._known.unmark()

    def undo(self, mark: Mark) -> None:
        """Forget what was done since the mark, which must be the last one."""
        self._counts = mark.counts
        self.explored.undo(mark.explored)
        self._known.undo(mark.known)

    def state(self) -> dict[str, NDArray[Any]]:
        """What it has done, as arrays: with the same data and settings, `restore` goes on from there."""
        counts = np.array(astuple(self._counts), np.int64)
        return {"counts": counts, **self.explored.state(), **self._known.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Be where `state` was taken; what was done here before is forgotten."""
        try:
            known, counts = Known.restored(state), Counts(*map(int, state["counts"]))
            self.explored.restore(state)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise EdhieError(f"this is not the state of an evaluator, or it is damaged: {error!r}") from error
        self._known, self._counts = known, counts

    def spend(self, n: int) -> None:
        """Count `n` distinct expressions that were executed against the data elsewhere, as parts of others."""
        check_whole("n", n, 0)
        if n > self.remaining:
            raise EdhieError(f"the budget has {self.remaining:g} expressions left, fewer than the {n} to be spent")
        self._counts = replace(self._counts, executed=self._counts.executed + n)

    def unseen(self, forest: Forest) -> Forest:
        """Those of a forest whose writing it was never shown; from now on it has seen them, though not scored them.

        What constraints forbid is not among them.
        """
        self._check_forest(forest)
        asked = scaled(forest, self.library) if self.scaling else forest
        if self.rules is not None:
            is_allowed = self.rules.allowed(asked)
            forest, asked = forest.take(is_allowed), asked.take(is_allowed)
        fresh = np.flatnonzero(self._known.writings.find(key_pairs(asked)) < 0)
        self._known_writings(asked.take(fresh))
        return forest.take(fresh)

    # -- scoring --------------------------------------------------------------------------

    def score(self, forest: Forest, *, bound: float = math.inf) -> Scores:
        """Score a forest's expressions; what is worse than the `bound` may come back as infinitely bad.

        Where the budget ends, what comes after it is not scored, unless it is known already. What constraints
        forbid is not scored either.
        """
        self._check_forest(forest)
        if math.isnan(bound):
            raise EdhieError("the bound is NaN; give the largest error that matters, or leave it out")
        if self.scaling:
            forest = scaled(forest, self.library)
        is_allowed = np.ones(len(forest), np.bool_) if self.rules is None else self.rules.allowed(forest)
        n_forbidden = int((~is_allowed).sum())
        found = self._score_allowed(forest.take(is_allowed) if n_forbidden else forest, bound)
        self._counts = replace(
            self._counts,
            asked=self._counts.asked + len(forest),
            forbidden=self._counts.forbidden + n_forbidden,
        )
        return self._with_forbidden(found, forest, is_allowed) if n_forbidden else found

    def _score_allowed(self, forest: Forest, bound: float) -> Scores:
        writings = self._known_writings(forest)
        forms = self._known.writings["form"][writings]
        call = Call(forest, writings, forms, complexity(forest, self._weights), bound)
        new, again = to_execute(call, self._known, self.explored, self.remaining)
        self._execute(call, np.concatenate([new, again]), len(new))
        is_screened = self._execution.screening is not None
        self._execute(call, other_writings(call, self._known, self.explored, is_screened=is_screened), 0)
        found = self._collect(call)
        self._forget()
        return found

    def _with_forbidden(self, found: Scores, forest: Forest, is_allowed: NDArray[np.bool_]) -> Scores:
        """What was found for those that are allowed, with the others in their places, infinitely bad."""
        order = np.empty(len(forest), np.int64)
        order[np.argsort(~is_allowed, kind="stable")] = np.arange(len(forest))
        rest = forest.take(~is_allowed)
        none = np.zeros(len(rest), np.bool_)
        return Scores(
            Forest.concatenate([found.forest, rest]).take(order),
            np.concatenate([found.errors, np.full(len(rest), np.inf)])[order],
            np.concatenate([found.complexities, complexity(rest, self._weights)])[order],
            np.concatenate([found.is_scored, none])[order],
            np.concatenate([found.forms, none.astype(np.uint64)])[order],
        )

    def complexities(self, forest: Forest) -> NDArray[Any]:
        """The complexity of each expression of a forest, as `score` counts it."""
        self._check_forest(forest)
        return complexity(scaled(forest, self.library) if self.scaling else forest, self._weights)

    def _check_forest(self, forest: Any) -> None:
        if not isinstance(forest, Forest):
            kind = type(forest).__name__
            raise ExpressionError(f"score() takes a Forest, not {kind}; make one with Forest.from_exprs([...])")
        if forest.library != self.given_library:
            raise ExpressionError(
                f"the forest is over another library ({forest.library}) than the evaluator's "
                f"({self.given_library}); cast() it"
            )

    def _known_writings(self, forest: Forest) -> Indices:
        """The rows of a forest's writings; the canonical forms of those that are new, a costly part, are learned."""
        keys = key_pairs(forest)
        writings = self._known.writings.find(keys)
        fresh = np.flatnonzero(writings < 0)
        if len(fresh):
            # constants merge only where they may be any number: under bounds c*c reaches further than c
            apart = forest.take(fresh)
            forms = key_pairs(apart if self._is_bounded else canonical(apart))
            writings[fresh] = self._known.learn(keys[fresh], forms)
        return writings

    def _execute(self, call: Call, chosen: Indices, n_new: int) -> None:
        if len(chosen) == 0:
            return
        done = self._execution.run(call.forest.take(chosen), call.bound)
        executed_at = self._counts.executed + np.minimum(np.arange(1, len(chosen) + 1), n_new)
        places = self.explored.add(done.forest, done.errors, call.complexities[chosen], executed_at)
        self._known.settle(
            call.writings[chosen], places, done.is_exact,
            bound=call.bound, explored=self.explored, negligible=self.negligible,
        )  # fmt: skip
        self._counts = replace(
            self._counts,
            executed=self._counts.executed + n_new,
            again=self._counts.again + len(chosen) - n_new,
            screened=self._counts.screened + done.n_screened,
            bounded=self._counts.bounded + int((~done.is_exact).sum()) - done.n_screened,
            invalid=self._counts.invalid + int((done.is_exact & ~np.isfinite(done.errors)).sum()),
        )

    def _collect(self, call: Call) -> Scores:
        places = self._known.forms["place"][call.forms]
        keys = self._known.forms.keys[call.forms, 0]
        is_scored = places >= 0
        if is_scored.all():
            found = self.explored.take(places)
            return Scores(found, self.explored.errors[places], self.explored.complexities[places], is_scored, keys)
        order = np.empty(len(places), np.int64)
        order[np.argsort(~is_scored, kind="stable")] = np.arange(len(places))
        known = places[is_scored]
        both = Forest.concatenate([self.explored.take(known), call.forest.take(~is_scored)])
        errors, shown = np.full(len(places), np.inf), call.complexities.astype(np.float64)
        errors[is_scored], shown[is_scored] = self.explored.errors[known], self.explored.complexities[known]
        return Scores(both.take(order), errors, shown, is_scored, keys)

    def _forget(self) -> None:
        """Keep to the bound on memory; what is forgotten would be executed, and counted, again."""
        self._known.forget(self.explored.forget(), WRITINGS_A_FORM * self.explored.capacity)
