"""`Kind`: a kind of malformed inputs, how they are made and how they are read."""

from __future__ import annotations

import random
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from edhie.errors import EdhieError
from fuzz.guard import Forbidden, Guard


class Outcome(NamedTuple):
    """The end of one input."""

    verdict: str
    """accepted, refused, or crashed."""
    error: BaseException | None
    seconds: float
    """Processor time."""


@dataclass(frozen=True)
class Kind:
    """Malformed inputs of one kind. Input `number` is the same in every run."""

    name: str
    thousands: int
    """Its share of a million inputs."""
    make: Callable[[random.Random], Any]
    read: Callable[[Any, random.Random, Path], None]
    """Read an input; a folder for files is given."""
    warm_up: Callable[[Path], object] = lambda place: None
    """Do what compiles and loads the code that inputs of this kind need, which does not count."""

    def input(self, number: int) -> tuple[Any, random.Random]:
        """Return an input, and the random numbers for its reading."""
        rng = random.Random(f"{self.name} {number}")
        return self.make(rng), rng

    def outcome(self, number: int, place: Path, guard: Guard | None = None) -> Outcome:
        """Make and read an input; every error that is not edhie's is a crash."""
        made, rng = self.input(number)
        start = process_time()
        verdict, error = "accepted", None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if guard is None:
                    self.read(made, rng, place)
                else:
                    with guard.on():
                        self.read(made, rng, place)
        except EdhieError as refusal:
            str(refusal)
            verdict, error = "refused", refusal
        except (Exception, Forbidden) as crash:
            verdict, error = "crashed", crash
        return Outcome(verdict, error, process_time() - start)


def temporary() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for files, in memory where that is possible."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(prefix="edhie-fuzz-", dir=memory if memory.is_dir() else None)
