"""What `make demo` runs: from 28 orbits of planets and moons to Kepler's third law, with a picture and a report."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from edhie import EDHiERegressor
from edhie.plots import plot_fit, save
from edhie.report import write_report

DATA = Path(__file__).parent / "data" / "orbits.csv"
OUT = Path("out")
EVALUATIONS, MOST_NODES = 5_000, 12


def main() -> None:
    """Fit, show what was found, and write it down."""
    console = Console()
    orbits = pd.read_csv(DATA)
    console.print(f"{len(orbits)} orbits: how does the period follow from the axis and the mass of the central body?")
    console.print("(compiling first, if this is the first time: half a minute)")
    model = EDHiERegressor(max_time=None, max_evaluations=EVALUATIONS, random_state=0)
    model.fit(orbits[["axis", "mass"]], orbits["period"])
    found = model.discoveries_[0]

    table = Table("nodes", "error, days", "R²", "period =")
    for each in found.equations:
        if each.complexity <= MOST_NODES:
            table.add_row(f"{each.complexity:g}", f"{each.loss:.4g}", f"{each.r2:.6f}", each.right_side(4))
    console.print(table)
    best = model.best_
    known = zip(best.uncertainty.values, best.uncertainty.standard_errors, strict=True)
    console.print(f"The shortest description: {best.text(4)}", highlight=False, soft_wrap=True)
    console.print(
        "its constants: " + ", ".join(f"{c:.4g} ± {s:.1g}" for c, s in known), highlight=False, soft_wrap=True
    )
    console.print(f"{found.result.counts}; {found.result.seconds:.1f} s", highlight=False)

    OUT.mkdir(exist_ok=True)
    picture = save(plot_fit(found), OUT / "demo.png")
    page = write_report(found, OUT / "demo.html", command="make demo", title="Orbits")
    console.print(f"The picture is {picture}, the report {page}.", highlight=False)


if __name__ == "__main__":
    main()
