"""A corpus: expressions, the library they are written in, and where they came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edhie.errors import CorpusError, EdhieError
from edhie.expr import Expr, Forest, SymbolLibrary, to_infix
from edhie.expr.parser import parse
from edhie.expr.symbols import Symbol

FORMAT = 1
DESCRIPTION = "corpus.json"
EXPRESSIONS = "expressions.txt"


@dataclass(frozen=True)
class Corpus:
    """A forest with a name and its provenance, kept as a folder that a person can read.

    `corpus.json` holds the library, the provenance and a checksum; `expressions.txt` one
    expression a line, in infix.
    """

    name: str
    forest: Forest
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def library(self) -> SymbolLibrary:
        """The alphabet of its expressions."""
        return self.forest.library

    def __len__(self) -> int:
        return len(self.forest)

    def save(self, folder: str | Path) -> Path:
        """Write the corpus into `folder`, which is made if need be; the same corpus gives the same bytes."""
        folder = Path(folder)
        text = expressions_text(self.forest)
        description = {
            "format": FORMAT,
            "name": self.name,
            "count": len(self),
            "sha256": checksum(text),
            "provenance": dict(self.provenance),
            "library": json.loads(self.library.to_json()),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # the description last: a folder that has one is whole
            (folder / EXPRESSIONS).write_text(text, encoding="utf-8", newline="\n")
            pretty = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
            (folder / DESCRIPTION).write_text(pretty, encoding="utf-8", newline="\n")
        except OSError as error:
            raise CorpusError(f"cannot write the corpus to {folder}: {error.strerror or error}") from error
        return folder

    @classmethod
    def load(cls, folder: str | Path, *, operators: Iterable[Symbol] = ()) -> Corpus:
        """Read a corpus folder; pass `operators` for those of your own that it uses."""
        folder = Path(folder)
        description, text = _read(folder)
        try:
            library = SymbolLibrary.from_json(json.dumps(description["library"]), operators=operators)
            name, expected, provenance = description["name"], description["sha256"], description["provenance"]
        except (KeyError, TypeError) as error:
            raise CorpusError(f"{folder / DESCRIPTION} lacks {error}: it is damaged or not a corpus") from error
        if checksum(text) != expected:
            raise CorpusError(
                f"{folder / EXPRESSIONS} is not what {DESCRIPTION} describes: it was edited or damaged; "
                f"make a corpus of it with: edhie corpus import {folder / EXPRESSIONS}"
            )
        exprs = []
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                exprs.append(parse(line, library))
            except EdhieError as error:
                raise CorpusError(f"{folder / EXPRESSIONS}, line {number}: {error}") from error
        return cls(name, Forest.from_exprs(exprs, library), provenance)


def _read(folder: Path) -> tuple[dict[str, Any], str]:
    if not folder.is_dir():
        raise CorpusError(f"there is no corpus folder {folder}")
    for name in (DESCRIPTION, EXPRESSIONS):
        if not (folder / name).is_file():
            raise CorpusError(f"{folder} is not a corpus: it has no {name}")
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        text = (folder / EXPRESSIONS).read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        raise CorpusError(f"the corpus {folder} cannot be read: {error}") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        found = description.get("format") if isinstance(description, dict) else None
        raise CorpusError(f"{folder / DESCRIPTION} has format {found!r}; this edhie reads format {FORMAT}")
    return description, text


def expressions_text(exprs: Iterable[Expr]) -> str:
    """One infix expression a line."""
    return "".join(f"{to_infix(expr)}\n" for expr in exprs)


def checksum(text: str) -> str:
    """SHA-256 of the text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
