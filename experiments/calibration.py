"""Weights of the chosen equations beside how often they are right, on the textbook formulas.

python experiments/calibration.py

The runs are those of the last version in the table of textbook.py. If weights are calibrated, of the equations chosen
with 60 to 80 % between 60 and 80 % are right.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import textbook
from rows import Row, read_rows
from runs import RESULTS, markdown, sections, versions_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
"""Bounds of the weights that are counted together."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the summary and the diagram."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--results", type=Path, default=RESULTS, help="folder of the tables")
    folder = options.parse_args(arguments).results
    rows = [row for row in read_rows(folder / "textbook.csv") if row["weight"]]  # none in those of earlier versions
    if not rows:
        raise SystemExit(f"{folder / 'textbook.csv'} has no runs with weights; run experiments/textbook.py first")
    rows = [row for row in rows if row["version"] == versions_of(rows)[-1]]
    (folder / "calibration.md").write_text(summary(rows), encoding="utf-8")
    diagram(rows).savefig(folder / "calibration.png", dpi=110, metadata={"Software": None})


def by_weight(rows: Sequence[Row]) -> list[tuple[float, float, int]]:
    """Return for each range of weights their mean, the share that is right, and the number of equations."""
    weights = np.array([float(row["weight"]) for row in rows])
    right = np.array([row["found"] == "yes" for row in rows])
    found = []
    for low, high in pairwise(EDGES):
        inside = (weights >= low) & ((weights < high) | (high == EDGES[-1]))
        if inside.any():
            found.append((float(weights[inside].mean()), float(right[inside].mean()), int(inside.sum())))
    return found


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results."""
    names = textbook.problem_names("develop")
    return sections(
        "Weights of the chosen equations, and how often these are right", rows,
        textbook.key,
        lambda row: "develop" if row["problem"] in names else "report", _table, __doc__,
    )  # fmt: skip


def _table(rows: Sequence[Row]) -> str:
    lines = [[f"{mean:.0%}", f"{share:.0%}", str(n)] for mean, share, n in by_weight(rows)]
    right = sum(row["found"] == "yes" for row in rows) / len(rows)
    mean = float(np.mean([float(row["weight"]) for row in rows]))
    lines.append([f"**{mean:.0%}**", f"**{right:.0%}**", f"**{len(rows)}**"])
    return markdown(["mean weight", "right", "equations"], lines)


def diagram(rows: Sequence[Row]) -> Figure:
    """Return the reliability diagram."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for mean, share, n in by_weight(rows):
        spread = 1.96 * np.sqrt(max(share * (1 - share), 0.25 / n) / n)
        axes.plot([mean, mean], [max(share - spread, 0), min(share + spread, 1)], color="C0", linewidth=1)
        axes.plot(mean, share, "o", color="C0")
        axes.annotate(str(n), (mean, share), textcoords="offset points", xytext=(6, -10), fontsize=8)
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="weight of the chosen equation", ylabel="share that is right")
    return figure


if __name__ == "__main__":
    main()
