"""Pieces of HTML from files, filled with texts that are escaped unless they are HTML already."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from edhie.safe_text import printable

HERE = Path(__file__).parent
NAMED = re.compile(r"^<!-- fragment: (\S+) -->\n", re.MULTILINE)


class Html(str):
    """A text that is HTML, and not to be escaped."""

    __slots__ = ()


def fill(name: str, /, **values: object) -> Html:
    """Return the fragment of that name with its places filled; whatever is not `Html` is escaped."""
    escaped = {
        # marks of writing direction would affect the text around them
        key: value if isinstance(value, Html) else escape(printable(str(value), keep="\n\t"))
        for key, value in values.items()
    }
    return Html(_fragments()[name].substitute(escaped))


def joined(parts: Iterable[Html]) -> Html:
    """Return pieces of HTML one after another."""
    return Html("".join(parts))


def as_it_is(file: str) -> Html:
    """Return a file of this folder, such as the style sheet."""
    return Html((HERE / file).read_text(encoding="utf-8"))


@cache
def _fragments() -> dict[str, Template]:
    """Return by name the parts of fragments.html, each after a comment with its name, and the page."""
    parts = NAMED.split((HERE / "fragments.html").read_text(encoding="utf-8"))
    named = {name: Template(text.strip("\n")) for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return {**named, "page": Template((HERE / "page.html").read_text(encoding="utf-8"))}
