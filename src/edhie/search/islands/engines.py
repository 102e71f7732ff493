"""Engines: where the epochs of islands run. Results come in the order of the jobs: an engine changes no result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

S = TypeVar("S")
J = TypeVar("J")
R = TypeVar("R")


class Engine(ABC):
    """Calls a function for several jobs at once."""

    workers: int = 1
    """Cores that it uses."""
    is_remote = False
    """True if jobs run on other machines."""

    @abstractmethod
    def map(self, work: Callable[[S, J], R], setup: S, jobs: Sequence[J]) -> list[R]:
        """Return `work(setup, job)` for each job, in order; `work` is a pure function of a module."""

    def threads_each(self, n: int) -> int:
        """Return the number of threads for each of `n` jobs."""
        return max(1, self.workers // n)

    def close(self) -> None:  # noqa: B027 -- most engines have nothing to close
        """Close what this engine opened."""


class Here(Engine):
    """One job after the other in this process, each with all threads."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def map(self, work: Callable[[S, J], R], setup: S, jobs: Sequence[J]) -> list[R]:
        """Call the function for one job after the other."""
        return [work(setup, job) for job in jobs]

    def threads_each(self, n: int) -> int:
        """Return all threads: jobs do not run at the same time."""
        return self.workers


class Processes(Engine):
    """Processes of this machine, which share large arrays."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def map(self, work: Callable[[S, J], R], setup: S, jobs: Sequence[J]) -> list[R]:
        """Call the function in processes that stay for the next call."""
        import joblib

        # "c", copy on write: kernels would be compiled anew for arrays that are read-only
        run = joblib.Parallel(min(self.workers, len(jobs)), backend="loky", batch_size=1, mmap_mode="c")
        found: list[R] = run(joblib.delayed(work)(setup, job) for job in jobs)
        return found
