"""Ctrl-C: what it looks like, and the exit code it ends with."""

from __future__ import annotations

INTERRUPTED = 130


def is_interruption(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: inside compiled code Python turns that into a SystemError."""
    return isinstance(error, KeyboardInterrupt) or (
        error is not None and is_interruption(error.__cause__ or error.__context__)
    )
