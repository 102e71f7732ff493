"""Curves of one variable that people try first, by name: lines, powers, exponentials, saturation and growth curves."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files


@cache
def curves() -> dict[str, tuple[str, ...]]:
    """Return the texts of each curve, in which `x` is the variable and `c` a constant: the ways to write it.

    >>> curves()["arrhenius"]
    ('c*exp(c/x)', 'exp(c + c/x)')
    """
    return {name: ways for part in by_frequency().values() for name, ways in part.items()}


@cache
def by_frequency() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the curves in three parts, by how often people try them: common, usual and rare."""
    text = (files("edhie.selection.prior") / "curves.toml").read_text(encoding="utf-8")
    parts = tomllib.loads(text)
    return {
        part: {name: (ways,) if isinstance(ways, str) else tuple(ways) for name, ways in each.items()}
        for part, each in parts.items()
    }


def with_variable(text: str, name: str) -> str:
    """Return the text of a curve over another variable.

    >>> with_variable("c*exp(c*x)", "T")
    'c*exp(c*T)'
    """
    return re.sub(r"\bx\b", name, text)
