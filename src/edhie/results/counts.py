"""What a search has done, each kind of work by its number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchCounts:
    """What was done; each of these is a different cost, so they are shown together."""

    executed: int = 0
    """Distinct expressions (by canonical form) that were executed against data: what a budget is of."""
    screened: int = 0
    """Combinations of terms whose error was computed in closed form, without executing them."""
    refits: int = 0
    """Expressions whose constants were fitted again with full effort."""
    again: int = 0
    """Executed once more: a bound had cut it short, or another writing is simpler, or may be defined in more places."""
    bounded: int = 0
    """Of those executed, how many were only found to be worse than a bound."""
    invalid: int = 0
    """Of those executed, how many have no finite error."""
    asked: int = 0
    """Expressions that were to be scored, repetitions and those that no code gave included."""
    undecodable: int = 0
    """Of those asked, how many codes were decoded to no expression."""
    forbidden: int = 0
    """Of those asked, how many are not allowed by the constraints, and were left alone."""

    def __str__(self) -> str:
        forbidden = f", {self.forbidden:,} forbidden" if self.forbidden else ""  # of interest to those who forbade
        return (
            f"{self.executed:,} executed, {self.screened:,} screened, {self.refits:,} refits, {self.again:,} again, "
            f"{self.bounded:,} bounded, {self.invalid:,} invalid, {self.asked:,} asked, "
            f"{self.undecodable:,} undecodable{forbidden}"
        )
