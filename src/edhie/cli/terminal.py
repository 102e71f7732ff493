"""The terminal: notices of the library, progress bars, Ctrl-C and SIGTERM."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from edhie.console import error_console, say
from edhie.errors import is_interruption

UNAVAILABLE, INTERRUPTED = 3, 130  # exit codes
LOGGER = logging.getLogger("edhie")


class _ErrorConsoleHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage(), to=error_console)


@contextmanager
def log_to_terminal() -> Iterator[None]:
    """Print the library's log to standard error within the context."""
    handler, level = _ErrorConsoleHandler(), LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # some send it twice; once is enough
    raise KeyboardInterrupt


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Treat SIGTERM, which clusters send before they kill, like Ctrl-C within the context."""
    try:
        before = signal.signal(signal.SIGTERM, _stop)
    except ValueError:  # only the main thread may change how signals are handled
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


@contextmanager
def exit_on_interrupt(message: Callable[[], str]) -> Iterator[None]:
    """Print a message and exit with code 130 if Ctrl-C or SIGTERM stops the block."""
    try:
        yield
    except BaseException as error:
        if not is_interruption(error):
            raise
        say(message(), to=error_console)
        raise typer.Exit(INTERRUPTED) from None


def progress_bar() -> Progress:
    """Return a bar with counts and times."""
    return _shown(BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())


def noted_bar() -> Progress:
    """Return a short bar that leaves room for the field `note` of its task on a screen of 80 columns."""
    return _shown(BarColumn(10), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[note]}"))


def _shown(*columns: ProgressColumn) -> Progress:
    description = TextColumn("{task.description}")
    return Progress(description, *columns, console=error_console, transient=True, disable=not error_console.is_terminal)
