"""`Evaluator`: scores forests on data, each distinct expression once, within a budget."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Flags, Indices, Numbers
from edhie.errors import EdhieError, ExpressionError
from edhie.evaluate.archive import Archive
from edhie.evaluate.constants.fitting import CHEAP, FitConfig, fit_and_score, with_parts
from edhie.evaluate.constraints import Constraints, Rules, complexity, symbol_weights
from edhie.evaluate.counting import Counts, KnownForms, Request, key_pairs, other_writings, to_execute
from edhie.evaluate.data import Data
from edhie.evaluate.losses import DEFAULT_LOSS, Loss, loss_named
from edhie.evaluate.numbers import check_whole
from edhie.evaluate.reading import data_for, read_data
from edhie.evaluate.resolution import Resolution
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.canonical import canonical

WRITINGS_PER_FORM = 4  # that are kept on average
ROUNDING = 1e-24  # share of the target's sum of squares below which an error counts as 0


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a forest's expressions, in its order."""

    forest: Forest
    """The expressions with their constants fitted; for an equivalent of an earlier one, the simpler writing of both."""
    errors: Numbers
    """Loss of each expression; infinite where a value is not finite, and where it was not needed exactly."""
    complexities: Numbers
    """Complexity of each expression."""
    is_scored: Flags
    """False for expressions beyond the budget, and for those that constraints forbid."""
    forms: NDArray[np.uint64]
    """64 bits of each canonical form, the same for all that count as one expression; 0 if forbidden."""

    def __len__(self) -> int:
        return len(self.errors)


State = dict[str, NDArray[Any]]
"""The state of an evaluator, as arrays that later scoring does not change."""


class Evaluator:
    """Scores expressions over a library on data.

    Expressions with the same canonical form share the error of the simplest writing so far; their own differs by
    rounding only. A writing may be undefined where its form is not, as x²/x at 0, so other writings of a form are tried
    until one has a finite error. Constants without a value are fitted by least squares, whatever the loss; others keep
    their value. Every executed expression is in `explored`. Expressions that `constraints` forbid are not scored, even
    if another writing of the same form is allowed.
    """

    def __init__(
        self,
        library: SymbolLibrary,
        X: Any,  # noqa: N803 -- as scikit-learn calls it
        y: Any = None,
        *,
        weights: Any = None,
        sigma: Any = None,
        resolution: Resolution | None = None,
        loss: str | Loss | Callable[..., Any] = DEFAULT_LOSS,
        constants: FitConfig = CHEAP,
        budget: int | None = None,
        complexity: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
        allow_constant_target: bool = False,
    ) -> None:
        """Read the data and check the settings.

        `X` is a `Data` with the library's variables, or a table; then `y`, `weights`, `sigma` and `resolution` are as
        `read_data` takes them. `budget` is a number of distinct expressions. `complexity` weighs symbols by name;
        without it, complexity is the number of nodes.
        """
        if budget is not None:
            check_whole("budget", budget, 0, or_none="no limit")
        if not isinstance(constants, FitConfig):
            raise EdhieError(f"constants is a FitConfig, not {constants!r}")
        symbol_weights(library, complexity or {})  # raises for an unknown symbol
        self.library = library
        self._symbol_weights = complexity
        self.rules: Rules | None = None if constraints is None else Rules(constraints, library)
        """The constraints over the library; None where everything may be scored."""
        if isinstance(X, Data):
            if not (y is weights is sigma is resolution is None):
                raise EdhieError("a Data has its own y, weights, sigma and resolution; give the Data alone")
            self.data: Data = data_for(X, library.variables, allow_constant_target=allow_constant_target)
        else:
            self.data = read_data(
                X, y, weights=weights, sigma=sigma, names=library.variables, resolution=resolution,
                allow_constant_target=allow_constant_target,
            )  # fmt: skip
        self.loss = loss_named(loss)
        self.constants = constants
        """The effort with which constants are fitted, and the bounds of all constants."""
        self.budget = budget
        self.explored = Archive(library)
        self.tally = Counts()
        """The work done so far; searches add their own."""
        self._known = KnownForms()
        to_error = self.loss.from_sum_of_squares
        left = 0.0 if to_error is None else float(to_error(ROUNDING * self.data.squares_to_explain, self.data))
        # in the unit of a constant target any error is infinite
        self.negligible: float = left if math.isfinite(left) else 0.0
        """The error up to which a fit counts as exact, since rounding may leave as much; always finite."""

    @property
    def counts(self) -> Counts:
        """The work done so far, as a copy."""
        return replace(self.tally)

    @property
    def remaining(self) -> float:
        """The number of distinct expressions that the budget still has; infinite without one."""
        return math.inf if self.budget is None else self.budget - self.tally.executed

    @property
    def is_exhausted(self) -> bool:
        """True once the budget is used up."""
        return self.remaining <= 0

    @property
    def standing(self) -> Indices:
        """The places in `explored` of the distinct expressions, each once, in the order in which they came."""
        places = self._known.forms["place"]
        return np.sort(places[places >= 0])

    def settings(self) -> dict[str, Any]:
        """Return the settings that determine the scores, besides library and data, ready for JSON."""
        return {
            "loss": self.loss.name,
            "constants": asdict(self.constants),
            "complexity": dict(self._symbol_weights or {}),
            **({} if self.rules is None else {"constraints": self.rules.constraints.as_json()}),
        }

    @contextmanager
    def limited(self, executed: int | None) -> Iterator[None]:
        """Limit the total number of distinct expressions executed, including earlier ones, within the context."""
        own = self.budget
        limits = [limit for limit in (own, executed) if limit is not None]
        self.budget = min(limits, default=None)
        try:
            yield
        finally:
            self.budget = own

    def state(self) -> State:
        """Return the state as arrays, for `restore` of an evaluator with the same data and settings."""
        counts = np.array(astuple(self.tally), np.int64)
        return {"counts": counts, **self.explored.state(), **self._known.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `state` returned."""
        try:
            known, tally = KnownForms.restored(state), Counts(*map(int, state["counts"]))
            self.explored.restore(state)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise EdhieError(f"this is not the state of an evaluator, or it is damaged: {error!r}") from error
        self._known, self.tally = known, tally

    def copied(self) -> Evaluator:
        """Return an independent evaluator with the same data, settings and contents."""
        twin = copy.copy(self)
        twin.explored = Archive(self.library)
        twin.restore(self.state())
        return twin

    def absorb(
        self, forest: Forest, errors: NDArray[Any], complexities: NDArray[Any], executed_at: Indices, counts: Counts
    ) -> None:
        """Add expressions that a copy of this evaluator scored, and its counts since then."""
        if len(forest):
            writings = self._known_writings(forest)
            places = self.explored.add(forest, errors, complexities, executed_at)
            self._known.settle(
                writings, places, np.isfinite(errors),
                bound=math.inf, explored=self.explored, negligible=self.negligible,
            )  # fmt: skip
            self._known.forget(self.explored.forget(), WRITINGS_PER_FORM * self.explored.capacity)
        self.tally.add(**asdict(counts))

    def spend(self, n: int) -> None:
        """Count `n` distinct expressions that were executed against the data elsewhere, as parts of others."""
        check_whole("n", n, 0)
        if n > self.remaining:
            raise EdhieError(f"the budget has {self.remaining:g} expressions left, fewer than the {n} to be spent")
        self.tally.executed += n

    def unseen(self, forest: Forest) -> Forest:
        """Return the allowed expressions whose writing is new, and mark them as seen, though not scored."""
        self._check_forest(forest)
        if self.rules is not None:
            forest = forest.take(self.rules.allowed(forest))
        fresh = forest.take(np.flatnonzero(self._known.writings.find(key_pairs(forest)) < 0))
        self._known_writings(fresh)
        return fresh

    def score(self, forest: Forest, *, bound: float = math.inf) -> Scores:
        """Score a forest's expressions; errors above the `bound` may come back as infinite.

        Expressions beyond the budget are not scored unless they are known already, and those that constraints
        forbid never are.
        """
        self._check_forest(forest)
        if math.isnan(bound):
            raise EdhieError("the bound is NaN; give the largest error that matters, or leave it out")
        is_allowed = np.ones(len(forest), np.bool_) if self.rules is None else self.rules.allowed(forest)
        n_forbidden = int((~is_allowed).sum())
        complexities = complexity(forest, self._symbol_weights)
        allowed = forest.take(is_allowed) if n_forbidden else forest
        writings = self._known_writings(allowed)
        forms = self._known.writings["form"][writings]
        request = Request(allowed, writings, forms, complexities[is_allowed], bound)
        new, again = to_execute(request, self._known, self.explored, self.remaining)
        self._execute(request, np.concatenate([new, again]), len(new))
        self._execute(request, other_writings(request, self._known, self.explored), 0)
        found = self._collect(forest, complexities, is_allowed, forms)
        # memory is bounded: a forgotten expression would be executed, and counted, again
        self._known.forget(self.explored.forget(), WRITINGS_PER_FORM * self.explored.capacity)
        self.tally.add(asked=len(forest), forbidden=n_forbidden)
        return found

    def complexities(self, forest: Forest) -> NDArray[Any]:
        """Return the complexity of each expression of a forest, as `score` counts it."""
        self._check_forest(forest)
        return complexity(forest, self._symbol_weights)

    def _check_forest(self, forest: Any) -> None:
        if not isinstance(forest, Forest):
            kind = type(forest).__name__
            raise ExpressionError(f"score() takes a Forest, not {kind}; make one with Forest.from_exprs([...])")
        if forest.library != self.library:
            own = f"the evaluator's ({self.library})"
            raise ExpressionError(f"the forest is over another library ({forest.library}) than {own}; cast() it")

    def _known_writings(self, forest: Forest) -> Indices:
        """Return the rows of a forest's writings; new ones are added with their canonical forms, which is costly."""
        keys = key_pairs(forest)
        writings = self._known.writings.find(keys)
        fresh = np.flatnonzero(writings < 0)
        if len(fresh):
            # constants merge only without bounds: under bounds, c*c has a wider range than c
            is_bounded = self.constants.lower > -math.inf or self.constants.upper < math.inf
            apart = forest.take(fresh)
            forms = self._known.forms.add(key_pairs(apart if is_bounded else canonical(apart)))
            writings[fresh] = self._known.writings.add(keys[fresh], form=forms)
        return writings

    def _execute(self, request: Request, chosen: Indices, n_new: int) -> None:
        if len(chosen) == 0:
            return
        bound = request.bound
        given = request.forest.take(chosen)
        fitted, errors, is_cut = fit_and_score(given, self.data, self.loss, self.constants, bound=bound)
        executed_at = self.tally.executed + np.minimum(np.arange(1, len(chosen) + 1), n_new)
        places = self.explored.add(fitted, errors, request.complexities[chosen], executed_at)
        self._known.settle(
            request.writings[chosen], places, ~is_cut,
            bound=bound, explored=self.explored, negligible=self.negligible,
        )  # fmt: skip
        self.tally.add(
            executed=n_new,
            again=len(chosen) - n_new,
            bounded=int(is_cut.sum()),
            invalid=int((~is_cut & ~np.isfinite(errors)).sum()),
        )

    def _collect(self, forest: Forest, complexities: NDArray[Any], is_allowed: Flags, forms: Indices) -> Scores:
        """Return the scores of a forest; `forms` are those of the allowed expressions, others have infinite errors."""
        places, keys = np.full(len(forest), -1, np.int64), np.zeros(len(forest), np.uint64)
        places[is_allowed], keys[is_allowed] = self._known.forms["place"][forms], self._known.forms.keys[forms, 0]
        is_scored = places >= 0
        known = places[is_scored]
        found = self.explored.take(known)
        if len(known) < len(forest):
            found = with_parts(forest, np.flatnonzero(is_scored), found)
        errors, sizes = np.full(len(forest), np.inf), complexities.astype(np.float64)
        errors[is_scored], sizes[is_scored] = self.explored.errors[known], self.explored.complexities[known]
        return Scores(found, errors, sizes, is_scored, keys)
