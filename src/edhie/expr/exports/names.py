"""Names of variables, changed where a language does not allow them."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from edhie.errors import ExpressionError

PYTHON_WORDS = frozenset((*keyword.kwlist, "__debug__"))
RESERVED_IN_C = re.compile(r"_[A-Z_]")


@dataclass(frozen=True)
class NameRules:
    """Rules of a language for names."""

    words: frozenset[str]
    """Names with another meaning in the language."""
    is_ascii: bool = False
    """True to refuse letters beyond ASCII and the underscores that C reserves."""

    def fits(self, name: str) -> bool:
        """Return True for a valid name; letters that Python normalises to others are not."""
        if not name.isidentifier() or name in self.words or unicodedata.normalize("NFKC", name) != name:
            return False
        return not self.is_ascii or (name.isascii() and not RESERVED_IN_C.match(name))

    def nearest(self, name: str) -> str:
        """Return a valid name that is close to the given one."""
        letters = [_in_ascii(letter) if self.is_ascii else letter for letter in unicodedata.normalize("NFKC", name)]
        spelled = "".join(letter if f"_{letter}".isidentifier() else "_" for letter in letters)
        if self.is_ascii:
            spelled = spelled.lstrip("_")
        if not spelled.isidentifier():
            spelled = f"x{spelled}"
        return spelled if self.fits(spelled) else f"{spelled}_"


def renamed(variables: Sequence[str], rules: NameRules, *, taken: Collection[str] = ()) -> dict[str, str]:
    """Return a distinct name for each variable: its own where the language allows it, otherwise one close to it.

    >>> renamed(["x", "lambda", "lambda_"], NameRules(PYTHON_WORDS))
    {'x': 'x', 'lambda': 'lambda__', 'lambda_': 'lambda_'}
    """
    kept = {name for name in variables if rules.fits(name) and name not in taken}
    used = {*kept, *taken}
    names = {}
    for variable in variables:
        name = variable if variable in kept else rules.nearest(variable)
        while variable not in kept and name in used:
            name += "_"
        used.add(name)
        names[variable] = name
    return names


def renaming_notes(names: dict[str, str]) -> list[str]:
    """Return a line for each variable that goes by another name."""
    return [f"{name} stands for {variable}" for variable, name in names.items() if name != variable]


def check_function_name(name: str, rules: NameRules, language: str) -> None:
    """Raise for a name that no function of the language can have."""
    if not rules.fits(name):
        raise ExpressionError(f"a function in {language} cannot be called {name!r}; try name={rules.nearest(name)!r}")


def _in_ascii(letter: str) -> str:
    """Return the name of a Greek letter, another letter without accents, or an underscore."""
    words = unicodedata.name(letter, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        spelled = words[words.index("LETTER") + 1].lower()
        return spelled.capitalize() if "CAPITAL" in words else spelled
    plain = unicodedata.normalize("NFKD", letter)[:1]
    return plain if plain.isascii() else "_"
