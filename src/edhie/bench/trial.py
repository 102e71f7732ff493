"""One run of one method on one problem: its settings and its outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from edhie.bench.methods import Method
from edhie.bench.problem_files import ProblemError

COLUMNS = (
    "problem", "method", "run", "seed", "success", "equivalent", "rmse", "r2_test", "evaluated",
    "evaluated_to_success", "screened", "invalid", "seconds", "expression",
    "noise", "rank", "refits", "stopped", "selected", "selected_equivalent",
)  # fmt: skip
NO_ANSWER = "no answer: "
"""Prefix of the column `stopped` for runs without a formula; the reason follows."""
CURVE = ("executed", "screened", "seconds", "error", "r2")


@dataclass(frozen=True)
class Shard:
    """Part of the runs of a benchmark, for jobs that share them."""

    number: int
    """Number of the shard, from 1 on."""
    count: int
    """Number of shards."""

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard of a text such as 2/8."""
        number, slash, count = text.partition("/")
        if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
            raise ProblemError(f"{text!r} is no shard; give its number, from 1 on, and how many there are, such as 2/8")
        return cls(int(number), int(count))

    def of(self, trials: Sequence[Trial]) -> list[Trial]:
        """Return the trials of this shard; the runs of each problem are spread evenly over the shards."""
        return list(trials[self.number - 1 :: self.count])

    def __str__(self) -> str:
        return f"shard-{self.number}-of-{self.count}"


@dataclass(frozen=True)
class TrialSettings:
    """Settings that all runs of a table share."""

    evaluations: int = 100_000
    """Limit on distinct expressions executed in a run, as in the paper; 0 for no limit."""
    seconds: float | None = None
    """Time limit of a run in seconds."""
    strict: bool | None = None
    """Use the problem's own symbols only, or also constants; by default, the setting of the method."""
    model: str | None = None
    """A model to search with instead of the method's own: a folder, or a name from `edhie model list`."""


@dataclass(frozen=True)
class Trial:
    """Settings that determine one run."""

    benchmark: str
    """A name, or the path of a file of problems."""
    problem: str
    method: Method
    run: int
    """Number of the run, also the seed of its data and of its search."""
    noise: float = 0.0
    settings: TrialSettings = field(default_factory=TrialSettings)

    @property
    def key(self) -> tuple[str, int, float]:
        """The key of its row: problem, run and noise."""
        return self.problem, self.run, self.noise

    @property
    def is_strict(self) -> bool:
        """True if answers have the problem's own symbols only."""
        return self.method.strict if self.settings.strict is None else self.settings.strict


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial."""

    row: dict[str, Any]
    """By the names of `COLUMNS`."""
    curve: list[list[float]]
    """Learning curve: the columns of `CURVE` at each improvement."""
