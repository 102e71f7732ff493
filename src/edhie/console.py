"""Output of the command line, and help texts from docstrings."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from functools import cache

from rich.console import Console

from edhie.safe_text import printable

console = Console()
error_console = Console(stderr=True)


@cache
def _field_docs(config: type) -> dict[str, str]:
    """Return the docstring below each field of a dataclass."""
    body = ast.parse(textwrap.dedent(inspect.getsource(config))).body[0]
    statements = body.body if isinstance(body, ast.ClassDef) else []
    docs = {}
    for field, text in itertools.pairwise(statements):
        is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            docs[field.target.id] = str(text.value.value)  # type: ignore[attr-defined]
    return docs


def help_of(config: type, field: str) -> str:
    """Return the docstring of a field, which serves the library, the command line and the report."""
    return next(docs[field] for each in config.__mro__ if field in (docs := _field_docs(each)))


def say(text: str, *, to: Console = console) -> None:
    """Print a line as it is, without markup, emoji names or line breaks at the width of the screen.

    Control characters, which untrusted column names may contain, are printed as escapes.
    """
    to.print(printable(text, keep="\n\t"), highlight=False, markup=False, emoji=False, soft_wrap=True)


def draws_unicode() -> bool:
    """Return whether the terminal can show box characters."""
    return (console.encoding or "").lower().startswith("utf")
