"""`Corpus`: expressions, their symbol library and their provenance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edhie.errors import CorpusError, EdhieError, raised_as
from edhie.expr import Expr, Forest, SymbolLibrary, to_infix
from edhie.expr.parser import parse
from edhie.expr.symbols import Symbol
from edhie.storage import FolderFormat, digest

DESCRIPTION = "corpus.json"
EXPRESSIONS = "expressions.txt"
FIELDS: dict[str, type] = {"name": str, "count": int, "sha256": str, "provenance": dict, "library": dict}
FORMAT = FolderFormat("corpus", 1, DESCRIPTION, CorpusError, "delete it and build it again")


@dataclass(frozen=True)
class Corpus:
    """A forest with a name and its provenance, saved as a readable folder.

    `corpus.json` holds the library, the provenance and a checksum; `expressions.txt` one expression a line, in infix.
    """

    name: str
    forest: Forest
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def library(self) -> SymbolLibrary:
        """Symbols of its expressions."""
        return self.forest.library

    def __len__(self) -> int:
        return len(self.forest)

    def save(self, folder: str | Path) -> Path:
        """Write the corpus into `folder`, which is made if missing; the same corpus gives the same bytes."""
        folder = Path(folder)
        fitted = next((expr for expr in self.forest if expr.constants != expr.free().constants), None)
        if fitted is not None:
            raise CorpusError(f"a corpus keeps no values of constants, and {fitted} has some: save its .free() form")
        text = expressions_text(self.forest)
        description = {
            "name": self.name,
            "count": len(self),
            "sha256": digest(text),
            "provenance": dict(self.provenance),
            "library": json.loads(self.library.to_json()),
        }
        return FORMAT.write(folder, description, {EXPRESSIONS: text})

    @classmethod
    def load(cls, folder: str | Path, *, operators: Iterable[Symbol] = ()) -> Corpus:
        """Read a corpus folder; pass `operators` for those of your own that it uses."""
        folder = Path(folder)
        description = FORMAT.read(folder, unchecked=[EXPRESSIONS])
        with FORMAT.reading(folder / DESCRIPTION):
            for key, kind in FIELDS.items():
                if not isinstance(description.get(key), kind):
                    raise ValueError(f"{key!r} is {description.get(key, 'missing')!r}")
            library = SymbolLibrary.from_json(json.dumps(description["library"]), operators=operators)
        with FORMAT.reading(folder / EXPRESSIONS):
            text = (folder / EXPRESSIONS).read_bytes().decode("utf-8")
        if digest(text) != description["sha256"]:
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
        if len(exprs) != description["count"]:
            raise FORMAT.damaged(folder, f"{DESCRIPTION} counts {description['count']} expressions, not {len(exprs)}")
        return cls(description["name"], Forest.from_exprs(exprs, library), description["provenance"])


def vacant(folder: str | Path) -> Path:
    """Make the folder for a new corpus; raise an error if it holds one already."""
    folder = Path(folder)
    with raised_as(CorpusError, f"cannot write to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        if FORMAT.is_whole(folder):
            raise CorpusError(f"{folder} holds a corpus already; choose another folder or remove it")
    return folder


def expressions_text(exprs: Iterable[Expr]) -> str:
    """Return one infix expression per line."""
    return "".join(f"{to_infix(expr)}\n" for expr in exprs)
