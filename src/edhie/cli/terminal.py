"""The terminal: notices of the library, progress bars, Ctrl-C."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

INTERRUPTED = 130  # exit code
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


def only_warnings() -> None:
    """Print warnings only, for commands that are to be quiet."""
    LOGGER.setLevel(logging.WARNING)


@contextmanager
def exit_on_interrupt(message: Callable[[], str]) -> Iterator[None]:
    """Print a message and exit with code 130 if Ctrl-C stops the block."""
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
