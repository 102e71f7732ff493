"""Files of measurements: CSV, TSV and JSON lines; NumPy, Parquet and Excel; files of formulas."""

from __future__ import annotations

import gzip
import io
import random
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas

from edhie.corpora.importing import ImportOptions, import_file
from edhie.errors import DataError
from edhie.evaluate.tables import open_table
from edhie.fit.measured import read_file
from fuzz.formulas import INFIX, LATEX, TOKENS
from fuzz.kind import Kind
from fuzz.mutation import damaged, encoded, mutated


class File(NamedTuple):
    """A file to be read."""

    name: str
    content: bytes


CSV = (
    "a,b,y\n1,2,3\n2,3,5\n4,1,5.5\n3,3,1\n", "t;T\n0,5;1,25\n1,5;2,75\n2,0;1e-3\n", "x\ty\n1\t2\n3\t4\n",
    '"a ""b""",y\n"1","2"\n3,4\n', "# made by hand\n# x,y\n1,2\n3,4\n", "x,y,note\n1,2,hot\n3,,cold\nNA,4,\n",
    "x,y\n1.234.567,5\n2,3\n", "x;y\n1.234,5;2\n1'000;3\n", '{"x": 1, "y": 2.5}\n{"x": 3, "y": null}\n',
    '{"x": 1e5, "y": true}\n{"y": -1}\n', "date,x,y\n2024-01-01,1,2\n2024-01-02,2,3\n",
    "x,y\n" + "".join(f"{k},{k * k / 7}\n" for k in range(40)), "length in m,mass / kg,y\n1 m,2 kg,3\n2 m,3 kg,4\n",
)  # fmt: skip
PIECES = (
    ",", ";", "\t", "|", "\n", "\r\n", "\r", '"', '""', "'", "#", "1", "2.5", "-3e5", "1,5", "1.234,5", "1 000", "NA",
    "null", "-999", "", "x", "y", "=1+1", "{", "}", "[", "]", ":", '{"x": ', "1 kg", "50 %", "2024-01-01", "\0",
    '"\n"', ",,,,", "\n\n", " ", "1e999", "1e-999", "0x10", "1_0", "+", "TRUE",
)  # fmt: skip
FORMULAS = ("\n".join(INFIX), "\n".join(LATEX), "# formulas\nx + 1\n\nx*y\n", 'name,formula\na,x + 1\nb,"max(x, y)"\n')


def text_file(rng: random.Random) -> File:
    content = encoded(rng, mutated(rng, CSV, PIECES))
    name = rng.choice(("table.csv", "table.csv", "table.txt", "table.tsv", "table.jsonl", "table"))
    return File(name, gzip.compress(content, 1) if rng.random() < 0.02 else content)


def _binary_seeds() -> tuple[File, ...]:
    frame = pandas.DataFrame({"a": [1.0, 2.0, 4.0, 3.0], "b": [2.0, 3.0, 1.0, 3.5], "y": [3.0, 5.0, 5.5, 1.0]})
    array = io.BytesIO()
    np.save(array, frame.to_numpy())
    record, archive, objects = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.save(record, frame.to_records(index=False))
    np.savez(archive, **{name: frame[name].to_numpy() for name in frame})
    np.save(objects, np.array([{}, 1], dtype=object), allow_pickle=True)
    found = [("a.npy", array), ("b.npy", record), ("c.npz", archive), ("d.npy", objects)]
    parquet, excel = io.BytesIO(), io.BytesIO()
    frame.to_parquet(parquet)
    frame.to_excel(excel, index=False)
    found += [("e.parquet", parquet), ("f.xlsx", excel)]
    files = [File(name, made.getvalue()) for name, made in found]
    return (*files, File("g.npy.gz", gzip.compress(files[0].content)))


BINARY = _binary_seeds()


def binary_file(rng: random.Random) -> File:
    seed = rng.choice(BINARY)
    if seed.name.endswith(".gz") and rng.random() < 0.7:
        return File(seed.name, gzip.compress(damaged(rng, gzip.decompress(seed.content)), 1))
    return File(seed.name, damaged(rng, seed.content))


def formula_file(rng: random.Random) -> File:
    name = rng.choice(("formulas.txt", "formulas.csv", "formulas.tsv"))
    return File(name, encoded(rng, mutated(rng, FORMULAS, (*TOKENS, "\n", ",", '"', "\\frac{", "}"))))


def written(file: File, place: Path) -> Path:
    path = place / file.name
    path.write_bytes(file.content)
    return path


def read_table(file: File, rng: random.Random, place: Path) -> None:
    """Read all columns, then as `edhie fit` reads the file."""
    path = written(file, place)
    table = open_table(
        path, decimal=rng.choice((None, None, None, ",", ".")), missing=rng.choice(((), (), ("-999", "x")))
    )
    try:
        numbers = table.numbers(table.names, with_gaps=rng.random() < 0.3, drop_missing=rng.random() < 0.3)
        assert numbers.shape[1] == len(table.names)
    except DataError:
        if rng.random() < 0.7:
            raise
    table.written_step(table.names[0])
    if rng.random() < 0.2:
        read_file(path, table.names[-1])


def read_formulas(file: File, rng: random.Random, place: Path) -> None:
    options = ImportOptions(
        column="formula" if rng.random() < 0.2 else "",
        skip_bad=rng.random() < 0.8,
        numbers=rng.choice(("keep", "constants")),
        generic_variables=rng.random() < 0.3,
        notation=rng.choice(("auto", "infix", "sympy")),
    )
    corpus, _ = import_file(written(file, place), options)
    assert len(corpus)


KINDS = (
    Kind("table (CSV, JSON lines)", 250, text_file, read_table),
    Kind("table (NumPy, Parquet, Excel)", 40, binary_file, read_table),
    Kind("file of formulas", 20, formula_file, read_formulas),
)
