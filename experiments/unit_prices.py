"""How often variables of the Feynman equations have no unit, or share one: where the prices of claims start from.

python experiments/unit_prices.py --data FOLDER

FOLDER has FeynmanEquations.csv (the variables of each equation) and units.csv (the exponents of the base units of each
variable), as published with the AI Feynman benchmark; they are not part of edhie. Bits are the log2 of how rarely it
occurs. The prices that edhie charges are in `selection/units.py`.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
from collections.abc import Sequence
from pathlib import Path

from edhie.selection.units import NO_UNIT, SAME_UNIT
from rows import Row
from runs import RESULTS, markdown, notes

Unit = tuple[float, ...]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page of the shares."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    options.add_argument("--results", type=Path, default=RESULTS)
    given = options.parse_args(arguments)
    units = {row["Variable"]: unit_of(row) for row in read(given.data / "units.csv")}
    equations = [variables_of(row) for row in read(given.data / "FeynmanEquations.csv")]
    page = summary([[units[name] for name in names if name in units] for names in equations if names])
    (given.results / "unit-prices.md").write_text(page, encoding="utf-8")


def read(path: Path) -> list[Row]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def unit_of(row: Row) -> Unit:
    """Return the exponents of the base units."""
    return tuple(float(row[base] or 0) for base in ("m", "s", "kg", "T", "V"))


def variables_of(row: Row) -> list[str]:
    """Return the variables of an equation."""
    return [name for k in range(1, 11) if (name := row[f"v{k}_name"])]


def summary(equations: Sequence[Sequence[Unit]]) -> str:
    """Return the page: shares of variables without a unit, and of pairs of the others that share one."""
    variables = [unit for units in equations for unit in units]
    pairs = [pair for units in equations for pair in itertools.combinations([unit for unit in units if any(unit)], 2)]
    counts = [
        ("variables without a unit", sum(not any(unit) for unit in variables), len(variables), NO_UNIT),
        ("pairs of variables with units that share one", sum(a == b for a, b in pairs), len(pairs), SAME_UNIT),
    ]
    lines = [
        [what, f"{count} of {all_} ({count / all_:.0%})", f"{-math.log2(count / all_):.1f}", f"{price:g}"]
        for what, count, all_, price in counts
    ]
    table = markdown(["", "share", "bits", "price"], lines)
    return f"# Units of the variables of the Feynman equations\n\n{notes(__doc__ or '')}\n\n{table}\n"


if __name__ == "__main__":
    main()
