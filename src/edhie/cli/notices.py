"""What the library notes while it works, told to the person at the terminal."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from edhie.console import error_console, say

LOGGER = logging.getLogger("edhie")


class _Saying(logging.Handler):
    """One line a note."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage(), to=error_console)


@contextmanager
def told_notices() -> Iterator[None]:
    """While this lasts, notes go to standard error."""
    handler, level = _Saying(), LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)


def only_warnings() -> None:
    """For commands that are to be quiet: nothing but what a person should know of."""
    LOGGER.setLevel(logging.WARNING)
