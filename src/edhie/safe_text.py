"""Untrusted text, made safe to show: in a terminal, on one line, in a cell of a spreadsheet."""

from __future__ import annotations

import json
import re
import unicodedata

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories: control and format characters, surrogates, line and paragraph separators."""
FORMULA_STARTS = ("=", "+", "-", "@")  # a spreadsheet takes a cell that begins so for a formula
NUMBER = re.compile(r"[+-]?[\d.,']*(?:[eE][+-]?\d+)?|[+-]?(?:inf|nan)")
"""A number, with any decimal mark and thousands separators; or a sign alone, as for a missing value."""


def printable(text: str, *, keep: str = "") -> str:
    r"""Return a text with control characters and marks of writing direction as escapes, as JSON writes them.

    >>> printable("a\x1b[2Jb\n"), printable("a\nb", keep="\n")
    ('a\\u001b[2Jb\\n', 'a\nb')
    """
    if text.isprintable():
        return text
    return "".join(
        json.dumps(letter)[1:-1] if unicodedata.category(letter) in HIDDEN and letter not in keep else letter
        for letter in text
    )


def as_text_cell(text: str) -> str:
    """Return the text of a CSV cell, after an apostrophe if a spreadsheet would take it for a formula.

    Numbers, also several with blanks between them, are not changed. Line ends become line feeds, because Python's
    writer does not quote a carriage return.

    >>> as_text_cell("=1+1"), as_text_cell("-x0"), as_text_cell("-1.5 2e-3")
    ("'=1+1", "'-x0", '-1.5 2e-3')
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    first = unicodedata.normalize("NFKC", text.lstrip()[:1])  # East Asian keyboards have other forms of these signs
    is_formula = first.startswith(FORMULA_STARTS) and not all(map(NUMBER.fullmatch, text.split()))
    return f"'{text}" if is_formula or text.startswith(("\t", "\n")) else text
