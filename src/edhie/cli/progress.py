"""The bar that shows how far a long work is; nothing at all where there is no terminal."""

from __future__ import annotations

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from edhie.console import error_console


def progress_bar() -> Progress:
    """A bar with counts and times."""
    return _shown(BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())


def noted_bar() -> Progress:
    """A short bar that leaves room, on a screen of 80 columns, for the field `note` of its task."""
    return _shown(BarColumn(10), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[note]}"))


def _shown(*columns: ProgressColumn) -> Progress:
    description = TextColumn("{task.description}")
    return Progress(description, *columns, console=error_console, transient=True, disable=not error_console.is_terminal)
