"""Grammars by name or from a file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from edhie.errors import GrammarError, suggestion
from edhie.expr.library import SymbolLibrary
from edhie.grammar.pcfg import PCFG

SUFFIX = ".pcfg"
SHIPPED = files("edhie.grammar") / "library"


def names() -> list[str]:
    """Return the names of the grammars that come with edhie."""
    return sorted(each.name.removesuffix(SUFFIX) for each in SHIPPED.iterdir() if each.name.endswith(SUFFIX))


def load(name_or_path: str | Path, library: SymbolLibrary | None = None) -> PCFG:
    """Load a grammar that comes with edhie by its name, or one from a file.

    >>> load("nguyen-1").library.variables
    ('x0',)
    """
    name = str(name_or_path)
    is_path = isinstance(name_or_path, Path) or name.endswith(SUFFIX) or "/" in name or "\\" in name
    if not is_path and name in names():
        return PCFG.parse((SHIPPED / f"{name}{SUFFIX}").read_text(encoding="utf-8"), library)
    if not is_path:
        hint = suggestion(name, names()) or f"; there are {', '.join(names())}, or give the path of a {SUFFIX} file"
        raise GrammarError(f"unknown grammar {name!r}{hint}")
    try:
        text = Path(name_or_path).read_text(encoding="utf-8")
    except FileNotFoundError:
        stem = Path(name).name.removesuffix(SUFFIX)
        hint = f"; the one that comes with edhie is load({stem!r})" if stem in names() else ""
        raise GrammarError(f"there is no grammar file {name!r}{hint}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise GrammarError(f"the grammar file {name!r} cannot be read: {error}") from error
    try:
        return PCFG.parse(text, library)
    except GrammarError as error:
        raise GrammarError(f"{name}, {error}") from error
