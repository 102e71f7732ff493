"""Random sampling: score batches of expressions from a generator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edhie.evaluate.numbers import check_whole
from edhie.expr import Forest
from edhie.generators.base import Generator, LatentGenerator
from edhie.search.arrays import Kept
from edhie.search.base import Strategy, Task

PATIENCE = 10_000  # attempts without a new expression after which the search ends, if they are at least half of all


def drawn(generator: Generator, n: int, rng: np.random.Generator) -> tuple[Forest, int]:
    """Return the expressions of `n` attempts, and the number of attempts that gave none.

    The `sample` of an autoencoder repeats failed decodings; here such a code counts as an attempt.
    """
    if not isinstance(generator, LatentGenerator):
        return generator.sample(n, rng), 0
    decoded = generator.decode(rng.standard_normal((n, generator.latent_dim), dtype=np.float32))
    return decoded.forest, decoded.invalid


@dataclass(frozen=True)
class DrawConfig:
    """Settings of random sampling."""

    batch: int = 1000
    """Attempts in a step."""
    attempts: int | None = 1_000_000
    """Attempts in all, including duplicates and codes that do not decode. None: until the budget is used up.

    The search ends earlier if the second half of all attempts, and at least 10,000, gave nothing new.
    """

    def __post_init__(self) -> None:
        check_whole("batch", self.batch, 1)
        if self.attempts is not None:
            check_whole("attempts", self.attempts, 0, or_none="no limit")


class Draw(Kept, Strategy):
    """Random sampling: HVAR with an HVAE, ProGED with a grammar."""

    name: ClassVar[str] = "draw"
    KEPT = ("_attempts", "_since_new")

    def __init__(self, config: DrawConfig | None = None) -> None:
        self.config: DrawConfig = config or DrawConfig()

    def begin(self, task: Task) -> None:
        """Start at the first attempt."""
        self._task = task
        self._attempts = 0
        self._since_new = 0

    def step(self, rng: np.random.Generator) -> bool:
        """Sample a batch and score it; return False when all attempts are made, or patience has run out."""
        left = np.inf if self.config.attempts is None else self.config.attempts - self._attempts
        count = int(min(self.config.batch, left))
        if count:
            forest, undecodable = drawn(self._task.generator, count, rng)
            before = self._known
            self._task.score(forest)
            self._task.tally.undecodable += undecodable
            self._attempts += count
            self._since_new = self._since_new + count if self._known == before else 0
        is_idle = self._since_new >= max(PATIENCE, self._attempts - self._since_new)
        return left > count and not is_idle

    @property
    def _known(self) -> tuple[int, int]:
        """Distinct expressions so far, and those that constraints forbade: each of these may have been new."""
        evaluator = self._task.evaluator
        return evaluator.explored.n_seen, evaluator.counts.forbidden
