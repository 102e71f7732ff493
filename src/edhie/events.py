"""Events of a running search. Listeners only observe: they never change the result."""

from __future__ import annotations

from dataclasses import dataclass

from edhie.expr import Expr
from edhie.results.candidates import Candidate, Front


@dataclass(frozen=True)
class Glimpsed:
    """The best of some simple forms, found before the search: it has to do better."""

    expr: Expr
    error: float
    """Its root mean squared error."""


@dataclass(frozen=True)
class Started:
    """A search starts, or resumes from a checkpoint."""

    strategy: str
    seed: int
    evaluations: int | None
    """Distinct expressions that may be executed; None for no limit."""
    seconds: float | None
    """Time limit in seconds; None for no limit."""
    target_error: float | None
    """The error that ends the search; None for none."""
    executed: int
    """Distinct expressions executed so far: more than 0 if the search is resumed."""


@dataclass(frozen=True)
class Improved:
    """A lower error than all before."""

    expr: Expr
    error: float
    complexity: float
    executed: int
    """Distinct expressions executed when it was found."""
    seconds: float
    chosen: Candidate | None = None
    """The expression that would be chosen now, which need not be the one of the lowest error; None if unknown."""


@dataclass(frozen=True)
class RevisedFormula:
    """One version of a formula that is revised."""

    expr: Expr
    error: float
    distance: int
    """The number of symbols that changed."""
    is_chosen: bool = False
    """True for the one that would be chosen now."""


@dataclass(frozen=True)
class Progressed:
    """State of the search, sent a few times a second."""

    executed: int
    screened: int
    refits: int
    seconds: float
    error: float
    """The lowest error so far; infinite if there is none."""
    front: Front
    """The best trade-offs so far."""
    rate: float
    """Distinct expressions executed a second."""
    fraction: float | None
    """The share of the budget that is used; None without a limit."""
    seconds_left: float | None
    """Time until the budget is used up, at this rate; None without a limit."""
    chosen: Candidate | None = None
    """The expression that would be chosen now; None if unknown."""
    revisions: tuple[RevisedFormula, ...] = ()
    """Of a revision: the best trade-offs between distance and error so far, the nearest first."""


@dataclass(frozen=True)
class Finished:
    """The search is over."""

    reason: str
    """Why: one of `edhie.results.STOPPED`."""
    executed: int
    seconds: float
    idle: int = 0
    """Steps since the best equation was found; 0 if the strategy does not count them."""


Event = Glimpsed | Started | Improved | Progressed | Finished
