"""Lists of texts as one value, such as that of an option: a line of CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from edhie.errors import DataError


def as_line(texts: Sequence[str]) -> str:
    r"""Return texts as one line.

    >>> as_line(["a", "b, c"]), as_line(["a\nb"]), as_line([])
    ('a,"b, c"', '"a\nb"', '')
    """
    line = io.StringIO()
    if any({"\r", "\n"} & set(text) for text in texts):  # which are not quoted by themselves
        csv.writer(line, lineterminator="", quoting=csv.QUOTE_ALL).writerow(texts)
    else:
        csv.writer(line, lineterminator="").writerow(texts)
    return line.getvalue() if texts else ""


def from_line(line: str) -> tuple[str, ...]:
    """Return the texts of a line, without blanks around them and without empty ones.

    >>> from_line('a, "b, c",')
    ('a', 'b, c')
    """
    try:
        found = next(csv.reader([line], skipinitialspace=True), [])
    except csv.Error as error:
        raise DataError(f"this is no list: {error}; write texts with commas between them") from error
    return tuple(text.strip() for text in found if text.strip())
