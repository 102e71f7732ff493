"""`Corpus`: expressions, their symbol library and their provenance."""

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
FIELDS: dict[str, type] = {"name": str, "count": int, "sha256": str, "provenance": dict, "library": dict}
JSON_NAMES: dict[type, str] = {str: "string", int: "number", dict: "object"}


@dataclass(frozen=True)
class Corpus:
    """A forest with a name and its provenance, kept as a folder that a person can read.

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
            "format": FORMAT,
            "name": self.name,
            "count": len(self),
            "sha256": checksum(text),
            "provenance": dict(self.provenance),
            "library": json.loads(self.library.to_json()),
        }
        try:
            pretty = (json.dumps(description, indent=2, ensure_ascii=False) + "\n").encode("utf-8")
            folder.mkdir(parents=True, exist_ok=True)
            # the description last: a folder that has one is whole
            (folder / EXPRESSIONS).write_bytes(text.encode("utf-8"))
            (folder / DESCRIPTION).write_bytes(pretty)
        except OSError as error:
            raise CorpusError(f"cannot write the corpus to {folder}: {error.strerror or error}") from error
        except (TypeError, ValueError) as error:
            raise CorpusError(f"the name and provenance of {self.name!r} cannot be written as JSON: {error}") from error
        return folder

    @classmethod
    def load(cls, folder: str | Path, *, operators: Iterable[Symbol] = ()) -> Corpus:
        """Read a corpus folder; pass `operators` for those of your own that it uses."""
        folder = Path(folder)
        description, text = _read(folder)
        if checksum(text) != description["sha256"]:
            raise CorpusError(
                f"{folder / EXPRESSIONS} is not what {DESCRIPTION} describes: it was edited or damaged; "
                f"make a corpus of it with: edhie corpus import {folder / EXPRESSIONS}"
            )
        try:
            library = SymbolLibrary.from_json(json.dumps(description["library"]), operators=operators)
        except (EdhieError, TypeError) as error:
            raise CorpusError(f"the library in {folder / DESCRIPTION}: {error}") from error
        exprs = []
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                exprs.append(parse(line, library))
            except EdhieError as error:
                raise CorpusError(f"{folder / EXPRESSIONS}, line {number}: {error}") from error
        if len(exprs) != description["count"]:
            raise CorpusError(f"{folder / DESCRIPTION} counts {description['count']} expressions, not {len(exprs)}")
        return cls(description["name"], Forest.from_exprs(exprs, library), description["provenance"])


def _read(folder: Path) -> tuple[dict[str, Any], str]:
    try:
        if not folder.is_dir():
            raise CorpusError(f"there is no corpus folder {folder}")
        for name in (DESCRIPTION, EXPRESSIONS):
            if not (folder / name).is_file():
                raise CorpusError(f"{folder} is not a corpus: it has no {name}")
        description = json.loads((folder / DESCRIPTION).read_bytes().decode("utf-8"))
        text = (folder / EXPRESSIONS).read_bytes().decode("utf-8")
    except (OSError, ValueError, RecursionError) as error:
        raise CorpusError(f"the corpus {folder} cannot be read: {error}") from error
    version = description.get("format") if isinstance(description, dict) else None
    if version != FORMAT:
        raise CorpusError(f"{folder / DESCRIPTION} has format {version!r}; this edhie reads format {FORMAT}")
    for key, kind in FIELDS.items():
        if not isinstance(description.get(key), kind):
            raise CorpusError(
                f"{folder / DESCRIPTION} is damaged: {key!r} must be a JSON {JSON_NAMES[kind]}, "
                f"and is {description.get(key, 'missing')!r}"
            )
    return description, text


def vacant(folder: str | Path) -> Path:
    """Make the folder for a new corpus; one that holds a corpus already raises."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / DESCRIPTION).exists():
            raise CorpusError(f"{folder} holds a corpus already; choose another folder or remove it")
    except OSError as error:
        raise CorpusError(f"cannot write to {folder}: {error.strerror or error}") from error
    return folder


def expressions_text(exprs: Iterable[Expr]) -> str:
    """Return one infix expression per line."""
    return "".join(f"{to_infix(expr)}\n" for expr in exprs)


def checksum(text: str) -> str:
    """Return the SHA-256 of the text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
