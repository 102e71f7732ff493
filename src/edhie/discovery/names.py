"""Names of columns as names of variables: whatever a table calls its columns, an equation can be written and read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from edhie.expr.symbols import OPERATORS, is_in_names, is_name

RESERVED = frozenset({*OPERATORS, "pi", "e"})


def variable_names(columns: Sequence[str]) -> tuple[str, ...]:
    """A different identifier for each column, its own name where that is one.

    >>> variable_names(["temp", "petal length (cm)", "2nd", "exp", "petal length [cm]"])
    ('temp', 'petal_length_cm', 'x_2nd', 'exp_', 'petal_length_cm_2')
    """
    own = {column for column in columns if _identifier(column) == column}
    found: list[str] = []
    taken = set(own)
    for column in columns:
        name = column if column in own else _identifier(column)
        count = 2
        while name in taken and column not in own:
            name = f"{_identifier(column)}_{count}"
            count += 1
        taken.add(name)
        found.append(name)
    return tuple(found)


def _identifier(column: str) -> str:
    """The nearest name that a formula can hold."""
    name = column
    if not is_name(name):
        name = re.sub("_+", "_", "".join(letter if is_in_names(letter) else "_" for letter in column)).strip("_") or "x"
        name = name if is_name(name) else f"x_{name}"
    return f"{name}_" if name in RESERVED else name
