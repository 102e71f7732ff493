"""Names for variables in languages where not every name will do."""

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
    """What a language takes for a name."""

    words: frozenset[str]
    """Names that mean something else there."""
    is_ascii: bool = False
    """Whether letters beyond ASCII, and C's reserved underscores, are refused."""

    def fits(self, name: str) -> bool:
        """Whether `name` may stand as it is; Python takes some letters for others, so these do not fit."""
        if not name.isidentifier() or name in self.words or unicodedata.normalize("NFKC", name) != name:
            return False
        return not self.is_ascii or (name.isascii() and not RESERVED_IN_C.match(name))

    def nearest(self, name: str) -> str:
        """A name that fits, as like the given one as may be."""
        letters = [_in_ascii(letter) if self.is_ascii else letter for letter in unicodedata.normalize("NFKC", name)]
        spelled = "".join(letter if f"_{letter}".isidentifier() else "_" for letter in letters)
        if self.is_ascii:
            spelled = spelled.lstrip("_")
        if not spelled.isidentifier():
            spelled = f"x{spelled}"
        return spelled if self.fits(spelled) else f"{spelled}_"


def renamed(variables: Sequence[str], rules: NameRules, *, taken: Collection[str] = ()) -> dict[str, str]:
    """A name for each variable: its own where the language allows, else one like it; no two alike.

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


def told(names: dict[str, str]) -> list[str]:
    """A line for each variable that goes by another name."""
    return [f"{name} stands for {variable}" for variable, name in names.items() if name != variable]


def check_function_name(name: str, rules: NameRules, language: str) -> None:
    """Raise where a function cannot be called so."""
    if not rules.fits(name):
        raise ExpressionError(f"a function in {language} cannot be called {name!r}; try name={rules.nearest(name)!r}")


def _in_ascii(letter: str) -> str:
    """Greek letters by their names, others without their marks; what is left becomes an underscore."""
    words = unicodedata.name(letter, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        spelled = words[words.index("LETTER") + 1].lower()
        return spelled.capitalize() if "CAPITAL" in words else spelled
    plain = unicodedata.normalize("NFKD", letter)[:1]
    return plain if plain.isascii() else "_"
