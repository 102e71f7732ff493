"""Tables of the page, opened, with messages that have the user's name of the file; numbers as the page takes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from edhie.arrays import Indices
from edhie.errors import EdhieError
from edhie.evaluate.tables import Header, Table, open_table
from edhie.evaluate.tables.table import HeaderError
from edhie.safe_text import from_line
from edhie.studio.question import Refused

MOST_POINTS = 1500  # that a chart shows
HEADER_NOTES = {
    "no": "The first row holds numbers, so the file has no names; columns are called x1, x2 and so on.",
    "mend": "Some columns had no name, or one that is there twice; they were given one.",
}


def opened(path: Path, options: dict[str, Any]) -> tuple[Table, str | None]:
    """Return a table, and how its names were made: "no" if it had none, "mend" if some were wrong, None if right."""
    reading: dict[str, Any] = {"decimal": options.get("decimal"), "missing": from_line(options.get("missing", ""))}
    header: Header | None = options.get("header")
    if header is None:
        try:
            return open_table(path, **reading), None
        except HeaderError as error:
            header = "no" if error.is_missing else "mend"
    return open_table(path, header=header, **reading), header


@contextmanager
def for_the_user(path: Path, name: str) -> Iterator[None]:
    """Raise errors with the user's name of the file in place of its path, and no advice about the command line."""
    try:
        yield
    except Refused:
        raise
    except EdhieError as error:
        raise Refused(worded(str(error), path, name)) from error


def worded(message: str, path: Path, name: str) -> str:
    """Return a message of the command line in the words of the page."""
    message = message.replace(str(path), name)
    for advice in (" with --drop-missing (in Python drop_missing=True)", " (in Python decimal=)"):
        message = message.replace(advice, "")
    return message.replace("(--decimal .)", "(decimal point)").replace("(--decimal ,)", "(decimal comma)")


def finite(value: Any) -> float | None:
    """Return a number, or None where it is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def finites(values: Any) -> list[float | None]:
    """Return numbers, with None for those that are not finite."""
    return [each if math.isfinite(each) else None for each in np.asarray(values, np.float64).tolist()]


def some_rows(count: int, most: int = MOST_POINTS) -> Indices:
    """Return the rows that a chart shows: all, or a sample that is the same each time."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
