"""Warnings of misleading column names: invisible characters, look-alike letters, names that look the same."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence

from edhie.errors import NameWarning, shortened

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
