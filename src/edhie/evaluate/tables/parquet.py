"""`ParquetTable`: Parquet files, read by pandas and pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from edhie.errors import DataError
from edhie.evaluate.numbers import numbers_of, rows_named
from edhie.evaluate.tables.table import Numbers, Table, checked_names

SUFFIXES = (".parquet", ".pq")
MAGIC = b"PAR1"


class ParquetTable(Table):
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        import pandas

        self.path = path
        try:
            self._frame = pandas.read_parquet(path, engine="pyarrow")
        except ImportError as error:
            needs = "reading Parquet needs pyarrow; install it with: pip install pyarrow"
            raise DataError(f"{path}: {needs}, or save the table as CSV") from error
        except (ValueError, TypeError) as error:  # pyarrow's own errors are ValueErrors
            raise DataError(f"{path} cannot be read as Parquet: {error}") from error
        self._frame.columns = [str(name) for name in self._frame.columns]
        self.names = checked_names(path, list(self._frame.columns))
        self._frame.columns = list(self.names)

    def texts(self) -> Iterator[list[str]]:
        """Yield the rows as text; empty where a value is missing."""
        frame = self._frame
        missing = frame.isna().to_numpy()
        for row, gaps in zip(frame.itertuples(index=False, name=None), missing, strict=True):
            yield ["" if is_gap else str(value) for value, is_gap in zip(row, gaps, strict=True)]

    def written_step(self, name: str) -> float | None:
        """Return None: the file has numbers and no texts."""
        return None

    def _read(self, chosen: Sequence[str], *, with_gaps: bool) -> Numbers:
        found = np.empty((len(self._frame), len(chosen)))
        for k, name in enumerate(chosen):
            place = f"{self.path}, column {name!r}"
            found[:, k] = numbers_of(self._frame[name].to_numpy(dtype=None, na_value=np.nan), place)
            bad = np.flatnonzero(~np.isfinite(found[:, k]))
            if len(bad) and not with_gaps:
                is_gap = np.isnan(found[bad[0], k])
                what = "is empty" if is_gap else f"is {found[bad[0], k]}"
                raise DataError(f"{place} {what} in {rows_named(bad)}; drop such rows or fill them")
            found[bad, k] = np.nan
        return found
