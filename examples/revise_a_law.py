"""Revise a law: Michaelis and Menten's equation, and an enzyme that too much substrate inhibits.

The law held for little substrate. New measurements reach further, and it fails. Is refitting its constants enough, and
if not, what is the least that has to change? `python examples/revise_a_law.py`
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from edhie import EDHiERegressor
from edhie.fit.revision import Revision
from edhie.plots import plot_difference, save

LAW = "10*S/(2 + S)"  # the rate at a concentration S of the substrate, as it was fitted long ago to S below 2
OPERATORS = ["+", "-", "*", "/"]  # rates of reactions are quotients of polynomials


def measurements() -> pd.DataFrame:
    """Rates with an error of 2 per cent; a second molecule of substrate, with a constant of 15, blocks the enzyme."""
    rng = np.random.default_rng(0)
    substrate = np.geomspace(0.2, 60, 60)
    rate = 10 * substrate / (2 + substrate + substrate**2 / 15) * (1 + 0.02 * rng.normal(size=60))
    return pd.DataFrame({"S": substrate, "rate": rate})


def revised(data: pd.DataFrame, evaluations: int) -> Revision:
    """The front from the law outwards: each step changes more, and explains more."""
    return EDHiERegressor.revise(
        LAW, data[["S"]], data["rate"], operators=OPERATORS, max_time=None, max_evaluations=evaluations, random_state=0
    )  # fmt: skip


def tell(found: Revision) -> None:
    """What a reader of the front sees."""
    print(f"As it was, {found.original} leaves an error of {found.original.error:.3g};")
    print(f"with new constants, {found.refitted.text(3)} leaves {found.refitted.loss:.3g}.\n")
    table = found.table()[["distance", "loss", "equation"]]
    print(table.to_string(index=False, formatters={"loss": "{:.4g}".format}))
    print(f"\nVerdict: {found.verdict}.")
    step = found.chosen
    print(f"Chosen: {step.equation.text(3)}, {step.distance} symbols from the law; it leaves {step.equation.loss:.3g}.")
    top, peak = _peak(found)
    print(f"The rate is highest, {top:.2f}, at a concentration of {peak:.2f}; under the law it only ever rose.")


def _peak(found: Revision) -> tuple[float, float]:
    grid = np.linspace(0.2, 60, 5_000)
    rates = found.best.predict(grid[None])
    return float(rates.max()), float(grid[rates.argmax()])


def picture(data: pd.DataFrame, found: Revision) -> Figure:
    """The law, refitted and revised, with the measurements; and how the error falls as more may change."""
    figure = Figure(figsize=(9, 3.6), layout="constrained", dpi=150)
    left, right = figure.subplots(1, 2)
    grid = np.geomspace(0.2, 60, 400)
    left.semilogx(data["S"], data["rate"], "o", ms=3, color="#6b6b6b", label="measured")
    left.semilogx(grid, 10 * grid / (2 + grid), color="#c8c8c8", ls=":", label="the law as it was")
    left.semilogx(grid, found.refitted.predict(grid[None]), color="#d1662b", ls="--", label="… with new constants")
    left.semilogx(grid, found.best.predict(grid[None]), color="#1f5f99", label="… revised")
    left.set(xlabel="concentration of the substrate", ylabel="rate")
    left.legend(frameon=False, fontsize=8)
    steps = found.table()
    right.semilogy(steps["distance"], steps["loss"], "o-", color="#6b6b6b", ms=4, lw=1)
    right.semilogy(found.chosen.distance, found.best.loss, "o", color="#1f5f99", ms=8)
    right.set_title(found.best.text(3), color="#1f5f99", fontsize=8, loc="right")
    right.set(xlabel="symbols changed", ylabel="error")
    for panel in (left, right):
        panel.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Revise, tell, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller budget")
    parser.add_argument("--out", type=Path, default=Path("out/examples/revise_a_law"), help="a folder")
    options = parser.parse_args()
    data = measurements()
    found = revised(data, 500 if options.quick else 5_000)
    tell(found)
    made = [
        save(picture(data, found), options.out / "revision.png"),
        save(plot_difference(found.refitted.expr, found.best.expr), options.out / "difference.png"),
    ]
    print("Written: " + ", ".join(map(str, made)))


if __name__ == "__main__":
    main()
