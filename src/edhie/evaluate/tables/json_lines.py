"""`JsonLinesTable`: one JSON object a line, with a number for each name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from edhie.errors import DataError, shortened
from edhie.evaluate.tables.rows import Row, RowTable
from edhie.evaluate.tables.source import Source
from edhie.evaluate.tables.table import checked_names


class JsonLinesTable(RowTable):
    """A file of JSON lines; the names are those of its first object, and may be missing in others."""

    def __init__(self, source: Source, *, missing: Sequence[float | str] = ()) -> None:
        super().__init__(source, missing)
        first = next(self._objects(), (0, dict[str, Any]()))[1]
        self.names = checked_names(source.path, list(first))

    def _rows(self) -> Iterator[Row]:
        for line, found in self._objects():
            unknown = next((name for name in found if name.strip() not in self.names), None)
            if unknown is not None:
                raise DataError(f"{self.path}, line {line} has {unknown!r}, which the first line has not; add it there")
            by_name = {name.strip(): _cell(value) for name, value in found.items()}
            yield line, [by_name.get(name, "") for name in self.names]

    def _simple_numbers(self, places: Sequence[int], marks: Sequence[str | None]) -> None:
        return None

    def _objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects with their lines; their numbers are texts, as they are written."""
        with self._opened("utf-8-sig") as file:
            for line, text in enumerate(file, start=1):
                if not text.strip():
                    continue
                try:
                    found = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
                except ValueError as error:
                    raise DataError(f"{self.path}, line {line} is no JSON: {error}; write one object a line") from None
                if not isinstance(found, dict):
                    raise DataError(f"{self.path}, line {line}: {shortened(text.strip(), 40)!r} is no JSON object")
                yield line, found


def _cell(value: Any) -> str:
    """Return a value as the text of a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)
