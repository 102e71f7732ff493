"""Files of benchmark problems, read and checked."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from edhie.errors import EdhieError, suggestion
from edhie.expr.symbols import OPERATORS, is_name

BASE_UNITS = ("m", "s", "kg", "T", "V")
"""Metre, second, kilogram, kelvin and volt: the order of a unit's exponents."""
KEYS = ("id", "name", "formula", "target", "unit", "variables", "library", "n_train", "n_test", "source", "data")
REQUIRED = ("id", "target", "variables")
SHARED = ("target", "library", "n_train", "n_test", "source")
"""Keys that a file may set once for all of its problems, under [defaults]."""
TEXTS = ("id", "name", "formula", "target", "unit", "library", "source", "data")
MOST_ROWS = 10_000_000
POWER = re.compile(r"([A-Za-z]+)(?:\^(-?\d+(?:\.\d+)?))?")

Unit = tuple[float, ...]


class ProblemError(EdhieError):
    """A benchmark problem is invalid or unknown."""


@dataclass(frozen=True)
class Variable:
    """A variable of a problem: its values are drawn uniformly from `low` to `high`."""

    name: str
    low: float
    high: float
    unit: Unit = (0.0,) * len(BASE_UNITS)
    """Exponents of the base units."""


def read_rows(text: str, where: str) -> list[dict[str, Any]]:
    """Return the problems of a TOML text as checked rows, with [defaults] filled in; `where` is for messages."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also for numbers with thousands of digits, and deep nesting
        raise ProblemError(f"{where} is not valid TOML: {error}") from None
    _check_keys(table, ("defaults", "problem"), where)
    defaults, rows = table.get("defaults", {}), table.get("problem", [])
    if not isinstance(defaults, dict) or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ProblemError(f"{where}: write [defaults] once and [[problem]] before each problem")
    if not rows:
        raise ProblemError(f"{where} contains no problem; begin each with a line [[problem]]")
    _check_keys(defaults, SHARED, f"{where}, [defaults]")
    checked = [_checked(defaults | row, f"{where}, problem {k + 1}") for k, row in enumerate(rows)]
    ids = [row["id"] for row in checked]
    twice = next((each for each in ids if ids.count(each) > 1), None)
    if twice is not None:
        raise ProblemError(f"{where}: the id {twice!r} is given to two problems; rename one")
    return checked


def _checked(row: dict[str, Any], place: str) -> dict[str, Any]:
    """Return one problem's row, checked, with its variables and unit parsed."""
    place = f"{place} ({row['id']})" if isinstance(row.get("id"), str) else place
    _check_keys(row, KEYS, place)
    for key in TEXTS:
        if key in row and not (isinstance(row[key], str) and row[key]):
            raise ProblemError(f"{place}: {key} must be a text in quotes, not {row[key]!r}")
    if "id" in row and plain_id(row["id"]) != row["id"]:
        raise ProblemError(
            f"{place}: files are named by the id; it must begin with a letter or digit, and may contain letters, "
            "digits, blanks and _ . - + ( )"
        )
    for key in ("n_train", "n_test"):
        if key in row and not (type(row[key]) is int and 1 <= row[key] <= MOST_ROWS):
            raise ProblemError(f"{place}: {key} must be a whole number from 1 to {MOST_ROWS:,}, not {row[key]!r}")
    missing = [key for key in REQUIRED if key not in row and not (key == "variables" and "data" in row)]
    if missing:
        raise ProblemError(f"{place}: {missing[0]} is missing")
    if "formula" not in row and "data" not in row:
        raise ProblemError(f"{place}: give a formula to draw data from, or the path of a CSV file as data")
    given = row.get("variables", {})
    if not isinstance(given, dict) or (not given and "data" not in row):
        raise ProblemError(f"{place}: variables is a table such as {{ x = [0, 1] }}, not {given!r}")
    row["variables"] = tuple(_read_variable(name, each, f"{place}, variable {name!r}") for name, each in given.items())
    row["unit"] = read_unit(row.get("unit", ""), place)
    return row


def plain_id(text: str) -> str:
    """Return an id that is safe in paths, spreadsheets and terminals: other characters become underscores.

    >>> plain_id("I.6.2a"), plain_id("../=x")
    ('I.6.2a', 'x')
    """
    return re.sub(r"[^\w.+() -]", "_", text).lstrip("_.+() -") or "x"


def _check_keys(given: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in given:
        if key not in known:
            hint = suggestion(key, known) or f"; there are {', '.join(known)}"
            raise ProblemError(f"{place}: unknown key {key!r}{hint}")


def _read_variable(name: str, given: Any, place: str) -> Variable:
    check_name(name, place)
    if not isinstance(given, list) or len(given) not in (2, 3):
        raise ProblemError(f'{place}: write [low, high] or [low, high, "unit"], not {given!r}')
    low, high = given[:2]
    for end in (low, high):
        if not isinstance(end, int | float) or isinstance(end, bool) or not math.isfinite(end):
            raise ProblemError(f"{place}: the ends of a range are finite numbers, not {end!r}")
    if low >= high:
        reversed_or_empty = f"write [{high}, {low}]" if low > high else "the two ends must differ"
        raise ProblemError(f"{place}: the range [{low}, {high}] holds no numbers; {reversed_or_empty}")
    return Variable(name, float(low), float(high), read_unit(given[2] if len(given) == 3 else "", place))


def check_name(name: str, place: str) -> None:
    """Raise an error for a text that cannot name a variable in a formula."""
    if not is_name(name):
        raise ProblemError(f"{place}: a name is letters, digits and _, and begins with a letter; rename it")
    if name in OPERATORS:
        raise ProblemError(f"{place}: {name!r} is a function; rename it")


def read_unit(text: Any, place: str) -> Unit:
    """Return the exponents of a unit such as `m s^-2`; zeros for an empty text.

    >>> read_unit("m s^-2", "")
    (1.0, -2.0, 0.0, 0.0, 0.0)
    """
    if not isinstance(text, str):
        raise ProblemError(f'{place}: a unit is a text such as "m s^-2", not {text!r}')
    exponents = dict.fromkeys(BASE_UNITS, 0.0)
    for piece in text.split():
        power = POWER.fullmatch(piece)
        if power is None or power[1] not in exponents:
            raise ProblemError(
                f"{place}: cannot read {piece!r} in the unit {text!r}; "
                f"write powers of {', '.join(BASE_UNITS)} with spaces between, such as 'm s^-2'"
            )
        exponents[power[1]] += float(power[2] or 1)
    return tuple(exponents.values())
