"""What a training borrows of torch, and gives back as it was: threads, random numbers and modes; needs torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from edhie.errors import GeneratorError


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads for torch, for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's own random numbers on the CPU from a seed, for a while."""
    before = torch.get_rng_state()
    torch.default_generator.manual_seed(within_range(seed))
    try:
        yield
    finally:
        torch.set_rng_state(before)


def within_range(seed: int) -> int:
    """A seed of any size as torch takes it."""
    return int(seed) % 2**63


@contextmanager
def learning() -> Iterator[None]:
    """Gradients, whatever mode the caller is in, or an interrupted backward pass has left behind."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def device_of(asked: str) -> torch.device:
    """The device of a name; `auto` is a GPU where there is one."""
    if asked == "cuda" and not torch.cuda.is_available():
        raise GeneratorError("there is no CUDA device here; use device='cpu' or 'auto'")
    return torch.device("cuda" if asked != "cpu" and torch.cuda.is_available() else "cpu")
