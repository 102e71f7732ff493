"""Untrusted text, made safe to show; lists of texts as one line; warnings of misleading names of columns."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence

from edhie.errors import DataError, NameWarning, shortened

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


# -- lists of texts as one value, such as that of an option: a line of CSV ----------------


def as_line(texts: Sequence[str]) -> str:
    r"""Return texts as one line.

    >>> as_line(["a", "b, c"]), as_line(["a\nb"]), as_line([])
    ('a,"b, c"', '"a\nb"', '')
    """
    line = io.StringIO()
    if any({"\r", "\n"} & set(text) for text in texts):  # which are not quoted by themselves
        csv.writer(line, lineterminator="", quoting=csv.QUOTE_ALL).writerow(texts)
    else:
        csv.writer(line, lineterminator="").writerow(texts)
    return line.getvalue() if texts else ""


def from_line(line: str) -> tuple[str, ...]:
    """Return the texts of a line, without blanks around them and without empty ones.

    >>> from_line('a, "b, c",')
    ('a', 'b, c')
    """
    try:
        found = next(csv.reader([line], skipinitialspace=True), [])
    except csv.Error as error:
        raise DataError(f"this is no list: {error}; write texts with commas between them") from error
    return tuple(text.strip() for text in found if text.strip())


# -- names of columns: invisible characters, look-alike letters, names that look the same --

CYRILLIC = dict(zip("аеорсухіјѕԁһӏАВЕКМНОРСТУХІЈЅ", "aeopcyxijsdhlABEKMHOPCTYXIJS", strict=True))  # noqa: RUF001
# not the small letters that scientists write, such as rho and nu
GREEK = dict(zip("οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oABEZHIKMNOPTYX", strict=True))  # noqa: RUF001
LOOKALIKES = CYRILLIC | GREEK
"""Letters that look like a Latin letter, with that letter."""
INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
"""Invisible characters outside the Unicode categories of control and format characters."""
VARIATIONS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
JOINERS = "\u200c\u200d"  # which some scripts need
JOINED_BY_ITSELF = ("LATIN", "GREEK", "CYRILLIC", "DIGIT")
MOST_NAMED = 4  # characters of a name, in a message


def warn_of_lookalikes(place: object, names: Sequence[str]) -> None:
    """Warn of each misleading name, and give its unusual characters by code and Unicode name."""
    text = "".join(names)
    if text.isascii() and text.isprintable():
        return
    for what in (*map(_about, names), *_twins(names)):
        if what:
            warnings.warn(f"{place}: {what}; rename it if that is not meant", NameWarning, stacklevel=2)


def skeleton(name: str) -> str:
    r"""Return a name as it looks: without invisible characters, and with Latin letters in place of look-alikes.

    >>> skeleton("m\u0430ss\u200b") == "mass"
    True
    """
    shown = "".join(letter for letter in unicodedata.normalize("NFKC", name) if not _is_invisible(letter))
    return " ".join("".join(LOOKALIKES.get(letter, letter) for letter in shown).split())


def _about(name: str) -> str:
    """Return what is misleading about one name; empty if nothing is."""
    hidden = [
        letter
        for before, letter in zip(" " + name, name, strict=False)
        if _is_invisible(letter) and not (letter in JOINERS and not _script(before).startswith(JOINED_BY_ITSELF))
    ]
    if hidden:
        return f"column {_shown(name)} has invisible characters: {_listed(hidden)}"
    for word in re.findall(r"[^\W\d_]+", name):
        alike = [letter for letter in word if letter in LOOKALIKES]
        if alike and any(_script(letter) == "LATIN" for letter in word):
            return f"column {_shown(name)} has letters that look like Latin ones but are not: {_listed(alike)}"
    return ""


def _twins(names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each name that looks like an earlier one."""
    known: dict[str, str] = {}
    for name in names:
        first = known.setdefault(skeleton(name), name)
        if first != name:
            odd = [letter for letter in first + name if not (letter.isascii() and letter.isprintable())]
            yield f"columns {_shown(first)} and {_shown(name)} look the same: {_listed(odd)}"


def _is_invisible(letter: str) -> bool:
    if letter in "\n\r\t":  # names of spreadsheets have several lines
        return False
    is_hidden = unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp") or letter in INVISIBLE
    return is_hidden or any(ord(letter) in each for each in VARIATIONS)


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _shown(name: str) -> str:
    return shortened(ascii(name) if any(map(_is_invisible, name)) else repr(name), 60)


def _listed(letters: Sequence[str]) -> str:
    """Return characters by code and name, such as `U+0430 CYRILLIC SMALL LETTER A`."""
    different = list(dict.fromkeys(letters))
    listed = [f"U+{ord(each):04X} {unicodedata.name(each, 'CONTROL CHARACTER')}" for each in different[:MOST_NAMED]]
    more = len(different) - MOST_NAMED
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")
